import type { AgentTool } from "@earendil-works/pi-agent-core";
import { createTool } from "@mastra/core/tools";
import {
  tool as agentsTool,
  applyPatchTool,
  type Computer,
  computerTool,
  RunContext,
  shellTool,
  webSearchTool,
} from "@openai/agents";
import { generateText, isStepCount, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { expect, it } from "vitest";
import { z } from "zod";
import type { Receipt } from "../../../src/contract/receipt.ts";
import { memoryStore } from "../../../src/extend.ts";
import { createSpillway } from "../../../src/index.ts";

const long = Array.from({ length: 9000 }, (_, n) => `line ${n} of it`).join("\n");
const inputSchema = z.object({ q: z.string() });

async function watched() {
  const receipts: Receipt[] = [];
  const onReceipt = (receipt: Receipt) => void receipts.push(receipt);
  const spillway = await createSpillway({ store: memoryStore({ maxBytes: 1e8 }), ledger: null, env: {}, onReceipt });
  return { spillway, receipts };
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

it("AI SDK 7: a tool that yields keeps yielding to the application, and the model gets its last value clamped", async () => {
  const { spillway, receipts } = await watched();
  const model = new MockLanguageModelV4({
    doGenerate: [
      {
        content: [{ type: "tool-call", toolCallId: "call_1", toolName: "big", input: '{"q":"x"}' }],
        finishReason: { unified: "tool-calls", raw: undefined },
        usage,
        warnings: [],
      },
      {
        content: [{ type: "text", text: "done" }],
        finishReason: { unified: "stop", raw: undefined },
        usage,
        warnings: [],
      },
    ],
  });
  const big = tool({
    inputSchema,
    async *execute({ q }) {
      yield { q, rows: ["first"] };
      yield { q, rows: [long] };
    },
  });
  const { steps } = await generateText({
    model,
    tools: spillway.wrapTools({ big }),
    prompt: "go",
    stopWhen: isStepCount(2),
  });
  expect(steps[0]?.toolResults[0]?.output).toEqual({ q: "x", rows: [long] });
  const sent = JSON.stringify(model.doGenerateCalls[1]?.prompt.filter(({ role }) => role === "tool"));
  expect(sent).toContain("omitted");
  expect(sent.length).toBeLessThan(56_000);
  expect(receipts).toHaveLength(1);
  expect(receipts[0]).toMatchObject({ tool: "big", call: "call_1" });
});

it("OpenAI Agents: a function tool is clamped, a hosted one stays as it is", async () => {
  const { spillway, receipts } = await watched();
  const big = agentsTool({ name: "big", description: "b", parameters: inputSchema, execute: async () => long });
  const hosted = webSearchTool();
  const [wrapped, same] = spillway.wrapTools([big, hosted]);
  expect(same).toBe(hosted);
  const toolCall = { type: "function_call" as const, callId: "call_1", name: "big", arguments: '{"q":"x"}' };
  const details = { toolCall };
  if (wrapped?.type !== "function") throw new Error("no function tool");
  expect(await wrapped.invoke(new RunContext(), '{"q":"x"}', details as never)).toContain("omitted");
  expect(receipts[0]).toMatchObject({ tool: "big", call: "call_1" });
});

it("OpenAI Agents: what a shell prints is clamped, and its ending stays", async () => {
  const { spillway, receipts } = await watched();
  const outcome = { type: "exit" as const, exitCode: 3 };
  const shell = { run: async () => ({ output: [{ stdout: long, stderr: "", outcome }] }) };
  const given = shellTool({ shell });
  const [wrapped] = spillway.wrapTools([given]);
  expect([wrapped?.type, wrapped?.name]).toEqual([given.type, given.name]);
  const result = await wrapped?.shell?.run({ commands: ["ls"] } as never);
  expect(result?.output[0]).toMatchObject({ stdout: expect.stringContaining("omitted"), outcome });
  expect(receipts[0]).toMatchObject({ tool: "shell" });
  expect(await given.shell?.run({ commands: ["ls"] } as never)).toMatchObject({ output: [{ stdout: long }] });
});

it("OpenAI Agents: what an editor says of a patch is clamped; a computer gives screenshots, and stays as it is", async () => {
  const { spillway, receipts } = await watched();
  class Files {
    #said = long;
    createFile = async () => undefined;
    async updateFile() {
      return { status: "failed" as const, output: this.#said };
    }
    async deleteFile() {
      return { output: "gone" };
    }
  }
  const onApproval = async () => ({ approve: true });
  const patch = applyPatchTool({ editor: new Files(), onApproval });
  const screen = { screenshot: async () => "", environment: "browser", dimensions: [1, 1] } as unknown as Computer;
  const computer = computerTool({ computer: screen, onSafetyCheck: async () => true });
  const [wrapped, same] = spillway.wrapTools([patch, computer] as const);
  expect(same).toBe(computer);
  const { editor, ...rest } = wrapped;
  expect({ ...rest, editor: patch.editor }).toEqual(patch);
  const change = { path: "a", diff: "" } as never;
  expect(await editor.updateFile(change)).toEqual({ status: "failed", output: expect.stringContaining("omitted") });
  expect([await editor.createFile(change), await editor.deleteFile(change)]).toEqual([undefined, { output: "gone" }]);
  expect(receipts[0]).toMatchObject({ tool: "apply_patch" });
});

it("Mastra: a tool is found by its id and stays an instance of its class", async () => {
  const { spillway, receipts } = await watched();
  const big = createTool({ id: "big-tool", description: "b", inputSchema, execute: async () => ({ rows: [long] }) });
  const [wrapped] = spillway.wrapTools([big]);
  expect(wrapped).toBeInstanceOf(big.constructor);
  expect(JSON.stringify(await wrapped?.execute?.({ q: "x" }, {}))).toContain("omitted");
  expect(receipts[0]).toMatchObject({ tool: "big-tool" });
});

it("pi: content is clamped, details are not", async () => {
  const { spillway, receipts } = await watched();
  const big: AgentTool = {
    name: "big",
    label: "Big",
    description: "b",
    parameters: { type: "object", properties: {} } as never,
    execute: async () => ({ content: [{ type: "text", text: long }], details: { long } }),
  };
  const result = await spillway.wrapTool(big).execute("toolu_1", {});
  expect(result.content[0]).toMatchObject({ text: expect.stringContaining("omitted") });
  expect(result.details).toEqual({ long });
  expect(receipts[0]).toMatchObject({ tool: "big", call: "toolu_1" });
});
