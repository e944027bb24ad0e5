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
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { describe, it } from "vitest";
import { spillwayMiddleware } from "../../../src/entrypoints/adapters/ai.ts";
import { type AdapterReply, type AdapterRun, testAdapter } from "../../../src/testing/test-adapter.ts";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

function mockModel({ model }: AdapterRun) {
  const answer = (prompt: unknown, tools: { name: string }[] = []): AdapterReply => {
    try {
      return model({ messages: JSON.parse(JSON.stringify(prompt)), tools: tools.map(({ name }) => name) });
    } catch (error) {
      const { message, statusCode } = error as Error & { statusCode: number };
      throw new APICallError({
        message,
        statusCode,
        url: "http://127.0.0.1",
        requestBodyValues: {},
        isRetryable: false,
      });
    }
  };
  const contentOf = (reply: AdapterReply) =>
    "calls" in reply
      ? reply.calls.map(({ id, name, args }) => ({
          type: "tool-call" as const,
          toolCallId: id,
          toolName: name,
          input: JSON.stringify(args),
        }))
      : [{ type: "text" as const, text: reply.text }];
  const finish = (reply: AdapterReply) => ({
    finishReason: { unified: "calls" in reply ? ("tool-calls" as const) : ("stop" as const), raw: undefined },
    usage,
  });
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt, tools }) => {
      const reply = answer(prompt, tools);
      return { content: contentOf(reply), ...finish(reply), warnings: [] };
    },
    doStream: async ({ prompt, tools }) => {
      const reply = answer(prompt, tools);
      const parts =
        "calls" in reply
          ? contentOf(reply)
          : [
              { type: "text-start" as const, id: "1" },
              ...reply.text.split(/(?<= )/).map((delta) => ({ type: "text-delta" as const, id: "1", delta })),
              { type: "text-end" as const, id: "1" },
            ];
      return {
        stream: simulateReadableStream({
          chunks: [
            { type: "stream-start" as const, warnings: [] },
            ...(parts as { type: "text-start"; id: string }[]),
            { type: "finish" as const, ...finish(reply) },
          ],
        }),
      };
    },
  });
}

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
      const base = mockModel(run);
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
