import { ContextOverflowError } from "@langchain/core/errors";
import type { BaseMessage } from "@langchain/core/messages";
import { AIMessage, createAgent, fakeModel, tool } from "langchain";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { spillwayMiddleware } from "../../src/entrypoints/adapters/langchain.ts";
import { memoryStore } from "../../src/extend.ts";
import { createSpillway } from "../../src/index.ts";
import { type AdapterRun, testAdapter } from "../../src/testing/test-adapter.ts";

/** A message as a model's provider gets it. */
const sentOf = (message: BaseMessage) => ({
  role: message.getType(),
  content: message.content,
  calls: (message as AIMessage).tool_calls,
  ...("tool_call_id" in message && { id: message.tool_call_id, status: (message as { status?: unknown }).status }),
});

/** A model that answers with what the suite says, and remembers which tools it was bound to. */
function mockModel(run: AdapterRun) {
  const model = fakeModel();
  let names: string[] = [];
  const bind = model.bindTools.bind(model);
  model.bindTools = (tools) => {
    names = tools.map((each) => (each as { name: string }).name);
    return bind(tools);
  };
  for (let at = 0; at < 60; at++)
    model.respond((messages: BaseMessage[]) => {
      const reply = run.model({ messages: messages.map(sentOf), tools: names });
      return "calls" in reply
        ? new AIMessage({ content: "", tool_calls: reply.calls })
        : new AIMessage({ content: reply.text });
    });
  return model;
}

testAdapter(
  {
    name: "spillway/langchain with LangChain 1",
    image: (text, base64) => [
      { type: "text", text },
      { type: "image_url", image_url: { url: `data:image/png;base64,${base64}` } },
    ],
    lacks: {
      values: "a model gets what a tool returns; what is the application's is an artifact, which wrapTools keeps",
    },
    async run(run) {
      const { spillway, signal } = run;
      const schema = { type: "object", properties: { q: { type: "string" } } } as const;
      const tools = run.tools.map(({ name, run: execute }) =>
        tool(async (args, config) => execute(args as Record<string, unknown>, config?.signal), {
          name,
          description: name,
          schema,
        }),
      );
      const { window, readBack } = run;
      const middleware = spillway ? [spillwayMiddleware(spillway, { window, readBack })] : [];
      const agent = createAgent({ model: mockModel(run), tools, middleware });
      const input = { messages: [{ role: "user" as const, content: run.prompt }] };
      const config = { recursionLimit: 200, ...(signal && { signal }) };
      if (!run.stream) {
        const { messages } = await agent.invoke(input, config);
        return { text: String(messages.at(-1)?.content), history: messages.map(sentOf) };
      }
      const pieces: string[] = [];
      let kept: BaseMessage[] = [];
      const stream = await agent.stream(input, { ...config, streamMode: ["updates", "values"] });
      for await (const [mode, chunk] of stream as AsyncIterable<[string, { messages: BaseMessage[] }]>) {
        if (mode === "values") kept = chunk.messages;
        else pieces.push(Object.keys(chunk).join());
      }
      return { text: String(kept.at(-1)?.content), history: kept.map(sentOf), pieces };
    },
  },
  { describe, it },
);

describe("spillway/langchain", () => {
  const open = () => createSpillway({ store: memoryStore(), ledger: null, env: {} });
  const failing = tool(
    async () => {
      throw new Error("boom");
    },
    { name: "fails", description: "f", schema: { type: "object", properties: {} } },
  );
  const calling = () =>
    fakeModel()
      .respondWithTools([{ name: "fails", args: {}, id: "c1" }])
      .respond(new AIMessage("done"));
  const messages = [{ role: "user" as const, content: "go" }];

  it("throws a tool's error where that is asked for", async () => {
    const middleware = [spillwayMiddleware(await open(), { toolErrors: "throw" })];
    const agent = createAgent({ model: calling(), tools: [failing], middleware });
    await expect(agent.invoke({ messages })).rejects.toThrow(/boom/);
  });

  it.each<[string, object]>([
    ["an interrupt", { is_bubble_up: true }],
    ["an abort", { name: "AbortError" }],
    ["another middleware's error", { name: "MiddlewareError" }],
    ["wrong arguments", { name: "ToolInvocationError" }],
  ])("throws %s, which is LangChain's to handle", async (_what, about) => {
    const error = Object.assign(new Error("boom"), about);
    const { wrapToolCall } = spillwayMiddleware(await open());
    const request = { toolCall: { name: "fails", args: {}, id: "c1" }, state: { messages } };
    await expect(wrapToolCall(request, () => Promise.reject(error))).rejects.toBe(error);
    const told = await wrapToolCall(request, () => Promise.reject(new Error("boom")));
    expect(told).toMatchObject({ tool_call_id: "c1", status: "error" });
  });

  it("counts the schema of a tool as a provider gets it", async () => {
    const schema = z.object({ path: z.string().describe("where it lies") });
    const look = tool(async () => "", { name: "look", description: "Looks.", schema });
    const spillway = await open();
    const call = vi.spyOn(spillway, "call");
    const model = fakeModel().respond(new AIMessage("done"));
    const agent = createAgent({
      model,
      tools: [look],
      systemPrompt: "Be brief.",
      middleware: [spillwayMiddleware(spillway)],
    });
    await agent.invoke({ messages });
    const said = JSON.stringify(call.mock.calls[0]?.[2]?.systemAndTools);
    for (const part of ["Be brief.", "Looks.", '"description":"where it lies"']) expect(said).toContain(part);
    expect(said.length).toBeLessThan(9000);
  });

  it("recovers from LangChain's own ContextOverflowError", async () => {
    const long = "word ".repeat(9000);
    const big = tool(async () => long, { name: "fails", description: "f", schema: { type: "object", properties: {} } });
    const sizes: number[] = [];
    let asked = 0;
    const model = fakeModel();
    for (let at = 0; at < 9; at++)
      model.respond((sent: BaseMessage[]) => {
        const size = JSON.stringify(sent.map((message) => message.content)).length;
        sizes.push(size);
        if (size > 30_000)
          throw ContextOverflowError.fromError(new Error("400 prompt is too long: 11000 tokens > 7000 maximum"));
        return asked++ === 0
          ? new AIMessage({ content: "", tool_calls: [{ id: "c1", name: "fails", args: {} }] })
          : new AIMessage("done");
      });
    const agent = createAgent({ model, tools: [big], middleware: [spillwayMiddleware(await open())] });
    const { messages: kept } = await agent.invoke({ messages });
    expect(kept.at(-1)?.content).toBe("done");
    expect(sizes.filter((size) => size > 30_000)).toHaveLength(1);
  });
});
