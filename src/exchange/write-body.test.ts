import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRecord } from "../values.ts";
import { wireNamed } from "../wire/index.ts";
import { withField } from "../wire/record.ts";
import { endpointOf } from "./endpoint.ts";
import { membersOf } from "./json-spans.ts";
import { BodyReader, type ExchangeBody } from "./read-body.ts";
import { writeBody, writeList } from "./write-body.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const LIMITS = { maxBytes: 1 << 20, maxBodies: 8 };
const PATHS = {
  "openai-chat": "/v1/chat/completions",
  "openai-responses": "/v1/responses",
  anthropic: "/v1/messages",
  gemini: "/v1beta/models/g:generateContent",
} as const;
type Name = keyof typeof PATHS;

function read(name: Name, text: string, reader = new BodyReader(LIMITS)): ExchangeBody {
  const endpoint = endpointOf("POST", PATHS[name]);
  const body = endpoint === null ? null : reader.read(bytesOf(text), endpoint.shape);
  if (body === null) throw new Error(`not read: ${text}`);
  return body;
}

const write = (body: ExchangeBody, messages: readonly unknown[]) =>
  textOf(writeBody(body.bytes, [{ span: body.list, pieces: writeList(body, messages) }]));

/** JSON as nobody writes it: white space anywhere, escapes, numbers that no double holds, names that occur twice. */
const space = fc.constantFrom("", " ", "\n", "\t", "\r\n  ");
const number = fc.oneof(
  fc.constantFrom("12345678901234567890123", "1.0", "1e2", "-0", "0.1000", "1E+400", "9007199254740993"),
  fc.integer().map(String),
);
const string = fc.oneof(
  // Long ones are read in another way.
  fc.string({ maxLength: 12 }).map((text) => JSON.stringify(`${"x".repeat(50)}"${text}\\"${text}\\`)),
  fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => JSON.stringify(text)),
  fc.constantFrom('"\\u0041\\/\\ud83d\\ude00"', '"\\\\"', '"a\\"b\\\\\\""', '"{[,]}"', '""'),
);
const { json } = fc.letrec<{ json: string; list: string; object: string }>((tie) => ({
  json: fc.oneof({ maxDepth: 3 }, number, string, fc.constantFrom("true", "false", "null"), tie("list"), tie("object")),
  list: fc
    .tuple(fc.array(fc.tuple(space, tie("json"), space), { maxLength: 3 }))
    .map(([items]) => `[${items.map((item) => item.join("")).join(",")}]`),
  object: fc
    .array(
      fc.tuple(space, fc.constantFrom('"a"', '"b"', '"\\u0061"', '"__proto__"'), space, space, tie("json"), space),
      { maxLength: 4 },
    )
    .map((fields) => `{${fields.map(([a, name, b, c, value, d]) => `${a}${name}${b}:${c}${value}${d}`).join(",")}}`),
}));

/** The messages of one turn in each format, with room for odd fields. `<result>` is where the result's text stands. */
const TURNS: Record<Name, (odd: string, id: number) => string[]> = {
  "openai-chat": (odd, id) => [
    `{"role":"assistant","x":${odd},"tool_calls":[{"id":"c${id}","type":"function","function":{"name":"lookup","arguments":"{}"}}]}`,
    `{ "role" : "tool","tool_call_id":"c${id}","content":"old","x":${odd},"content" :<result>}`,
  ],
  "openai-responses": (odd, id) => [
    `{"type":"function_call","call_id":"c${id}","name":"lookup","arguments":"{}","x":${odd}}`,
    `{"x":${odd},"type":"function_call_output","call_id":"c${id}","output":[{"type":"input_text","x":${odd},"text":<result>}]}`,
  ],
  anthropic: (odd, id) => [
    `{"role":"assistant","content":[{"type":"tool_use","id":"c${id}","name":"lookup","input":{"x":${odd}}}]}`,
    `{"role":"user","content":[ {"type":"tool_result","x":${odd},"tool_use_id":"c${id}","content":[{"type":"text","text":<result>,"cache_control":{"ttl":1.0}}]},{"type":"text","text":"\\u0041"}]}`,
  ],
  gemini: (odd, id) => [
    `{"role":"model","parts":[{"functionCall":{"id":"c${id}","name":"lookup","args":{"x":${odd}}}}]}`,
    `{"role":"user","parts":[{"x":${odd},"functionResponse":{"id":"c${id}","name":"lookup","response":{"output":<result>}}}]}`,
  ],
};
const FIRST: Record<Name, string> = {
  "openai-chat": '{"role":"user","content":"go"}',
  "openai-responses": '{"role":"user","content":"go"}',
  anthropic: '{"role":"user","content":"go"}',
  gemini: '{"role":"user","parts":[{"text":"go"}]}',
};

