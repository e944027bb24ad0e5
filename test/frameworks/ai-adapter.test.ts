import {
  APICallError,
  generateText,
  jsonSchema,
  type ModelMessage,
  stepCountIs,
  streamText,
  tool,
  wrapLanguageModel,
} from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { describe, it } from "vitest";
import { spillwayMiddleware } from "../../src/entrypoints/adapters/ai.ts";
import { testAdapter } from "../../src/testing/test-adapter.ts";
import { mockAnswers } from "./mock-model.ts";

testAdapter(
  {
    name: "spillway/ai with AI SDK 6",
    image: (text, base64) => ({ text, base64 }),
    async run(run) {
      const { spillway, signal: abortSignal } = run;
      const made = Object.fromEntries(
        run.tools.map(({ name, run: execute }) => [
          name,
          tool({
            inputSchema: jsonSchema<Record<string, unknown>>({ type: "object" }),
            execute: (args, options) => execute(args, options.abortSignal),
            toModelOutput: ({ output }) => {
              const { base64, text } = Object(output) as { base64?: string; text: string };
              if (base64 === undefined)
                return typeof output === "string"
                  ? { type: "text", value: output }
                  : { type: "json", value: output as never };
              const value = [
                { type: "text" as const, text },
                { type: "image-data" as const, mediaType: "image/png", data: base64 },
              ];
              return { type: "content", value };
            },
          }),
        ]),
      );
      const base = new MockLanguageModelV3(mockAnswers(run, APICallError));
      const middleware = spillway && spillwayMiddleware(spillway, { specificationVersion: "v3", window: run.window });
      const given = {
        model: middleware ? wrapLanguageModel({ model: base, middleware }) : base,
        tools: { ...(spillway?.wrapTools(made) ?? made), ...(run.readBack && spillway ? spillway.readBack("ai") : {}) },
        prompt: run.prompt,
        stopWhen: stepCountIs(40),
        maxRetries: 0,
        ...(abortSignal && { abortSignal }),
      };
      const outcome = (
        text: string,
        history: ModelMessage[],
        steps: Awaited<ReturnType<typeof generateText>>["steps"],
      ) => {
        const results = steps.flatMap(({ toolResults }) => toolResults);
        const outputs = Object.fromEntries(results.map(({ toolCallId, output }) => [toolCallId, output as unknown]));
        return { text, history, outputs };
      };
      if (!run.stream) {
        const { text, response, steps } = await generateText(given);
        return outcome(text, response.messages, steps);
      }
      const result = streamText(given);
      const pieces: string[] = [];
      for await (const piece of result.textStream) pieces.push(piece);
      return { ...outcome(await result.text, (await result.response).messages, await result.steps), pieces };
    },
  },
  { describe, it },
);
