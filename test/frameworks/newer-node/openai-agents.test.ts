import {
  Agent,
  type AgentInputItem,
  type Model,
  type ModelRequest,
  type ModelResponse,
  Runner,
  type StreamEvent,
  tool,
  Usage,
} from "@openai/agents";
import { describe, it } from "vitest";
import { wrapModel } from "../../../src/entrypoints/adapters/openai-agents.ts";
import { type AdapterRun, testAdapter } from "../../../src/testing/test-adapter.ts";

/** A request's items without the ids and data that differ from run to run. */
const sentOf = (input: string | AgentInputItem[]) =>
  typeof input === "string"
    ? input
    : (JSON.parse(JSON.stringify(input, (key, value) => (key === "id" ? undefined : value))) as unknown);

class MockModel implements Model {
  readonly #run: AdapterRun;
  constructor(run: AdapterRun) {
    this.#run = run;
  }
  async getResponse({ input, tools }: ModelRequest): Promise<ModelResponse> {
    const reply = this.#run.model({ messages: sentOf(input), tools: tools.map(({ name }) => name) });
    const output =
      "calls" in reply
        ? reply.calls.map(({ id, name, args }) => ({
            type: "function_call" as const,
            callId: id,
            name,
            arguments: JSON.stringify(args),
            status: "completed" as const,
          }))
        : [
            {
              type: "message" as const,
              role: "assistant" as const,
              status: "completed" as const,
              content: [{ type: "output_text" as const, text: reply.text }],
            },
          ];
    return { usage: new Usage(), output };
  }
  async *getStreamedResponse(request: ModelRequest): AsyncIterable<StreamEvent> {
    const { output } = await this.getResponse(request);
    yield { type: "response_started" };
    for (const item of output)
      if (item.type === "message" && item.role === "assistant")
        for (const part of item.content)
          if (part.type === "output_text")
            for (const delta of part.text.split(/(?<= )/)) yield { type: "output_text_delta", delta };
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    yield { type: "response_done", response: { id: "r", usage, output } };
  }
}

testAdapter(
  {
    name: "spillway/openai-agents with OpenAI Agents 0.20",
    image: (text, base64) => [
      { type: "text", text },
      { type: "image", image: { data: base64, mediaType: "image/png" } },
    ],
    lacks: { values: "the application and the model get the same value" },
    async run(run) {
      const { spillway, signal } = run;
      const parameters = {
        type: "object",
        properties: { q: { type: "string" } },
        required: [],
        additionalProperties: true,
      } as const;
      const made = run.tools.map(({ name, run: execute }) =>
        tool({
          name,
          description: name,
          parameters,
          strict: false,
          execute: async (args, _context, details) =>
            execute(args as Record<string, unknown>, details?.signal) as Promise<string>,
        }),
      );
      const tools = spillway ? spillway.wrapTools(made) : made;
      const base = new MockModel(run);
      const agent = new Agent({
        name: "a",
        model: spillway ? wrapModel(spillway, base, { window: run.window }) : base,
        tools: run.readBack && spillway ? [...tools, ...spillway.readBack("openai-agents")] : tools,
      });
      const runner = new Runner({ tracingDisabled: true });
      const options = { maxTurns: 60, ...(signal && { signal }) };
      if (!run.stream) {
        const result = await runner.run(agent, run.prompt, options);
        return { text: String(result.finalOutput), history: result.history };
      }
      const result = await runner.run(agent, run.prompt, { ...options, stream: true });
      const pieces: string[] = [];
      for await (const piece of result.toTextStream()) pieces.push(piece);
      await result.completed;
      return { text: String(result.finalOutput), history: result.history, pieces };
    },
  },
  { describe, it },
);
