import { tool as claudeTool, createSdkMcpServer } from "@anthropic-ai/claude-agent-sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { RunnableLambda } from "@langchain/core/runnables";
import { StructuredTool, tool } from "@langchain/core/tools";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { InMemoryTransport as InMemoryTransport2, McpServer as McpServer2 } from "@modelcontextprotocol/server";
import { tool as aiTool, generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { AIMessage, createAgent, fakeModel } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Receipt } from "../../src/contract/receipt.ts";
import { memoryStore } from "../../src/extend.ts";
import { createSpillway } from "../../src/index.ts";

const long = Array.from({ length: 9000 }, (_, n) => `line ${n} of it`).join("\n");
const schema = z.object({ q: z.string() });

async function watched() {
  const receipts: Receipt[] = [];
  const onReceipt = (receipt: Receipt) => void receipts.push(receipt);
  const spillway = await createSpillway({ store: memoryStore({ maxBytes: 1e8 }), ledger: null, env: {}, onReceipt });
  return { spillway, receipts };
}

describe("LangChain", () => {
  const call = { type: "tool_call" as const, id: "call_1", name: "big", args: { q: "x" } };

  it("a tool stays an instance, is clamped by every way into it, and tells the call's id", async () => {
    const { spillway, receipts } = await watched();
    const big = tool(async () => long, { name: "big", description: "b", schema });
    const [wrapped] = spillway.wrapTools([big]);
    expect(wrapped).toBeInstanceOf(StructuredTool);
    expect(wrapped?.lc_namespace).toEqual(big.lc_namespace);
    expect(wrapped?.schema).toBe(schema);
    const message = (await wrapped?.invoke(call)) as ToolMessage;
    expect(message).toBeInstanceOf(ToolMessage);
    expect(message).toMatchObject({ tool_call_id: "call_1", name: "big", status: "success" });
    expect(message.content.length).toBeLessThan(51_000);
    expect(receipts[0]).toMatchObject({ tool: "big", call: "call_1" });
    for (const text of [
      await wrapped?.invoke({ q: "x" }),
      await wrapped?.withConfig({ tags: ["a"] }).invoke({ q: "x" }),
      await wrapped?.pipe(new RunnableLambda({ func: (text: string) => text })).invoke({ q: "x" }),
      ...((await wrapped?.batch([{ q: "x" }])) ?? []),
    ])
      expect(String(text)).toContain("omitted");
    expect(await big.invoke({ q: "x" })).toBe(long);
    expect(spillway.wrapTools([wrapped as NonNullable<typeof wrapped>])[0]).toBe(wrapped);
  });

  it("an artifact for the application is not cut; a message and a command stay what they are", async () => {
    const { spillway } = await watched();
    const rows = { rows: [long] };
    const fields = { description: "d", schema };
    const [withArtifact, asMessage, asCommand] = spillway.wrapTools([
      tool(async () => [long, rows], { name: "a", ...fields, responseFormat: "content_and_artifact" }),
      tool(async () => new ToolMessage({ content: long, tool_call_id: "call_1", artifact: rows }), {
        name: "m",
        ...fields,
      }),
      tool(
        async () =>
          new Command({ update: { seen: 1, messages: [new ToolMessage(long, "call_1"), new HumanMessage("h")] } }),
        { name: "c", ...fields },
      ),
    ]);
    for (const made of [withArtifact, asMessage]) {
      const message = (await made?.invoke(call)) as ToolMessage;
      expect(message).toBeInstanceOf(ToolMessage);
      expect(message.artifact).toBe(rows);
      expect(message.content).toContain("omitted");
      expect(message.toJSON()).toHaveProperty("kwargs.content", message.content);
    }
    const command = (await asCommand?.invoke(call)) as Command;
    expect(command).toBeInstanceOf(Command);
    const { messages, seen } = command.update as { messages: (ToolMessage | HumanMessage)[]; seen: number };
    expect(seen).toBe(1);
    expect(messages[0]).toBeInstanceOf(ToolMessage);
    expect(messages[0]?.content).toContain("omitted");
    expect(messages[1]?.content).toBe("h");
  });

  it("a class with private members, a tool made of a runnable, and one that reports its progress", async () => {
    const { spillway } = await watched();
    class Own extends StructuredTool {
      name = "own";
      description = "d";
      schema = schema;
      #text = long;
      async _call() {
        return this.#text;
      }
    }
    const runnable = new RunnableLambda({ func: () => long }).asTool({ name: "r", schema });
    async function* reports() {
      yield { done: 1 };
      return long;
    }
    const reporting = tool(reports as never, { name: "g", description: "d", schema });
    const [own, asTool, generator] = spillway.wrapTools([new Own(), runnable, reporting]);
    expect(await own?.invoke({ q: "x" })).toContain("omitted");
    expect(JSON.stringify(await asTool?.invoke(call as never))).toContain("omitted");
    const events: unknown[] = [];
    const callbacks = [{ handleToolEvent: (chunk: unknown) => void events.push(chunk) }];
    expect(await generator?.invoke({ q: "x" } as never, { callbacks })).toContain("omitted");
    expect(events).toEqual([{ done: 1 }]);
  });

  it("an agent's own treatment of errors is as without us, and an interrupt passes", async () => {
    const { spillway } = await watched();
    const throwing = tool(
      async () => {
        throw new TypeError(`no: ${long}`);
      },
      { name: "big", description: "b", schema },
    );
    const run = async (made: typeof throwing) => {
      const model = fakeModel()
        .respondWithTools([{ name: "big", args: { q: "x" }, id: "call_1" }])
        .respond(new AIMessage("done"));
      const { messages } = await createAgent({ model, tools: [made] }).invoke({
        messages: [{ role: "user", content: "go" }],
      });
      return messages.find((message) => message.type === "tool") as ToolMessage;
    };
    const [without, withUs] = [await run(throwing), await run(spillway.wrapTool(throwing))];
    expect(withUs.status).toBe(without.status);
    expect(String(withUs.content).slice(0, 10)).toBe(String(without.content).slice(0, 10));
    expect(String(withUs.content).slice(-26)).toBe(String(without.content).slice(-26));
    expect(withUs.content.length).toBeLessThan(52_000);

    const asking = tool(async () => interrupt({ ask: long }), { name: "big", description: "b", schema });
    const model = fakeModel().respondWithTools([{ name: "big", args: { q: "x" }, id: "call_1" }]);
    const agent = createAgent({ model, tools: [spillway.wrapTool(asking)], checkpointer: new MemorySaver() });
    const stopped = await agent.invoke(
      { messages: [{ role: "user", content: "go" }] },
      { configurable: { thread_id: "1" } },
    );
    expect(stopped).toHaveProperty("__interrupt__", [expect.objectContaining({ value: { ask: long } })]);
  });

  it("LangGraph's ToolNode runs calls side by side, each with its own id", async () => {
    const { spillway, receipts } = await watched();
    const node = new ToolNode(
      spillway.wrapTools([tool(async ({ q }) => `${q}\n${long}`, { name: "big", description: "b", schema })]),
    );
    const calls = ["a", "b", "c"].map((id) => ({ ...call, id, args: { q: id } }));
    const { messages } = (await node.invoke({ messages: [new AIMessage({ content: "", tool_calls: calls })] })) as {
      messages: ToolMessage[];
    };
    expect(messages.map((message) => [message.tool_call_id, String(message.content).split("\n")[1]])).toEqual([
      ["a", "a"],
      ["b", "b"],
      ["c", "c"],
    ]);
    expect(receipts.map((receipt) => receipt.call).toSorted()).toEqual(["a", "b", "c"]);
  });
});

