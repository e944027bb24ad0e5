import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type FakeRequest, startFakeProvider } from "../../dist/testing.js";
import { findAgent } from "./find-agent.ts";
import { CLI } from "./mcp-clients.ts";

const found = findAgent("@anthropic-ai/claude-code", ["@anthropic-ai/claude-code/cli-wrapper.cjs"]);
const why = "why" in found ? found.why : "";
if (why !== "") process.stderr.write(`Claude Code is not tested: ${why}\n`);
const [claude = ""] = "words" in found ? found.words : [];

const folder = mkdtempSync(join(tmpdir(), "spillway-claude-"));
// The agent may still be writing there.
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }));

describe.runIf(why === "")("Claude Code, in a mode that asks nothing", () => {
  test.each([
    ["denied, without Spillway", { deny: ["Bash(touch:*)"] }, false, "touch x"],
    ["denied, with Spillway", { deny: ["Bash(touch:*)"] }, true, "touch x"],
    ["denied in a part, with Spillway", { deny: ["Bash(touch:*)"] }, true, "echo a && 'touch' x"],
    ["to be asked about, with Spillway", { ask: ["Bash(touch:*)"] }, true, "touch x"],
  ])("a command is not run: %s", async (_name, permissions, isHooked, command) => {
    const { isMade, result } = await run({ permissions, isHooked, command });
    expect({ isMade, isError: result.is_error }).toEqual({ isMade: false, isError: true });
  });

  test("nor one that the start of the agent denies", async () => {
    const flags = ["--disallowedTools", "Bash(touch:*)"];
    const { isMade, result } = await run({ permissions: {}, isHooked: true, command: "touch x", flags });
    expect({ isMade, isError: result.is_error }).toEqual({ isMade: false, isError: true });
  });

  test.each([{}, { deny: ["Bash(curl:*)"] }])(
    "a command that no rule is about runs wrapped: %j",
    async (permissions) => {
      const { isMade, text } = await run({ permissions, isHooked: true, command: "touch x; seq 1 20000" });
      expect(isMade).toBe(true);
      // The agent itself would show the first 30,000 characters, and say nothing of an exit code that is 0.
      expect(text).toMatch(/\n20000\n.*spillway recall .*\n\[exit code 0\]$/);
    },
  );

  // It makes a function rg for its shell only where no program has that name.
  const hasRg = spawnSync("sh", ["-c", "command -v rg"]).status === 0;
  test.skipIf(hasRg)("a function of its own shell works in a wrapped command (not where rg is installed)", async () => {
    const { text } = await run({ permissions: {}, isHooked: true, command: "type rg; seq 1 20000" });
    expect(text).toMatch(/^rg is a (shell )?function/m);
    expect(text).toMatch(/spillway recall .*\n\[exit code 0\]$/);
  });

  test("all of a long output is judged and kept without a change to the command", async () => {
    const { text } = await run({ permissions: {}, isHooked: true, isWrapped: false, command: LONG });
    expect(text).toContain("ERROR: no symbol frobnicate");
    expect(text).toMatch(/of 214,885 bytes shown.*spillway recall [a-z2-7]{12} /);
    expect(text).not.toContain("persisted-output");
  });

  test("the plugin's markers name the tools that it brings", async () => {
    const flags = ["--plugin-dir", join(import.meta.dirname, "../../plugins/claude-code")];
    const { text, sent } = await run({ permissions: {}, isHooked: false, command: LONG, flags });
    const [, recall, search] = /Read it with (\w+)\(.* or find in it with (\w+)\(/.exec(text) ?? [];
    // The agent names tools that it has not described yet in a message.
    for (const tool of [recall, search]) expect(sent).toContain(`\\n${tool}\\n`);
  });
});

describe.runIf(why === "")("Claude Code through the gateway", () => {
  test("a long result is cut, and its marker names the command that reads it", async () => {
    const lines = LONG.replaceAll("6000", "700").replaceAll("4000", "400");
    const { text, sent, events } = await run({ permissions: {}, isHooked: false, command: lines, isServed: true });
    expect(text).toContain("ERROR: no symbol frobnicate");
    expect(text).toMatch(/of [\d,]+ bytes shown.*spillway recall [a-z2-7]{12} /);
    expect(text.length).toBeLessThan(20_001);
    // It has the shell that the marker speaks of.
    expect(sent).toContain('"name":"Bash"');
    expect(events).toContainEqual(
      expect.objectContaining({
        kind: "output-clamped",
        tool: "Bash",
        session: expect.stringMatching(/^claude-cli-/),
        more: expect.objectContaining({ wire: "anthropic", agent: "claude-cli", command: lines }),
      }),
    );
  });
});

/** Prints 6,000 lines with one error in the middle. */
const LONG = `awk 'BEGIN { for (i = 1; i <= 6000; i++) print i == 4000 ? "ERROR: no symbol frobnicate" : "step " i " of the build, all is well" }'`;

interface Session {
  permissions: object;
  isWrapped?: boolean;
  isHooked: boolean;
  command: string;
  flags?: string[];
  /** Puts the gateway before the provider. */
  isServed?: boolean;
}

/** One call of Bash in a project with these rules, and what the model is told of it. */
async function run({ permissions, isHooked, isWrapped = true, command, flags = [], isServed = false }: Session) {
  const home = mkdtempSync(join(folder, "home-"));
  const project = join(home, "project");
  const bin = join(home, "bin");
  for (const each of [project, join(project, ".claude"), bin]) mkdirSync(each);
  writeFileSync(join(project, ".claude/settings.local.json"), JSON.stringify({ permissions }));
  writeFileSync(join(bin, "spillway"), `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`);
  chmodSync(join(bin, "spillway"), 0o755);
  const provider = await startFakeProvider({
    speaks: "anthropic",
    script: (request) =>
      hasTools(request) && resultOf(request) === undefined
        ? { calls: [{ tool: "Bash", input: { command } }] }
        : "Done.",
  });
  const data = { PATH: process.env.PATH, HOME: home, SPILLWAY_DIR: join(home, "data") };
  const gateway = isServed ? await startGateway(provider.url, data) : null;
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: home,
    CLAUDE_CONFIG_DIR: join(home, "config"),
    SPILLWAY_DIR: join(home, "data"),
    ANTHROPIC_BASE_URL: gateway?.url ?? provider.url,
    ANTHROPIC_API_KEY: "fake",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    // It does not run without questions as the superuser, other than here.
    IS_SANDBOX: "1",
  };
  try {
    if (isHooked)
      await ended(
        "spillway",
        ["init", "claude-code", ...(isWrapped ? ["--wrap-commands"] : []), "--yes"],
        project,
        env,
      );
    const start = [claude, "-p", "go", "--permission-mode", "bypassPermissions", ...flags];
    const said = await ended(process.execPath, start, project, env);
    const result = provider.requests.map(resultOf).find((each) => each !== undefined);
    if (result === undefined) throw new Error(`no result of Bash was sent to the model; the agent said: ${said}`);
    const { content } = result;
    const text = typeof content === "string" ? content : content.map((block) => block.text ?? "").join("");
    const sent = JSON.stringify(provider.requests.map(({ body }) => body));
    const events = gateway === null ? [] : await eventsAt(gateway.url);
    return { isMade: existsSync(join(project, "x")), result, text, sent, events };
  } finally {
    gateway?.child.kill();
    await provider.stop();
  }
}

async function eventsAt(url: string): Promise<object[]> {
  return ((await (await fetch(`${url}/api/events`)).json()) as { items: object[] }).items;
}

async function startGateway(upstream: string, env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [CLI, "serve", "--port", "0", "--anthropic", upstream], { env });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (said) => resolve(/listens at (\S+)\. /.exec(String(said))?.[1] ?? ""));
    child.once("exit", reject);
  });
  return { child, url };
}

interface ToolResult {
  type: string;
  is_error?: boolean;
  content: string | { text?: string }[];
}

function hasTools({ body }: FakeRequest): boolean {
  return ((body?.tools ?? []) as { name?: string }[]).some(({ name }) => name === "Bash");
}

function resultOf({ body }: FakeRequest): ToolResult | undefined {
  const messages = (body?.messages ?? []) as { content: string | ToolResult[] }[];
  return messages
    .flatMap(({ content }) => (typeof content === "string" ? [] : content))
    .find(({ type }) => type === "tool_result");
}

/** What a command printed, once it has ended. */
function ended(command: string, args: string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], timeout: 240_000 });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
    child.once("error", reject);
    child.once("close", () => resolve(said));
  });
}