const body = (name: Name) =>
  fc.tuple(fc.array(fc.tuple(json, string), { minLength: 1, maxLength: 4 }), json, space).map(([turns, odd, gap]) => {
    const messages = [
      FIRST[name],
      ...turns.flatMap(([x, text], id) => TURNS[name](x, id).map((one) => one.replace("<result>", () => text))),
    ];
    const field = { "openai-chat": "messages", anthropic: "messages", "openai-responses": "input", gemini: "contents" }[
      name
    ];
    const write = (list: readonly string[]) =>
      `${gap}{"x":${odd},${gap}"${field}"${gap}:${gap}[${gap}${list.join(`,${gap}`)}${gap}],"tools":[],"y":${odd}}${gap}`;
    return { messages, turns, write };
  });

describe.each(Object.keys(PATHS) as Name[])("a body of %s", (name) => {
  const wire = wireNamed(name);
  if (wire === null) throw new Error(name);

  it("is written back to the byte, but for the texts that are shorter", () => {
    fc.assert(
      fc.property(
        body(name),
        fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
        ({ messages, turns, write: list }, picks) => {
          const came = read(name, list(messages));
          const sent = came.messages.map((message, at) => {
            const { results } = wire.read(message);
            const isPicked = picks[(at - 2) / 2] === true && results.length > 0;
            return isPicked
              ? wire.write(
                  message,
                  results.map((result) => ({ at: result.at, texts: ["shown"] })),
                )
              : message;
          });
          const expected = messages.map((text, at) => {
            const turn = at === 0 || at % 2 === 1 ? undefined : turns[(at - 2) / 2];
            if (turn === undefined || picks[(at - 2) / 2] !== true) return text;
            return (TURNS[name](turn[0], (at - 2) / 2)[1] as string).replace("<result>", () => '"shown"');
          });
          expect(write(came, sent)).toBe(list(expected));
        },
      ),
      { numRuns: 300 },
    );
  });

  it("keeps the bytes of messages that stay where others go or come", () => {
    fc.assert(
      fc.property(body(name), fc.nat(3), ({ messages, write: list }, gone) => {
        const came = read(name, list(messages));
        const at = 1 + 2 * (gone % ((messages.length - 1) / 2));
        const said = wire.say("left out");
        // The second list is as long as the one that came, with every message after the new one moved.
        for (const [from, to] of [
          [at + 2, messages.length],
          [at, messages.length - 1],
        ] as const) {
          const again = read(
            name,
            write(came, [...came.messages.slice(0, at), said, ...came.messages.slice(from, to)]),
          );
          const texts = again.spans.map((span) => textOf(again.bytes.subarray(span.from, span.to)));
          expect(texts).toEqual([...messages.slice(0, at), JSON.stringify(said), ...messages.slice(from, to)]);
        }
      }),
      { numRuns: 100 },
    );
  });

  it("has the same messages as the request before it, as far as their bytes are the same", () => {
    fc.assert(
      fc.property(body(name), fc.nat(3), ({ messages, write: list }, cut) => {
        const reader = new BodyReader(LIMITS);
        const count = 1 + 2 * (cut % ((messages.length - 1) / 2));
        const before = read(name, list(messages.slice(0, count)), reader);
        const after = read(name, list(messages), reader);
        expect(after.messages.slice(0, count)).toEqual(before.messages);
        expect(after.messages.every((message, at) => at >= count || message === before.messages[at])).toBe(true);
        expect(after.messages).toEqual(read(name, list(messages)).messages);
        expect(after.spans).toEqual(read(name, list(messages)).spans);
        expect(after.beside).toBe(before.beside);
      }),
      { numRuns: 100 },
    );
  });
});

