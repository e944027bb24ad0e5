import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { spillwayHooks } from "../../src/entrypoints/hook/claude-agent-sdk.ts";
import { memoryStore } from "../../src/extend.ts";
import { createSpillway } from "../../src/index.ts";
import { type FakeRequest, startFakeProvider } from "../../src/testing/index.ts";

/** The folder of Claude Code, which the SDK runs; `.ci/run` keeps one outside of the clone. */
const { SPILLWAY_CLAUDE_CODE: place = "" } = process.env;
const claude = join(place, "node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs");
const why = place === "" ? "SPILLWAY_CLAUDE_CODE names no folder" : existsSync(claude) ? "" : `there is no ${claude}`;
if (why !== "") process.stderr.write(`The Claude Agent SDK is not run with Claude Code: ${why}\n`);

const folder = mkdtempSync(join(tmpdir(), "spillway-agent-sdk-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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
  expect(await hook(null)).toEqual({});
});

describe.runIf(why === "")("with Claude Code", () => {
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
      const env = {
        PATH: process.env.PATH,
        HOME: folder,
        CLAUDE_CONFIG_DIR: join(folder, "config"),
        ANTHROPIC_BASE_URL: provider.url,
        ANTHROPIC_API_KEY: "fake",
        DISABLE_AUTOUPDATER: "1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        IS_SANDBOX: "1",
      };
      // What is no script of its own is started as a program.
      const started = join(folder, "claude");
      writeFileSync(started, `#!/bin/sh\nexec '${process.execPath}' '${claude}' "$@"\n`, { mode: 0o755 });
      const messages = query({
        prompt: "go",
        options: {
          cwd: folder,
          env,
          pathToClaudeCodeExecutable: started,
          permissionMode: "bypassPermissions",
          allowDangerouslySkipPermissions: true,
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
});

function hasTools({ body }: FakeRequest): boolean {
  return ((body?.tools ?? []) as { name?: string }[]).some(({ name }) => name === "Bash");
}

function resultsOf({ body }: FakeRequest): { type: string }[] {
  const messages = (body?.messages ?? []) as { content: string | { type: string }[] }[];
  return messages
    .flatMap(({ content }) => (typeof content === "string" ? [] : content))
    .filter(({ type }) => type === "tool_result");
}
