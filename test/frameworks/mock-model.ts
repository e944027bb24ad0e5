import type { AdapterReply, AdapterRun } from "../../src/testing/test-adapter.ts";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

interface Asked {
  prompt: unknown;
  tools?: { name: string }[] | undefined;
}

/** An error of the provider, as a version of the AI SDK has it. */
type CallError = new (said: {
  message: string;
  statusCode: number;
  url: string;
  requestBodyValues: object;
  isRetryable: boolean;
}) => Error;

/** What a mock model of the AI SDK does, in any version of it: it answers with what the suite says. */
export function mockAnswers({ model }: Pick<AdapterRun, "model">, CallError: CallError) {
  const answer = ({ prompt, tools = [] }: Asked): AdapterReply => {
    try {
      return model({ messages: JSON.parse(JSON.stringify(prompt)), tools: tools.map(({ name }) => name) });
    } catch (error) {
      const { message, statusCode } = error as Error & { statusCode: number };
      throw new CallError({
        message,
        statusCode,
        url: "http://127.0.0.1",
        requestBodyValues: {},
        isRetryable: false,
      });
    }
  };
  const callsOf = (reply: { calls: { id: string; name: string; args: object }[] }) =>
    reply.calls.map(({ id, name, args }) => ({
      type: "tool-call" as const,
      toolCallId: id,
      toolName: name,
      input: JSON.stringify(args),
    }));
  const finish = (reply: AdapterReply) => ({
    finishReason: { unified: "calls" in reply ? ("tool-calls" as const) : ("stop" as const), raw: undefined },
    usage,
  });
  return {
    doGenerate: async (asked: Asked) => {
      const reply = answer(asked);
      const content = "calls" in reply ? callsOf(reply) : [{ type: "text" as const, text: reply.text }];
      return { content, ...finish(reply), warnings: [] };
    },
    doStream: async (asked: Asked) => {
      const reply = answer(asked);
      const parts =
        "calls" in reply
          ? callsOf(reply)
          : [
              { type: "text-start" as const, id: "1" },
              ...reply.text.split(/(?<= )/).map((delta) => ({ type: "text-delta" as const, id: "1", delta })),
              { type: "text-end" as const, id: "1" },
            ];
      const chunks = [
        { type: "stream-start" as const, warnings: [] },
        ...parts,
        { type: "finish" as const, ...finish(reply) },
      ];
      return { stream: ReadableStream.from(chunks) };
    },
  };
}
