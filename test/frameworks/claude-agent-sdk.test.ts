import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk";
import { afterAll, describe, expect, it, test } from "vitest";
import { z } from "zod";
import { spillwayHooks } from "../../src/entrypoints/hook/claude-agent-sdk.ts";
import { memoryStore } from "../../src/extend.ts";
import { createSpillway } from "../../src/index.ts";
import { type FakeRequest, startFakeProvider } from "../../src/testing/index.ts";
import { type AdapterRun, testAdapter } from "../../src/testing/test-adapter.ts";
import { findAgent } from "./find-agent.ts";

/** Claude Code, which the SDK runs. */
const claude = findAgent("@anthropic-ai/claude-code", ["@anthropic-ai/claude-code/cli-wrapper.cjs"]);
if ("why" in claude) process.stderr.write(`The Claude Agent SDK is not run with Claude Code: ${claude.why}\n`);

const folder = mkdtempSync(join(tmpdir(), "spillway-agent-sdk-"));
// The agent may still be writing there.
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }));

/** How a query starts Claude Code against a provider, with a home of its own. */
function options(url: string) {
  const home = mkdtempSync(join(folder, "home-"));
  const [script] = "words" in claude ? claude.words : [];
  // What is no script of its own is started as a program.
  const pathToClaudeCodeExecutable = join(home, "claude");
  writeFileSync(pathToClaudeCodeExecutable, `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`, {
    mode: 0o755,
  });
  return {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      CLAUDE_CONFIG_DIR: join(home, "config"),
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "fake",
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_MAX_RETRIES: "0",
      IS_SANDBOX: "1",
    },
    pathToClaudeCodeExecutable,
    permissionMode: "bypassPermissions" as const,
    allowDangerouslySkipPermissions: true,
  };
}

const long = Array.from({ length: 9000 }, (_, n) => `line ${n + 1} of it`).join("\n");
const open = () => createSpillway({ store: memoryStore({ maxBytes: 1e8 }), ledger: null, env: {} });

test("a result keeps the shape that its tool has; what is small, and what is read back, stays as it is", async () => {
  const [
    {
      hooks: [hook],
    },
  ] = spillwayHooks(await open()).PostToolUse as [{ hooks: [(input: unknown) => Promise<object>] }];
  const event = (tool_name: string, tool_response: unknown) =>
    hook({
      hook_event_name: "PostToolUse",
      session_id: "s",
      tool_name,
      tool_input: {},
      tool_use_id: "t",
      tool_response,
    });
  const bash = await event("Bash", { stdout: long, stderr: "", interrupted: false });
  expect(bash).toMatchObject({
    hookSpecificOutput: {
      hookEventName: "PostToolUse",
      updatedToolOutput: { stdout: expect.stringContaining("omitted"), stderr: "", interrupted: false },
    },
  });
  expect(await event("mcp__x__y", [{ type: "text", text: long }])).toMatchObject({
    hookSpecificOutput: { updatedToolOutput: [{ type: "text", text: expect.stringContaining("omitted") }] },
  });
  expect(await event("Bash", { stdout: "short", stderr: "" })).toEqual({});
  expect(await event("mcp__spillway__recall", [{ type: "text", text: long }])).toEqual({});
  expect(await hook({ hook_event_name: "PreToolUse" })).toEqual({});
  const [{ hooks: named = [] } = {}] = spillwayHooks(await open(), { server: "mine" }).PostToolUse;
  const asked = { hook_event_name: "PostToolUse", session_id: "s", tool_input: {}, tool_use_id: "t" };
  const tool_response = [{ type: "text", text: long }];
  expect(await named[0]?.({ ...asked, tool_name: "mcp__mine__recall", tool_response })).toEqual({});
  expect(await hook(null)).toEqual({});
});

