import fc from "fast-check";

/** Makes an object that throws when any of its fields is read. */
function trap(): object {
  return new Proxy(
    {},
    {
      get() {
        throw new Error("read a trap");
      },
    },
  );
}

function throwing(field: string, rest: object): object {
  return Object.defineProperty({ ...rest }, field, {
    enumerable: true,
    get() {
      throw new Error(`read ${field}`);
    },
  });
}

function cycle(): object {
  const loop: Record<string, unknown> = { type: "text" };
  loop.self = loop;
  return loop;
}

function nest(depth: number): unknown {
  let value: unknown = [];
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

const MANY = 100_000;

/** Returns messages that are in no format. */
export function hostileMessages(): unknown[] {
  const junk = [null, 0, true, "", "text", [], [[]], {}, Number.NaN, trap(), cycle(), 10n, Symbol("s"), () => 1];
  const roles = [
    "user",
    "assistant",
    "tool",
    "toolResult",
    "function",
    "model",
    "system",
    "constructor",
    "__proto__",
    5,
  ];
  const fields = ["content", "parts", "output", "tool_calls", "kwargs", "data", "message", "result"];
  return [
    ...junk,
    undefined,
    ...roles.flatMap((role) => [{ role }, { role, content: junk }, { role, parts: junk }, { role, content: 7 }]),
    ...roles.map((role) => throwing("content", { role })),
    ...fields.flatMap((field) => junk.map((value) => ({ role: "tool", type: "tool", lc: 1, [field]: value }))),
    ...["content", "parts"].map((field) => ({ role: "user", [field]: Array.from({ length: MANY }, () => null) })),
    { role: "user", content: Array.from({ length: MANY }, (_none, at) => ({ type: "text", text: String(at) })) },
    { role: "assistant", tool_calls: Array.from({ length: MANY }, () => 1), content: cycle() },
    { role: "tool", content: [{ type: "tool-result", output: { type: "json", value: nest(MANY) } }] },
    { role: "assistant", content: [{ type: "tool_use", id: "1", name: "deep", input: nest(MANY) }] },
    { type: "function_call_output", call_id: {}, output: junk },
    { role: "user", parts: [{ functionResponse: { name: 1, response: cycle() } }] },
    { role: "user", content: [{ toolResult: { content: [{ json: cycle() }, { json: 10n }] } }] },
    { role: "tool", content: [{ type: "tool-result", output: { type: "json", value: cycle() } }] },
    { role: "tool", content: [throwing("output", { type: "tool-result" }), throwing("type", {})] },
  ];
}

/** Generates values that may be where something else should be. */
export const arbitraryJunk: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, undefined, 0, -1, true, "", "text", Number.NaN),
  fc.jsonValue(),
  fc.constant([]),
  fc.constant([null]),
  fc.constantFrom("tool", "tool_result", "text", "function", "__proto__"),
  fc.constant(null).map(cycle),
  fc.constant(null).map(trap),
);
