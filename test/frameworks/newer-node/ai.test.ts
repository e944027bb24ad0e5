import {
  APICallError,
  generateText,
  isStepCount,
  jsonSchema,
  type ModelMessage,
  streamText,
  tool,
  wrapLanguageModel,
} from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { describe, it } from "vitest";
import { spillwayMiddleware } from "../../../src/entrypoints/adapters/ai.ts";
import { testAdapter } from "../../../src/testing/test-adapter.ts";
import { mockAnswers } from "../mock-model.ts";

const image = (text: string, base64: string) => ({ text, base64 });

testAdapter(
  {
    name: "spillway/ai with AI SDK 7",
    image,
    async run(run) {
      const { spillway, signal: abortSignal } = run;
      const made = Object.fromEntries(
        run.tools.map(({ name, run: execute }) => [
          name,
          tool({
            inputSchema: jsonSchema<Record<string, unknown>>({ type: "object" }),
            execute: (args, options) => execute(args, options.abortSignal),
            toModelOutput: ({ output }) => {
              const { base64, text } = Object(output) as ReturnType<typeof image>;
              if (base64 === undefined)
                return typeof output === "string"
                  ? { type: "text", value: output }
                  : { type: "json", value: output as never };
              const data = { type: "data" as const, data: base64 };
              return {
                type: "content",
                value: [
                  { type: "text", text },
                  { type: "file", mediaType: "image/png", data },
                ],
              };
            },
          }),
        ]),
      );
      const base = new MockLanguageModelV4(mockAnswers(run, APICallError));
      const middleware = spillway && spillwayMiddleware(spillway, { window: run.window });
      const given = {
        model: middleware ? wrapLanguageModel({ model: base, middleware }) : base,
        tools: { ...(spillway?.wrapTools(made) ?? made), ...(run.readBack && spillway ? spillway.readBack("ai") : {}) },
        prompt: run.prompt,
        stopWhen: isStepCount(40),
        maxRetries: 0,
        ...(abortSignal && { abortSignal }),
      };
      const outcome = async (
        text: string,
        messages: ModelMessage[],
        steps: { toolResults: { toolCallId: string; output: unknown }[] }[],
      ) => {
        const results = steps.flatMap(({ toolResults }) => toolResults);
        return {
          text,
          history: messages,
          outputs: Object.fromEntries(results.map(({ toolCallId, output }) => [toolCallId, output])),
        };
      };
      if (!run.stream) {
        const { text, responseMessages, steps } = await generateText(given);
        return outcome(text, responseMessages, steps);
      }
      const result = streamText(given);
      const pieces: string[] = [];
      for await (const piece of result.textStream) pieces.push(piece);
      return { ...(await outcome(await result.text, await result.responseMessages, await result.steps)), pieces };
    },
  },
  { describe, it },
);
