import { describe, expect, it } from "vitest";
import { anthropicFixtures } from "../../test/wire/anthropic.ts";
import type { Wire } from "../contract/wire.ts";
import { anthropic } from "../wire/anthropic.ts";
import { testWire } from "./test-wire.ts";

/** Returns the names of the suite's tests that fail for a wire. */
function failuresOf(wire: Wire): string[] {
  const failed: string[] = [];
  const runner = {
    describe: (_name: string, body: () => void) => body(),
    it(name: string, body: () => void | Promise<void>) {
      try {
        body();
      } catch {
        failed.push(name);
      }
    },
  };
  testWire(wire, anthropicFixtures, runner, { numRuns: 20 });
  return failed;
}

type Block = { type: string; content?: unknown; is_error?: boolean };
type Message = { role: string; content: Block[] };

/** Makes a wire like Anthropic's that writes differently. */
function writing(change: (written: Message, message: Message) => unknown): Wire {
  return {
    ...anthropic,
    write(message, edits) {
      const written = anthropic.write(message, edits);
      return written === message ? message : change(written as Message, message as Message);
    },
  };
}

describe("testWire", () => {
  it("passes a wire that keeps its word", () => {
    expect(failuresOf(anthropic)).toEqual([]);
  });

  const results = (message: Message, change: (block: Block) => Block) => ({
    ...message,
    content: message.content.map((block) => (block.type === "tool_result" ? change(block) : block)),
  });
  const hasNumber = (message: unknown) => {
    try {
      return /"content":7/.test(JSON.stringify(message) ?? "");
    } catch {
      return false;
    }
  };
  const broken: [string, Wire][] = [
    ["copies what it did not change", writing((written) => structuredClone(written))],
    ["drops fields it does not know", writing(({ role, content }) => ({ role, content }))],
    ["drops error flags", writing((written) => results(written, ({ is_error: _none, ...block }) => block))],
    ["flattens blocks", writing((written) => results(written, (block) => ({ ...block, content: "flat" })))],
    ["reorders blocks", writing((written) => ({ ...written, content: written.content.toReversed() }))],
    [
      "changes the caller's object",
      writing((written, message) => {
        message.content = written.content;
        return message;
      }),
    ],
    ["writes nothing", { ...anthropic, write: (message) => message }],
    ["changes what the provider ran", { ...anthropic, write: (message) => ({ ...(message as Message) }) }],
    ["throws on malformed messages", { ...anthropic, read: (message) => anthropic.read({ ...(message as Message) }) }],
    ["finds no results", { ...anthropic, read: (message) => ({ ...anthropic.read(message), results: [] }) }],
    ["never knows its format", { ...anthropic, detect: () => 0 }],
    ["speaks for the assistant", { ...anthropic, say: (text) => ({ role: "assistant", content: text }) }],
    ["says something else", { ...anthropic, say: () => anthropic.say("...") }],
    [
      "takes a number for content",
      {
        ...anthropic,
        read: (message) => ({ ...anthropic.read(message), ...(hasNumber(message) && { malformed: 0 }) }),
      },
    ],
    ["answers for nobody", { ...anthropic, missing: () => ({ role: "user", content: [] }) }],
  ];
  it.each(broken)("catches a wire that %s", (_what, wire) => {
    expect(failuresOf(wire)).not.toEqual([]);
  });
});
