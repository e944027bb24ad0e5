// An agent of the AI SDK: its tool prints a long log, the model reads a part of the rest back, and the application has all of it.
// The model is a mock: it calls the tool, then what the marker names, then answers.
import assert from "node:assert/strict";
import { generateText, isStepCount, jsonSchema, tool, wrapLanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { createSpillway } from "spillway";
import { spillwayMiddleware } from "spillway/ai";

const log = Array.from({ length: 9000 }, (_, at) => `step ${at + 1} of the build`).join("\n");
const build = tool({
  description: "Runs the build.",
  inputSchema: jsonSchema<{ target: string }>({ type: "object", properties: { target: { type: "string" } } }),
  execute: async ({ target }) => ({ target, log }),
});

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const mock = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => {
    const sent = JSON.stringify(prompt.filter(({ role }) => role === "tool"));
    const [, name, id] = /(\w+)\(\{\\*"id\\*":\\*"([a-z2-7]{12})/.exec(sent) ?? [];
    const call = (toolName: string, input: object) => ({
      content: [{ type: "tool-call" as const, toolCallId: toolName, toolName, input: JSON.stringify(input) }],
      finishReason: { unified: "tool-calls" as const, raw: undefined },
      usage,
      warnings: [],
    });
    if (sent === "[]") return call("build", { target: "all" });
    if (name !== undefined && !sent.includes("step 4501 of")) return call(name, { id, around: "step 4501 of" });
    const content = [{ type: "text" as const, text: "Step 4501 is in the log." }];
    return { content, finishReason: { unified: "stop" as const, raw: undefined }, usage, warnings: [] };
  },
});

const spillway = await createSpillway();
const { text, steps } = await generateText({
  model: wrapLanguageModel({ model: mock, middleware: spillwayMiddleware(spillway) }),
  tools: { ...spillway.wrapTools({ build }), ...spillway.readBack("ai") },
  prompt: "Why did the build fail?",
  stopWhen: isStepCount(5),
});

const sizes = mock.doGenerateCalls.map(({ prompt }) => JSON.stringify(prompt).length);
assert.equal(text, "Step 4501 is in the log.");
assert.deepEqual(steps[0]?.toolResults[0]?.output, { target: "all", log });
assert.ok(Math.max(...sizes) < 80_000);
console.log(`ok: ${log.length} characters for the application, at most ${Math.max(...sizes)} in a request`);