describe.runIf("words" in claude)("with Claude Code", () => {
  test("results of its own tools and of a server's are clamped, and the model reads back by what the marker names", async () => {
    const spillway = await open();
    const big = tool("big", "gives a long text", {}, async () => ({ content: [{ type: "text", text: long }] }));
    const readBack = spillway.readBack("claude-agent-sdk", { z });
    const provider = await startFakeProvider({
      speaks: "anthropic",
      script: (request) => {
        const results = resultsOf(request);
        if (!hasTools(request)) return "Done.";
        if (results.length === 0)
          return {
            calls: [
              { tool: "mcp__t__big", input: {} },
              { tool: "Bash", input: { command: "seq 1 20000" } },
            ],
          };
        const [, name = "", id = ""] =
          /(mcp__\w+)\(\{\\*"id\\*":\\*"([a-z2-7]{12})/.exec(JSON.stringify(results)) ?? [];
        return results.length === 2 ? { calls: [{ tool: name, input: { id, lines: [4500, 4501] } }] } : "Done.";
      },
    });
    try {
      const messages = query({
        prompt: "go",
        options: {
          ...options(provider.url),
          hooks: spillwayHooks(spillway),
          mcpServers: {
            t: createSdkMcpServer({ name: "t", tools: spillway.wrapTools([big]), alwaysLoad: true }),
            spillway: createSdkMcpServer({ name: "spillway", tools: readBack, alwaysLoad: true }),
          },
        },
      });
      for await (const message of messages) if (message.type === "result") expect(message.is_error).toBe(false);
      const [mcp, bash, read] = provider.requests.map(resultsOf).findLast((results) => results.length >= 3) ?? [];
      expect(JSON.stringify(mcp)).toMatch(/omitted.*mcp__spillway__recall/);
      expect(JSON.stringify(bash)).toMatch(/20000.*mcp__spillway__recall/);
      expect(JSON.stringify(bash).length).toBeLessThan(60_000);
      expect(JSON.stringify(read)).toContain("line 4501 of it");
    } finally {
      await provider.stop();
    }
  });

  testAdapter(
    {
      name: "spillway/claude-agent-sdk with Claude Code",
      image: (text, data) => [
        { type: "text", text },
        { type: "image", data, mimeType: "image/png" },
      ],
      lacks: {
        values: "the application and the model get the same value",
        prune: "Claude Code makes its requests in a process of its own: the gateway prunes them",
        recover: "for the same reason the gateway recovers them",
      },
      run: runAgent,
    },
    { describe, it },
  );
});

/** A model's tool as the application named it. */
const ownName = (name: string) => name.replace(/^mcp__t__/, "");

async function runAgent(run: AdapterRun) {
  const { spillway, signal } = run;
  const provider = await startFakeProvider({
    speaks: "anthropic",
    script: (request) => {
      if (!hasTools(request)) return "Done.";
      const { messages, tools = [] } = request.body as { messages: { content: unknown }[]; tools?: { name: string }[] };
      const names = tools.map(({ name }) => name).filter((name) => name.startsWith("mcp__"));
      try {
        const reply = run.model({ messages: messages.map(saidIn), tools: names.map(ownName) });
        if ("text" in reply) return reply.text;
        const toolOf = (name: string) => (names.includes(name) ? name : `mcp__t__${name}`);
        return { calls: reply.calls.map(({ id, name, args }) => ({ id, tool: toolOf(name), input: args })) };
      } catch (error) {
        const { status = 500, message } = error as Error & { status?: number };
        const type = status === 401 ? "authentication_error" : "invalid_request_error";
        return { refusal: { status, body: { type: "error", error: { type, message } }, source: "this test" } };
      }
    },
  });
  const stop = new AbortController();
  if (signal?.aborted) stop.abort(signal.reason);
  signal?.addEventListener("abort", () => stop.abort(signal.reason));
  try {
    const made = run.tools.map(({ name, run: execute }) =>
      tool(name, name, { q: z.string().optional() }, async (args, extra) => {
        const value = await execute(args, (extra as { signal?: AbortSignal } | undefined)?.signal);
        if (Array.isArray(value)) return { content: value };
        return { content: [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }] };
      }),
    );
    const readBack = run.readBack && spillway ? spillway.readBack("claude-agent-sdk", { z }) : null;
    const tools = spillway ? spillway.wrapTools(made) : made;
    const t = createSdkMcpServer({ name: "t", tools, alwaysLoad: true });
    const messages = query({
      prompt: run.prompt,
      options: {
        ...options(provider.url),
        tools: ["Bash"],
        abortController: stop,
        includePartialMessages: run.stream,
        ...(spillway && { hooks: spillwayHooks(spillway) }),
        mcpServers: {
          ...(made.length > 0 && { t }),
          ...(readBack && { spillway: createSdkMcpServer({ name: "spillway", tools: readBack, alwaysLoad: true }) }),
        },
      },
    });
    const history: unknown[] = [];
    let pieces: string[] = [];
    let text = "";
    for await (const message of messages) {
      if (message.type === "user" || message.type === "assistant") history.push(message.message);
      if (message.type === "stream_event") {
        const { event } = message;
        if (event.type === "message_start") pieces = [];
        if (event.type === "content_block_delta" && event.delta.type === "text_delta") pieces.push(event.delta.text);
      }
      if (message.type !== "result") continue;
      if (message.subtype !== "success" || message.is_error)
        throw new Error("result" in message ? message.result : message.errors.join());
      text = message.result;
    }
    return { text, history, pieces };
  } finally {
    await provider.stop();
  }
}

/** A message without what Claude Code adds to it: reminders, where a cache ends, and where it keeps an image. */
function saidIn(message: { content: unknown }): unknown {
  if (!Array.isArray(message.content)) return message;
  const content = (message.content as { text?: string }[]).filter(({ text }) => !text?.startsWith("<system-reminder>"));
  const json = JSON.stringify({ ...message, content }, (name, value) => (name === "cache_control" ? undefined : value));
  return JSON.parse(json.replace(/\[Image: source: [^\]]+\]/g, "[Image]"));
}
function hasTools({ body }: FakeRequest): boolean {
  return ((body?.tools ?? []) as { name?: string }[]).some(({ name }) => name === "Bash");
}

function resultsOf({ body }: FakeRequest): { type: string }[] {
  const messages = (body?.messages ?? []) as { content: string | { type: string }[] }[];
  return messages
    .flatMap(({ content }) => (typeof content === "string" ? [] : content))
    .filter(({ type }) => type === "tool_result");
}