const connect = async (
  server: { connect(transport: never): Promise<void> },
  pair: readonly unknown[] = InMemoryTransport.createLinkedPair(),
) => {
  const [near, far] = pair;
  const client = new Client({ name: "test", version: "1" });
  await Promise.all([server.connect(far as never), client.connect(near as never)]);
  return client;
};

const result = { content: [{ type: "text" as const, text: long }], structuredContent: { rows: [long, long] } };
/** What a client gets of a call: the texts and the structured content, within the limits. */
function expectBounded(given: unknown) {
  const { content, structuredContent } = given as typeof result;
  expect(content[0]?.text).toContain("omitted");
  expect(JSON.stringify(structuredContent).length).toBeLessThan(52_000);
}

describe("MCP", () => {
  it("Claude Agent SDK: a tool's handler is clamped, with the agent's own call id", async () => {
    const { spillway, receipts } = await watched();
    const big = claudeTool("big", "b", { q: z.string() }, async () => result);
    const [wrapped] = spillway.wrapTools([big]);
    expect(wrapped).not.toBe(big);
    const { instance } = createSdkMcpServer({ name: "s", tools: spillway.wrapTools([big]) });
    const client = await connect(instance as never);
    const _meta = { "claudecode/toolUseId": "toolu_1" };
    expectBounded(await client.callTool({ name: "big", arguments: { q: "x" }, _meta }));
    expect(receipts[0]).toMatchObject({ tool: "big", call: "toolu_1" });
    await client.close();
  });

  /** Where Claude Code looks how long a result may be. */
  const SIZE_KEY = "anthropic/maxResultSizeChars";

  it.each([
    ["v1", () => new McpServer({ name: "s", version: "1" }), InMemoryTransport],
    ["v2", () => new McpServer2({ name: "s", version: "1" }), InMemoryTransport2],
  ] as const)("a server's registered tools, before and after they are registered: %s", async (_, make, transport) => {
    const { spillway, receipts } = await watched();
    const server = make() as McpServer;
    const early = server.registerTool("early", { description: "e" }, async () => result);
    spillway.wrapTool(early, { name: "early" });
    const bounded = spillway.wrapTools(server);
    expect(bounded).toBeInstanceOf(server.constructor);
    const config = {
      description: "l",
      inputSchema: z.object({ q: z.string() }),
      outputSchema: z.object({ rows: z.array(z.string()) }),
    };
    const typed = bounded.registerTool("late", config, async ({ q }) => ({
      ...result,
      content: [{ type: "text", text: q + long }],
    }));
    expect(() => spillway.wrapTool(early)).toThrow(/does not say its name.*wrapTools\(server\)/);
    const untouched = server.registerTool("typed", config, async () => result);
    expect(() => spillway.wrapTool(untouched, { name: "typed" })).toThrow(/outputSchema.*wrapTools\(server\)/);
    expect(typed.enabled).toBe(true);
    const client = await connect(bounded as never, transport.createLinkedPair());
    const stated = (await client.listTools()).tools.map(({ name, _meta }) => [name, _meta?.[SIZE_KEY]]);
    expect(stated.slice(0, 2)).toEqual([
      ["early", 51_200],
      ["late", 51_200],
    ]);
    expectBounded(await client.callTool({ name: "early" }));
    expectBounded(await client.callTool({ name: "late", arguments: { q: "x" } }));
    expect(receipts.map(({ tool: name, call }) => [name, call === null])).toEqual([
      ["early", false],
      ["late", false],
    ]);
    await client.close();
  });
});

