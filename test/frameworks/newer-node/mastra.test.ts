import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { APICallError } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { spillwayProcessor } from "../../../src/entrypoints/adapters/mastra.ts";
import { testAdapter } from "../../../src/testing/test-adapter.ts";
import { mockAnswers } from "../mock-model.ts";

/** Mastra puts dates, and notes to itself that no provider gets, into a prompt. */
const clean = (value: unknown) =>
  JSON.parse(
    JSON.stringify(value, (key, each) => (/createdAt|messageId|providerOptions/.test(key) ? undefined : each)),
  );

testAdapter(
  {
    name: "spillway/mastra with Mastra 1.71",
    lacks: { images: "Mastra's model view of a result is made by a tool's own toModelOutput" },
    async run(run) {
      const { spillway, signal: abortSignal } = run;
      const made = Object.fromEntries(
        run.tools.map(({ name, run: execute }) => [
          name,
          createTool({
            id: name,
            description: name,
            inputSchema: z.object({ q: z.string() }),
            execute: async (args, context) => execute(args, context?.abortSignal),
          }),
        ]),
      );
      const processor = spillway && spillwayProcessor(spillway, { window: run.window });
      const agent = new Agent({
        id: "a",
        name: "a",
        instructions: "",
        model: new MockLanguageModelV4(
          mockAnswers(
            { model: ({ messages, tools }) => run.model({ messages: clean(messages), tools }) },
            APICallError,
          ),
        ),
        tools: {
          ...(spillway?.wrapTools(made) ?? made),
          ...(run.readBack && spillway ? spillway.readBack("mastra") : {}),
        },
        maxRetries: 0,
        ...(processor && { inputProcessors: [processor], errorProcessors: [processor] }),
      });
      const options = { maxSteps: 60, ...(abortSignal && { abortSignal }) };
      const stream = await agent.stream(run.prompt, options);
      const pieces: string[] = [];
      for await (const piece of stream.textStream) pieces.push(piece);
      const { text, toolResults, messages, error, steps } = await stream.getFullOutput();
      if (error) throw error;
      const results = [...toolResults, ...(steps ?? []).flatMap((step) => step.toolResults)];
      const outputs = Object.fromEntries(results.map(({ payload }) => [payload.toolCallId, payload.result]));
      return { text, history: messages, outputs, pieces };
    },
  },
  { describe, it },
);

it("Mastra tells the processor which tools a request offers, with their schemas", async () => {
  const told: unknown[] = [];
  const prepare = async (messages: unknown[], { systemAndTools }: { systemAndTools?: unknown }) => {
    told.push(systemAndTools);
    return { messages };
  };
  const look = createTool({
    id: "look",
    description: "Looks.",
    inputSchema: z.object({ path: z.string() }),
    execute: async () => "seen",
  });
  const agent = new Agent({
    id: "a",
    name: "a",
    instructions: "",
    model: new MockLanguageModelV4(mockAnswers({ model: () => ({ text: "done" }) }, APICallError)),
    tools: { look },
    inputProcessors: [spillwayProcessor({ prepare, call: prepare } as never)],
  });
  for await (const _ of (await agent.stream("Look.")).textStream);
  expect(told).toMatchObject([
    [{ name: "look", description: "Looks.", inputSchema: { properties: { path: { type: "string" } } } }],
  ]);
});
