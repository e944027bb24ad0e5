import { describe, expect, it } from "vitest";
import { createSpillway } from "../index.ts";
import { memoryLedger } from "../storage/ledgers/memory.ts";
import { memoryStore } from "../storage/stores/memory.ts";
import type { JsonRecord } from "../values.ts";

// Results that are objects: a model reads them as JSON, and the line breaks in their strings as lines.

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at} of it`).join("\n");
const shapes: Record<string, { request(json: object): unknown[]; read(message: never): unknown }> = {
  gemini: {
    request: (response) => [
      { role: "user", parts: [{ text: "go" }] },
      { role: "model", parts: [{ functionCall: { name: "bash", args: {} } }] },
      { role: "user", parts: [{ functionResponse: { name: "bash", response } }] },
    ],
    read: ({ parts }: { parts: [{ functionResponse: { response: unknown } }] }) => parts[0].functionResponse.response,
  },
  bedrock: {
    request: (json) => [
      { role: "user", content: [{ text: "go" }] },
      { role: "assistant", content: [{ toolUse: { toolUseId: "a", name: "bash", input: {} } }] },
      { role: "user", content: [{ toolResult: { toolUseId: "a", content: [{ json }] } }] },
    ],
    read: ({ content }: { content: [{ toolResult: { content: [{ json: unknown }] } }] }) =>
      content[0].toolResult.content[0].json,
  },
  "ai-sdk": {
    request: (value) => [
      { role: "user", content: "go" },
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "a", toolName: "bash", input: {} }] },
      {
        role: "tool",
        content: [{ type: "tool-result", toolCallId: "a", toolName: "bash", output: { type: "json", value } }],
      },
    ],
    read: ({ content }: { content: [{ output: { value: unknown } }] }) => content[0].output.value,
  },
};

describe.each(Object.keys(shapes))("results that are objects: %s", (wire) => {
  const { request, read } = shapes[wire] as (typeof shapes)[string];
  const open = () =>
    createSpillway({ store: memoryStore({ secret: Buffer.alloc(32, 1) }), ledger: memoryLedger(), env: {} });

  it("is shown as admit shows it, an object still", async () => {
    const json = { stdout: lines(1368), code: 1 };
    const { messages, report } = await (await open()).prepare(request(json), { wire });
    expect(report.results.insured).toBe(1);
    const { output } = await (await open()).admit({ tool: "bash", output: json });
    const shown = read(messages.at(-1) as never) as JsonRecord;
    expect(shown).toEqual(output);
    expect(String(shown.stdout).split("\n").length).toBeLessThan(250);
    expect(shown.code).toBe(1);
  });

  it("an object with content counts as JSON too", async () => {
    const json = { content: [{ type: "text", text: lines(1368) }], isError: false };
    const { messages } = await (await open()).prepare(request(json), { wire });
    const shown = read(messages.at(-1) as never) as typeof json;
    expect(shown.isError).toBe(false);
    expect(shown.content[0]?.text.split("\n").length).toBeLessThan(250);
  });

  it("within its limits it stays the same object", async () => {
    const given = request({ stdout: lines(100), code: 0 });
    expect((await (await open()).prepare(given, { wire })).messages).toBe(given);
  });

  it("recovery cuts its strings and keeps it an object", async () => {
    const spillway = await createSpillway({ store: null, ledger: null, env: {} });
    const sent: unknown[][] = [];
    const send = (messages: unknown[]) => {
      sent.push(messages);
      const tokens = Math.ceil(JSON.stringify(messages).length / 4);
      if (tokens > 1000)
        throw Object.assign(new Error(`prompt is too long: ${tokens} tokens > 1000 maximum`), { status: 400 });
      return "answer";
    };
    expect(
      await spillway.call(request({ stdout: lines(600), code: 3 }), send, { wire, pruning: { insure: false } }),
    ).toBe("answer");
    const shown = read(sent.at(-1)?.at(-1) as never) as JsonRecord;
    expect(shown.code).toBe(3);
    expect(String(shown.stdout)).toContain("line 0 of it\n");
  });
});