describe("a changed body", () => {
  const came = read(
    "anthropic",
    '{"x":[1.0],"messages":[{"role":"user","content":"a","n":1.0},{"role":"user"}],"tools":[ ]}',
  );
  const [first = {}, second = {}] = came.messages.filter(isRecord);
  const span = (name: string) => came.members.find((member) => member.name === name) ?? came.list;

  it("has every change where it belongs, in whatever order they are named", () => {
    const changes = [
      { span: span("tools"), pieces: [bytesOf("[2]")] },
      { span: span("x"), pieces: [bytesOf("[]")] },
      { span: came.list, pieces: writeList(came, [second]) },
    ];
    const expected = '{"x":[],"messages":[{"role":"user"}],"tools":[2]}';
    expect(textOf(writeBody(came.bytes, changes))).toBe(expected);
    expect(textOf(writeBody(came.bytes, changes.toReversed()))).toBe(expected);
  });

  it("ends where its messages end now", () => {
    expect(write(came, [first])).toContain('"messages":[{"role":"user","content":"a","n":1.0}],');
  });

  it("loses and gains fields and elements, and keeps the bytes of the others", () => {
    const without = withField(first, "role", undefined);
    expect(write(came, [without, second])).toContain('[{"content":"a","n":1.0},');
    expect(write(came, [withField(without, "more", true), second])).toContain('[{"content":"a","n":1.0,"more":true},');
    expect(write(came, [withField(first, "more", true), second])).toContain(',"n":1.0,"more":true},');
    const list = read(
      "anthropic",
      '{"messages":[{"role":"user","content":[{"type":"a","n":1.0},{"type":"b","n":2.0}]}]}',
    );
    const message = list.messages.find(isRecord) ?? {};
    const content = message.content as object[];
    expect(write(list, [withField(message, "content", content.slice(0, 1))])).toContain('[{"type":"a","n":1.0}]}');
    expect(write(list, [withField(message, "content", [...content, 3])])).toContain(
      '"n":1.0},{"type":"b","n":2.0},3]}',
    );
    const changed = withField(message, "content", [{ ...content[1], is: "new" }]);
    expect(write(list, [changed])).toContain('[{"type":"b","n":2.0,"is":"new"}]}');
  });
});