it("Anthropic's runnable tools", async () => {
  const { spillway, receipts } = await watched();
  const [big] = spillway.wrapTools([
    betaTool({
      name: "big",
      description: "b",
      inputSchema: { type: "object", properties: {} },
      run: async () => long,
    }),
  ]);
  const toolUse = { type: "tool_use", id: "toolu_1", name: "big", input: {} } as never;
  expect(await big?.run({}, { toolUse, toolUseBlock: toolUse })).toContain("omitted");
  expect(receipts[0]).toMatchObject({ tool: "big", call: "toolu_1" });
  const hosted = { type: "web_search_20250305" as const, name: "web_search" as const };
  expect(spillway.wrapTool(hosted)).toBe(hosted);
});

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

it("AI SDK 6: the model gets a clamped result, the application its own value", async () => {
  const { spillway, receipts } = await watched();
  const model = new MockLanguageModelV3({
    doGenerate: [
      {
        content: [{ type: "tool-call", toolCallId: "call_1", toolName: "big", input: '{"q":"x"}' }],
        finishReason: { unified: "tool-calls", raw: undefined },
        usage,
        warnings: [],
      },
      {
        content: [{ type: "text", text: "done" }],
        finishReason: { unified: "stop", raw: undefined },
        usage,
        warnings: [],
      },
    ],
  });
  const big = aiTool({ inputSchema: schema, execute: async () => ({ rows: [long] }) });
  const { steps } = await generateText({
    model,
    tools: spillway.wrapTools({ big }),
    prompt: "go",
    stopWhen: stepCountIs(2),
  });
  expect(steps[0]?.toolResults[0]?.output).toEqual({ rows: [long] });
  const sent = JSON.stringify(model.doGenerateCalls[1]?.prompt.filter(({ role }) => role === "tool"));
  expect(sent).toContain("omitted");
  expect(sent.length).toBeLessThan(56_000);
  expect(receipts).toHaveLength(1);
  expect(receipts[0]).toMatchObject({ tool: "big", call: "call_1" });
});
