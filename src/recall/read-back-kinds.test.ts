import { describe, expect, it } from "vitest";
import { z } from "zod";
import { memoryStore } from "../extend.ts";
import { createSpillway, type ReadBackKinds } from "../index.ts";

const long = Array.from({ length: 9000 }, (_, n) => `line ${n + 1} of it\n`).join("");
const open = () => createSpillway({ store: memoryStore({ maxBytes: 1e8 }), ledger: null, env: {} });

/** How each kind's tools are called, with the model's arguments. */
type Run = (tools: never, name: string, args: object) => Promise<unknown>;
const named = (tools: { name: string }[], name: string) => tools.find((tool) => tool.name === name) as never;
const RUNS: { [Kind in keyof ReadBackKinds | "claude-agent-sdk"]: Run } = {
  ai: (tools: ReadBackKinds["ai"], name, args) => tools[name]?.execute({ ...args }) as Promise<string>,
  mastra: (tools: ReadBackKinds["mastra"], name, args) => tools[name]?.execute({ ...args }) as Promise<string>,
  langchain: (tools, name, args) =>
    (named(tools, name) as ReadBackKinds["langchain"][number]).invoke({ type: "tool_call", id: "c", name, args }),
  "openai-agents": (tools, name, args) =>
    (named(tools, name) as ReadBackKinds["openai-agents"][number]).invoke({}, JSON.stringify(args)),
  anthropic: (tools, name, args) => (named(tools, name) as ReadBackKinds["anthropic"][number]).run(args),
  pi: (tools, name, args) => (named(tools, name) as ReadBackKinds["pi"][number]).execute("c", args),
  openai: (tools: ReadBackKinds["openai"], name, args) =>
    tools.answer({ id: "c", type: "function", function: { name, arguments: JSON.stringify(args) } }),
  mcp: (tools, name, args) => (named(tools, name) as ReadBackKinds["mcp"][number]).handler(args),
  "claude-agent-sdk": (tools, name, args) => (named(tools, name) as ReadBackKinds["mcp"][number]).handler(args),
};

describe.each(Object.entries(RUNS))("readBack(%j)", (kind, run) => {
  const make = (spillway: Awaited<ReturnType<typeof open>>, names = {}) =>
    kind === "claude-agent-sdk" || kind === "mcp"
      ? spillway.readBack(kind as "mcp", { z, ...names })
      : spillway.readBack(kind as "ai", names);

  it("gives tools that markers name from then on, and that read what a marker names", async () => {
    const spillway = await open();
    const before = await spillway.admit({ output: long, tool: "a" });
    expect(before.text).toContain("the operator can read");
    const tools = make(spillway, { recall: "fetch_more", search: "find_more" }) as never;
    const { text, receipt } = await spillway.admit({ output: `${long}more\n`, tool: "a" });
    const prefix = kind === "claude-agent-sdk" ? "mcp__spillway__" : "";
    expect(text).toContain(`Read it with ${prefix}fetch_more({"id":"${receipt.artifact}"`);
    expect(text).toContain(`${prefix}find_more({"id"`);
    const id = receipt.artifact;
    expect(JSON.stringify(await run(tools, "fetch_more", { id, lines: [5000, 5001] }))).toContain("line 5001 of it");
    expect(JSON.stringify(await run(tools, "find_more", { id, pattern: "line 77 of" }))).toContain("line 77 of it");
  });

  it("tells the model what is wrong with its arguments", async () => {
    const spillway = await open();
    const told = await run(make(spillway) as never, "recall", { id: "aaaaaaaaaaaa" }).then(JSON.stringify, String);
    expect(told).toMatch(/aaaaaaaaaaaa/);
  });

  it("is left as it is by wrapTools", async () => {
    const spillway = await open();
    const tools = make(spillway) as unknown;
    if (kind === "openai") return;
    const list = Object.values(tools as object) as { name: string }[];
    expect(spillway.wrapTools(list)[0]).toBe(list[0]);
  });
});

it("says what is wrong when it is asked for", async () => {
  const spillway = await open();
  expect(() => spillway.readBack("aisdk" as "ai")).toThrow(/no kind "aisdk"; it has ai, mastra, langchain/);
  expect(() => spillway.readBack("ai", { recall: "a b" })).toThrow(/recall must be a name/);
  expect(() => spillway.readBack("ai", { recall: "search" })).toThrow(/different names/);
  expect(() => spillway.readBack("claude-agent-sdk", {} as never)).toThrow(/needs z of zod 4\.2/);
  const without = await createSpillway({ store: null, env: {} });
  expect(() => without.readBack("ai")).toThrow(/needs a store.*memoryStore\(\)/);
});

it("says of a mistake that it is one, in each framework's way, and to the call that made it", async () => {
  const spillway = await open();
  const wrong = { id: "aaaaaaaaaaaa" };
  for (const kind of ["mcp", "claude-agent-sdk"] as const)
    expect(await RUNS[kind](spillway.readBack(kind as "mcp", { z }) as never, "recall", wrong)).toMatchObject({
      isError: true,
    });
  for (const kind of ["ai", "mastra", "langchain", "anthropic", "pi"] as const)
    await expect(RUNS[kind](spillway.readBack(kind) as never, "recall", wrong)).rejects.toThrow(/aaaaaaaaaaaa/);
  const answer = await RUNS.openai(spillway.readBack("openai") as never, "recall", wrong);
  expect(answer).toMatchObject({ role: "tool", tool_call_id: "c" });
});

it("markers name the tools of Claude's agent by the server that they are at", async () => {
  const spillway = await open();
  spillway.readBack("claude-agent-sdk", { z, server: "mine" });
  expect((await spillway.admit({ output: long, tool: "a" })).text).toContain("Read it with mcp__mine__recall({");
});

it("OpenAI: calls for other tools are not answered; items of responses are", async () => {
  const spillway = await open();
  const { tools, responsesTools, answer, answerItem } = spillway.readBack("openai");
  expect(tools.map(({ function: { name } }) => name)).toEqual(["recall", "search"]);
  expect(responsesTools.map(({ name, strict }) => [name, strict])).toEqual([
    ["recall", false],
    ["search", false],
  ]);
  expect(await answer({ id: "c", function: { name: "other", arguments: "{}" } })).toBeNull();
  const { receipt } = await spillway.admit({ output: long, tool: "a" });
  const call = {
    type: "function_call",
    call_id: "c1",
    name: "recall",
    arguments: `{"id":"${receipt.artifact}","head":2}`,
  };
  expect(await answerItem(call)).toMatchObject({
    type: "function_call_output",
    call_id: "c1",
    output: expect.stringContaining("line 2"),
  });
});
