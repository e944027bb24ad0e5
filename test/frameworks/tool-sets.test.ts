import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateText, jsonSchema, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { AIMessage, createAgent, fakeModel, tool } from "langchain";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSpillway } from "../../dist/index.js";
import { type BoundedTool, boundedTools, openRoots, toAiSdkTools, toLangChainTools } from "../../dist/tools.js";

const folder = mkdtempSync(join(tmpdir(), "spillway-sets-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let tools: BoundedTool[] = [];
beforeAll(async () => {
  writeFileSync(join(folder, "long.txt"), Array.from({ length: 3000 }, (_, i) => `line ${i + 1}\n`).join(""));
  const reader = { by: "tool" as const, recall: "recall", search: "search" };
  const spillway = await createSpillway({ dir: join(folder, "data"), env: {}, reader });
  tools = boundedTools({ spillway, roots: await openRoots([folder]) });
});

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

test("AI SDK: the model calls a tool, gets a bounded result, reads the rest back, and sees a refusal as an error", async () => {
  const asks = [
    { toolName: "read_file", input: { path: "long.txt" } },
    { toolName: "read_file", input: { path: "../secret" } },
  ];
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const ask = asks.shift();
      if (ask !== undefined) {
        const call = {
          type: "tool-call" as const,
          toolCallId: `c${asks.length}`,
          ...ask,
          input: JSON.stringify(ask.input),
        };
        return { content: [call], finishReason: { unified: "tool-calls", raw: undefined }, usage, warnings: [] };
      }
      const text = JSON.stringify(prompt.filter(({ role }) => role === "tool"));
      return {
        content: [{ type: "text", text }],
        finishReason: { unified: "stop", raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
  const set = toAiSdkTools(tools, jsonSchema);
  const { text } = await generateText({ model, tools: set, prompt: "read", stopWhen: stepCountIs(5) });
  expect(model.doGenerateCalls[0]?.tools?.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
  expect(model.doGenerateCalls[0]?.tools?.[0]).toMatchObject({ inputSchema: { type: "object" } });
  const [long, refused] = (JSON.parse(text) as { content: { output: { type: string; value: string } }[] }[]).map(
    ({ content }) => content[0]?.output,
  );
  expect(long?.value.split("\n").length).toBeLessThanOrEqual(500);
  const next = Number(/next: start_line (\d+)\]/.exec(long?.value ?? "")?.[1]);
  expect(await set.read_file?.execute({ path: "long.txt", start_line: next })).toContain(`line ${next}\n`);
  expect(refused).toMatchObject({ type: "error-text", value: expect.stringContaining("outside") });
});

test("LangChain: an agent calls a tool and gets a bounded result; a refusal is an error message", async () => {
  const made = toLangChainTools(tools, tool);
  const model = fakeModel()
    .respondWithTools([{ name: "read_file", args: { path: "long.txt" }, id: "a" }])
    .respondWithTools([{ name: "read_file", args: { path: "../secret" }, id: "b" }])
    .respond(new AIMessage("done"));
  const agent = createAgent({ model, tools: made });
  const { messages } = await agent.invoke({ messages: [{ role: "user", content: "read" }] });
  const results = messages.filter((message) => message.type === "tool");
  expect(String(results[0]?.content).split("\n").length).toBeLessThanOrEqual(500);
  expect(results[1]).toMatchObject({ status: "error", content: expect.stringContaining("outside") });
});
