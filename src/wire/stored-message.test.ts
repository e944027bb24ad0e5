import { describe, expect, it } from "vitest";
import { heldChars } from "../../test/held-chars.ts";
import type { WireMessage } from "../contract/wire.ts";
import { wireNamed, wires } from "./registry.ts";
import { loaded, StoredMessage } from "./stored-message.ts";

const long = "output ".repeat(2000);
const messages = {
  anthropic: [
    {
      role: "assistant",
      content: [
        { type: "text", text: long },
        { type: "tool_use", id: "1", name: "f", input: { long } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "1", content: [{ type: "text", text: long }] }] },
    {
      role: "user",
      content: [
        { type: "text", text: long },
        { type: "text", text: `${long}2` },
      ],
    },
  ],
  pi: [
    { role: "toolResult", toolCallId: "1", toolName: "f", content: [{ type: "text", text: long }], isError: false },
    { role: "bashExecution", command: "ls", output: long },
    { role: "odd", content: 7 },
  ],
} as const;

class LaterMessage extends StoredMessage {
  readonly #make: () => unknown;

  constructor(make: () => unknown) {
    super();
    this.#make = make;
  }

  override load(): unknown {
    return this.#make();
  }
}

/** Everything that a view says, whether a field holds it or a getter gives it. */
function fieldsOf({ role, id, chars, media, text, moreTexts, aborted, malformed, ...lists }: WireMessage) {
  const calls = lists.calls.map(({ id, tool, input, kind, long }) => [
    id,
    tool,
    input,
    kind,
    long?.at,
    long?.isJson,
    [...(long?.texts ?? [])],
  ]);
  const results = lists.results.map(({ at, id, tool, isError, texts, json, media: held, fixed }) => [
    at,
    id,
    tool,
    isError,
    [...texts],
    json,
    { ...held },
    fixed,
  ]);
  return {
    role,
    id,
    chars,
    media: { ...media },
    text,
    moreTexts: moreTexts && [...moreTexts],
    aborted,
    malformed,
    calls,
    results,
  };
}

describe("stored messages", () => {
  it.each(Object.entries(messages))("are read and sent as %s reads the message itself", (name, all) => {
    const wire = wireNamed(name) ?? expect.fail();
    for (const message of all) {
      const stored = new LaterMessage(() => structuredClone(message));
      const view = wire.read(stored);
      expect(fieldsOf(view)).toEqual(fieldsOf(wire.read(message)));
      expect(wire.sent?.(stored)).toEqual(wire.sent?.(message));
      expect(loaded(stored)).toEqual(loaded(message));
    }
  });

  it.each(Object.entries(messages))("leave no text of %s in what was read of them", (name, all) => {
    const wire = wireNamed(name) ?? expect.fail();
    let loads = 0;
    for (const message of all) {
      const stored = new LaterMessage(() => (loads++, message));
      const view = wire.read(stored);
      const before = loads;
      expect(heldChars(view)).toBeLessThan(200);
      expect(loads).toBe(before);
      for (const { texts } of view.results) expect(texts.join("")).toContain(long);
      expect(loads - before).toBe(view.results.length);
    }
  });

  it("are read by every wire", () => {
    for (const wire of wires)
      expect(fieldsOf(wire.read(new LaterMessage(() => null)))).toEqual(fieldsOf(wire.read(null)));
  });
});
