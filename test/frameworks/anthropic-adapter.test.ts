import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { describe, expect, it } from "vitest";
import { contextManagement, spillwayMiddleware } from "../../src/entrypoints/adapters/anthropic.ts";
import { memoryStore } from "../../src/extend.ts";
import { createSpillway } from "../../src/index.ts";
import { startFakeProvider } from "../../src/testing/index.ts";
import { testAdapter } from "../../src/testing/test-adapter.ts";

testAdapter(
  {
    name: "spillway/anthropic with the tool runner of Anthropic's SDK",
    image: (text, base64) => [
      { type: "text", text },
      { type: "image", source: { type: "base64", media_type: "image/png", data: base64 } },
    ],
    lacks: { values: "the application and the model get the same value" },
    async run(run) {
      const { spillway, signal } = run;
      const provider = await startFakeProvider({
        speaks: "anthropic",
        script: ({ body }) => {
          try {
            const { messages, tools = [] } = body as { messages: unknown; tools?: { name: string }[] };
            const reply = run.model({ messages, tools: tools.map(({ name }) => name) });
            if ("text" in reply) return reply.text;
            return { calls: reply.calls.map(({ id, name, args }) => ({ id, tool: name, input: args })) };
          } catch (error) {
            const { status, message } = error as Error & { status: number };
            const type = status === 401 ? "authentication_error" : "invalid_request_error";
            return { refusal: { status, body: { type: "error", error: { type, message } }, source: "this test" } };
          }
        },
      });
      try {
        const made = run.tools.map(({ name, run: execute }) =>
          betaTool({
            name,
            description: name,
            inputSchema: { type: "object", properties: { q: { type: "string" } } },
            run: async (args, context) => {
              const value = await execute(args, context?.signal ?? undefined);
              return typeof value === "string" || Array.isArray(value) ? (value as string) : JSON.stringify(value);
            },
          }),
        );
        const tools = spillway ? spillway.wrapTools(made) : made;
        const client = new Anthropic({
          apiKey: "fake",
          baseURL: provider.url,
          maxRetries: 0,
          ...(spillway && { middleware: [spillwayMiddleware(spillway, { window: run.window })] }),
        });
        const given = {
          model: "claude-fake",
          max_tokens: 1000,
          thread: false as const,
          max_iterations: 60,
          messages: [{ role: "user" as const, content: run.prompt }],
          tools: run.readBack && spillway ? [...tools, ...spillway.readBack("anthropic")] : tools,
        };
        const pieces: string[] = [];
        const textOf = ({ content }: { content: { type: string }[] }) =>
          content.map((block) => (block.type === "text" ? (block as { text?: string }).text : "")).join("");
        const options = signal ? { signal } : {};
        if (run.stream) {
          const runner = client.beta.messages.toolRunner({ ...given, stream: true }, options);
          for await (const stream of runner)
            for await (const event of stream)
              if (event.type === "content_block_delta" && event.delta.type === "text_delta")
                pieces.push(event.delta.text);
          return { text: textOf(await runner.done()), history: runner.params.messages, pieces };
        }
        const runner = client.beta.messages.toolRunner(given, options);
        return { text: textOf(await runner.runUntilDone()), history: runner.params.messages };
      } finally {
        await provider.stop();
      }
    },
  },
  { describe, it },
);

describe("spillway/anthropic", () => {
  it("says our pruning policy in the provider's words, and prunes nothing where the provider clears", async () => {
    const spillway = await createSpillway({ store: memoryStore({ maxBytes: 1e8 }), ledger: null, env: {} });
    const edits = contextManagement(spillway, { window: 200_000 });
    expect(edits).toMatchObject({
      edits: [
        {
          type: "clear_tool_uses_20250919",
          trigger: { type: "input_tokens", value: 100_000 },
          keep: { type: "tool_uses", value: 3 },
          clear_at_least: { type: "input_tokens", value: 12_500 },
          exclude_tools: [],
        },
      ],
    });
    expect(() => contextManagement(spillway, { window: Number.NaN })).toThrow(/window in tokens; got NaN/);
    const provider = await startFakeProvider({ speaks: "anthropic", script: () => "ok" });
    try {
      const client = new Anthropic({
        apiKey: "fake",
        baseURL: provider.url,
        middleware: [spillwayMiddleware(spillway, { window: 20_000 })],
      });
      const pages = Array.from({ length: 8 }, (_, at) => [
        { role: "assistant" as const, content: [{ type: "tool_use" as const, id: `c${at}`, name: "page", input: {} }] },
        {
          role: "user" as const,
          content: [{ type: "tool_result" as const, tool_use_id: `c${at}`, content: `${at} ${"words ".repeat(2000)}` }],
        },
      ]);
      const messages = [{ role: "user" as const, content: "go" }, ...pages.flat()];
      const given = {
        model: "claude-fake",
        max_tokens: 10,
        messages,
        tools: [{ name: "page", input_schema: { type: "object" as const } }],
      };
      await client.beta.messages.create(given);
      await client.beta.messages.create({
        ...given,
        context_management: edits,
        betas: ["context-management-2025-06-27"],
      });
      const [pruned, whole] = provider.requests.map(({ bytes }) => bytes);
      expect(whole).toBeGreaterThan(96_000);
      expect(pruned).toBeLessThan(80_000);
    } finally {
      await provider.stop();
    }
  });
});