describe("a body", () => {
  const shape = endpointOf("POST", "/v1/chat/completions")?.shape;
  if (shape === undefined) throw new Error("no endpoint");
  const tryRead = (text: string) => new BodyReader(LIMITS).read(bytesOf(text), shape);

  it.each([
    "",
    "{",
    "[]",
    "not json",
    '{"messages":"text"}',
    '{"messages":[]}',
    '{"messages":["a"]}',
    '{"messages":[{"role":"user"]}',
    '{"messages":[{"role":"user"}]} more',
    '{"messages":[{"role":"user"}],}',
    '{"messages":[{"role":"user"}],"messages":[{"role":"user"}]}',
    '{"messages":[{"role":"user"} {"role":"user"}]}',
    '{"messages":[{"role":"user","content":"\\x"}]}',
    `{"messages":${"[".repeat(100_000)}`,
  ])("is left alone if it is %j", (text) => {
    expect(tryRead(text)).toBeNull();
  });

  it("is read as it would be alone, whichever of its fields another one shares", () => {
    const reader = new BodyReader(LIMITS);
    const alone = (name: Name, text: string) => ({ ...read(name, text), bytes: null, shape: null });
    const before = fc.constantFrom("", '"max_tokens":1,', '"max_tokens":9,', '"x":[1],', '"system":"a",');
    const after = fc.constantFrom(
      "",
      ',"max_tokens":5',
      ',"max_tokens":7',
      ',"max_tokens":50',
      ',"tools":[{"name":"a"}]',
      ',"model" : "m"',
    );
    const list = fc.constantFrom(
      "[{}]",
      '[{"role":"user"}]',
      '[{"role":"user"},{"a":1}]',
      '[ {"role":"user"} , {} ]',
      "[{},{}]",
    );
    const name = fc.constantFrom("openai-chat", "anthropic");
    fc.assert(
      fc.property(name, before, list, after, (one, from, messages, to) => {
        const text = `{${from}"messages":${messages}${to}}`;
        expect({ ...read(one, text, reader), bytes: null, shape: null }).toEqual(alone(one, text));
      }),
      { numRuns: 2000 },
    );
    for (const bad of [
      '{"messages":[]}',
      '{"messages":[1]}',
      '{"messages":[{}',
      '{"messages":[{}]}}',
      '{"messages":[{}],}',
    ])
      expect(() => read("anthropic", bad, reader)).toThrow("not read");
  });

  it("may be as deep as it likes", () => {
    const deep = `{"messages":[{"role":"user","content":"go"}],"x":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expect(tryRead(deep)?.messages).toHaveLength(1);
  });

  it("is forgotten when there are too many, or too many bytes", () => {
    const reader = new BodyReader({ maxBytes: 1000, maxBodies: 2 });
    const first = (name: string, pad = 0) =>
      reader.read(bytesOf(`{"messages":[{"role":"user","content":"${name}"}],"pad":"${"x".repeat(pad)}"}`), shape)
        ?.messages[0];
    const [a, b] = [first("a"), first("b")];
    expect(first("a")).toBe(a);
    expect(first("b")).toBe(b);
    first("c");
    expect(first("a")).not.toBe(a);
    const c = first("c", 600);
    first("d", 600);
    expect(first("c", 600)).not.toBe(c);
    const large = first("e", 2000);
    expect(first("e", 2000)).not.toBe(large);
  });

  it("is not taken for one that is the same up to a message's last byte", () => {
    const reader = new BodyReader(LIMITS);
    const read = (n: string) => reader.read(bytesOf(`{"messages":[{"role":"user","content":"x","n":${n}}]}`), shape);
    read("1");
    expect(read("12")?.messages).toEqual([{ role: "user", content: "x", n: 12 }]);
    expect(read("1")?.messages).toEqual([{ role: "user", content: "x", n: 1 }]);
  });

  it("of countTokens may be wrapped", () => {
    const gemini = endpointOf("POST", "/v1beta/models/g:countTokens")?.shape;
    if (gemini === undefined) throw new Error("no endpoint");
    const text = '{"generateContentRequest":{"model":"models/g","contents":[{"parts":[{"text":"go"}]}],"tools":[]}}';
    const found = new BodyReader(LIMITS).read(bytesOf(text), gemini);
    expect(found?.about).toEqual({ model: "models/g" });
    expect(found?.messages.every(isRecord)).toBe(true);
  });
});

it("the fields of an object are found where they stand", () => {
  const text = bytesOf('{"a" : [1, {"b":2}] ,"c":"\\"}"}');
  const found = membersOf(text, 0);
  expect(found?.members.map(({ name, from, to }) => [name, textOf(text.subarray(from, to))])).toEqual([
    ["a", '[1, {"b":2}]'],
    ["c", '"\\"}"'],
  ]);
  expect(found?.to).toBe(text.length);
});
