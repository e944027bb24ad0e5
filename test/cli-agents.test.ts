import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "spillway-agents-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const env = { PATH: process.env.PATH, HOME: folder, SPILLWAY_DIR: join(folder, "data") };

function spillway(args: string[], input: string | Buffer = "", cwd = folder) {
  return spawnSync(process.execPath, [CLI, ...args], {
    input,
    cwd,
    env,
    encoding: "utf8",
    timeout: 240_000,
    maxBuffer: 1e9,
  });
}

const log = Array.from({ length: 5000 }, (_, i) => `line ${i + 1} of a log`).join("\n");
const after = (tool_name: unknown, tool_response: unknown) =>
  JSON.stringify({ hook_event_name: "PostToolUse", session_id: "s", tool_use_id: "t", tool_name, tool_response });

describe("spillway hook", () => {
  const deep: unknown = JSON.parse(`${'{"a":'.repeat(3000)}1${"}".repeat(3000)}`);
  it.each<[string, string | Buffer]>([
    ["nothing", ""],
    ["garbage", "this is no JSON {"],
    ["bytes that are no text", Buffer.from([0xff, 0xfe, 0, 1, 2])],
    ["half an event", after("Bash", { stdout: log }).slice(0, -10)],
    ["null", "null"],
    ["a list", "[]"],
    ["another event", JSON.stringify({ hook_event_name: "Stop" })],
    ["an event without a result", JSON.stringify({ hook_event_name: "PostToolUse" })],
    ["odd types", JSON.stringify({ hook_event_name: "PostToolUse", tool_name: 5, session_id: [], tool_response: 7 })],
    ["a small result", after("Bash", { stdout: "ok\n", stderr: "", interrupted: false })],
    ["20 MB of garbage", "x".repeat(20_000_000)],
  ])("%s: exit code 0 and no answer", (_name, input) => {
    const { status, stdout } = spillway(["hook"], input);
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
  });

  it("an empty input is told in words of ours", () => {
    const { stderr } = spillway(["hook"], "");
    expect(stderr).toBe("spillway: standard input has no event of an agent in JSON: it is empty\n");
  });

  describe("before a command", () => {
    const config = join(folder, "config");
    const before = (cwd: string) =>
      JSON.stringify({
        hook_event_name: "PreToolUse",
        permission_mode: "bypassPermissions",
        cwd,
        tool_name: "Bash",
        tool_input: { command: "touch x" },
      });
    const hook = (cwd: string, flags: string[] = [], more: NodeJS.ProcessEnv = {}) =>
      // A shell that stays, as an agent does, with flags that it does not read.
      spawnSync("sh", ["-c", `'${process.execPath}' '${CLI}' hook; exit $?`, "agent", ...flags], {
        input: before(cwd),
        cwd: folder,
        env: { ...env, CLAUDE_CONFIG_DIR: config, ...more },
        encoding: "utf8",
      });
    const write = (path: string, text: string) => {
      mkdirSync(join(path, ".."), { recursive: true });
      writeFileSync(path, text);
    };
    const denied = JSON.stringify({ permissions: { deny: ["Bash(touch:*)"] } });

    it("wraps it where no rule is, and leaves it alone where one is in any folder of the session", () => {
      const [free, project, user] = ["free", "ruled", "user"].map((name) => join(folder, name)) as [
        string,
        string,
        string,
      ];
      write(join(project, ".claude/settings.json"), denied);
      write(join(user, "settings.json"), denied);
      expect(hook(free).stdout).toContain("spillway run");
      expect(hook(join(project, "src")).stdout).toBe("");
      expect(hook(free, [], { CLAUDE_PROJECT_DIR: project }).stdout).toBe("");
      expect(hook(free, [], { CLAUDE_CONFIG_DIR: user }).stdout).toBe("");
    });

    it("leaves it alone where the rules cannot be read, and says why", () => {
      const odd = join(folder, "unread");
      write(join(odd, ".claude/settings.local.json"), "{ // a comment\n}");
      expect(hook(odd)).toMatchObject({ status: 0, stdout: "", stderr: expect.stringContaining("JSON") });
    });

    it("leaves it alone where the agent's title hides how it was started", () => {
      const script = `process.title = "claude"; const { spawnSync } = require("node:child_process");
        const { status } = spawnSync(process.execPath, [${JSON.stringify(CLI)}, "hook"], { stdio: "inherit" });
        process.exit(status);`;
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        ["-e", script, "--", "--disallowedTools", "Bash"],
        {
          input: before(folder),
          cwd: folder,
          env: { ...env, CLAUDE_CONFIG_DIR: config },
          encoding: "utf8",
        },
      );
      expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
      expect(stderr).toContain("how it was started");
    });

    it.each(["--disallowedTools", "--disallowed-tools", "--settings={}", "--managed-settings"])(
      "leaves it alone where the agent was started with %s",
      (flag) => {
        const { status, stdout, stderr } = hook(folder, [flag, "Bash(touch:*)"]);
        expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
        expect(stderr).toContain("started with");
      },
    );
  });

  it("a result that is deep: exit code 0", () => {
    expect(spillway(["hook"], after("Bash", deep)).status).toBe(0);
  });

  it("answers a long result in its shape, and the marker's command reads the rest", () => {
    const made = { ...JSON.parse(after("Bash", { stdout: log, stderr: "", interrupted: false })), cwd: "/srv/app" };
    const event = JSON.stringify({ ...made, tool_input: { command: "npm run build" } });
    const { status, stdout } = spillway(["hook"], event);
    expect(spillway(["last"]).stdout).toMatch(/^command +npm run build\nfolder +\/srv\/app$/m);
    expect(status).toBe(0);
    const { updatedToolOutput } = JSON.parse(stdout).hookSpecificOutput;
    expect(updatedToolOutput).toMatchObject({ stderr: "", interrupted: false });
    expect(updatedToolOutput.stdout.length).toBeLessThanOrEqual(20_000);
    const id = /spillway recall (\w+) --lines/.exec(updatedToolOutput.stdout)?.[1] ?? "";
    expect(spillway(["recall", id, "--lines", "2500-2500"]).stdout).toContain("line 2500 of a log");
    // Where only the hook keeps things, it applies retention too.
    expect(existsSync(join(env.SPILLWAY_DIR, "collected"))).toBe(true);
  });

  it("answers the agent that it is told, and Claude Code if it is told none", () => {
    const input = after("Bash", { stdout: log, stderr: "", interrupted: false });
    expect(spillway(["hook", "claude-code"], input).stdout).toBe(spillway(["hook"], input).stdout);
  });

  it("knows another agent that runs the hooks of Claude Code by its events", () => {
    const ask = (more: object) => {
      const event = { hook_event_name: "PostToolUse", session_id: "s", tool_name: "mcp__a__b", ...more };
      const { stdout } = spillway(["hook", "--recall-tools", "mcp__plugin_"], JSON.stringify(event));
      return JSON.parse(stdout) as Record<string, never>;
    };
    const shown = expect.stringMatching(/Read it with: spillway recall/);
    const content = [{ type: "text", text: log }];
    expect(ask({ turn_id: "1", tool_response: { content } })).toEqual({ decision: "block", reason: shown });
    const tool_result = { result_type: "success", text_result_for_llm: log };
    expect(ask({ tool_result })).toEqual({ modifiedResult: { resultType: "success", textResultForLlm: shown } });
    expect(JSON.stringify(ask({ tool_response: content }))).toContain("mcp__plugin_recall(");
  });

  it("a result of 50 MB is answered", () => {
    const { status, stdout } = spillway(["hook"], after("Bash", { stdout: `${log}\n`.repeat(500), stderr: "" }));
    expect(status).toBe(0);
    expect(JSON.parse(stdout).hookSpecificOutput.updatedToolOutput.stdout.length).toBeLessThanOrEqual(20_000);
  });

  it("a store that cannot be opened, a wrong config and a wrong flag stop no tool", () => {
    const blocked = join(folder, "blocked");
    writeFileSync(blocked, "a file, no folder");
    const input = after("Bash", { stdout: log });
    const unsaved = spillway(["hook", "--dir", blocked], input);
    expect(unsaved.status).toBe(0);
    expect(JSON.parse(unsaved.stdout).hookSpecificOutput.updatedToolOutput.stdout).toContain("was not saved");
    const project = join(folder, "wrong");
    mkdirSync(project);
    writeFileSync(join(project, "spillway.yaml"), "default: [");
    expect(spillway(["hook"], input, project).status).toBe(0);
    // 2 would stop the tool; 1 is shown to the user only.
    expect(spillway(["hook", "--no-such-flag"], input).status).toBe(1);
    const unknown = spillway(["hook", "some-agent"], input);
    expect(unknown).toMatchObject({ status: 1, stdout: "", stderr: expect.stringContaining("known are claude-code") });
    expect(spillway(["hook", "--help"]).stdout).toMatch(/ends with 1, not with 2/);
  });

  it("waits on a pipe that does not wait itself", async () => {
    const path = join(folder, "pipe");
    expect(spawnSync("mkfifo", [path]).status).toBe(0);
    const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const write = openSync(path, constants.O_WRONLY);
    const child = spawn(process.execPath, [CLI, "hook"], {
      stdio: [read, "pipe", "ignore"],
      env,
      cwd: folder,
      timeout: 240_000,
    });
    closeSync(read);
    await sleep(300);
    writeSync(
      write,
      JSON.stringify({
        hook_event_name: "PreToolUse",
        permission_mode: "bypassPermissions",
        tool_name: "Bash",
        tool_input: { command: "make" },
      }),
    );
    closeSync(write);
    let stdout = "";
    for await (const chunk of child.stdout ?? []) stdout += String(chunk);
    expect(JSON.parse(stdout).hookSpecificOutput.updatedInput.command).toMatch(/spillway run .* 'make'/s);
  });
});

describe("spillway mcp", () => {
  it("says that there is no such server, and ends with 127; 126 for one that may not be run", () => {
    const none = spillway(["mcp", "--", "no-such-server-here"]);
    expect(none.stderr).toBe('spillway: The MCP server "no-such-server-here" cannot be run: no such command.\n');
    expect(none.status).toBe(127);
    const file = join(folder, "not-a-program");
    writeFileSync(file, "");
    expect(spillway(["mcp", "--", file])).toMatchObject({
      status: 126,
      stderr: expect.stringContaining("permission denied"),
    });
  });

  it("sends a token that the environment or a file has, which may change meanwhile", async () => {
    const seen: unknown[] = [];
    const server = createServer(async (request, response) => {
      seen.push(request.headers.authorization);
      const { id } = (await json(request)) as { id: number };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [] } }));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const token = join(folder, "token");
    const talk = async (flags: string[], ...steps: (() => void)[]) => {
      const child = spawn(process.execPath, [CLI, "mcp", "--url", url, ...flags], {
        stdio: ["pipe", "pipe", "ignore"],
        env: { ...env, MY_TOKEN: "of-the-environment" },
        timeout: 240_000,
      });
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
      const answers: string[] = [];
      for (const [id, step] of steps.entries()) {
        step();
        child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "t" } })}\n`);
        answers.push((await lines.next()).value);
      }
      child.stdin.end();
      const [code] = await once(child, "exit");
      return { answers, code: code as unknown };
    };
    try {
      writeFileSync(token, "one\n");
      await talk(["--token-env", "MY_TOKEN"], () => {});
      const { answers, code } = await talk(
        ["--token-file", token],
        () => {},
        () => writeFileSync(token, "two"),
        () => rmSync(token),
      );
      expect(seen).toEqual(["Bearer of-the-environment", "Bearer one", "Bearer two"]);
      expect(answers[2]).toMatch(/cannot be asked: --token-file .* cannot be read: no such file.*"isError":true/);
      expect(code).toBe(0);
    } finally {
      server.close().closeAllConnections();
    }
    expect(spillway(["mcp", "--url", url, "--token-env", "NO_SUCH_TOKEN"])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("there is no token in the variable NO_SUCH_TOKEN, which --token-env names"),
    });
  });
});

describe("spillway init", () => {
  const project = join(folder, "project");
  const path = join(project, ".claude", "settings.json");
  const settings = () => JSON.parse(readFileSync(path, "utf8"));
  mkdirSync(project);

  it("shows the change, writes nothing unasked, and asks nobody who is not there", () => {
    const dry = spillway(["init", "claude-code", "--dry-run"], "", project);
    expect(dry.status).toBe(0);
    expect(dry.stdout).toContain('"command": "spillway hook"');
    const unasked = spillway(["init", "claude-code"], "y\n", project);
    expect(unasked.status).not.toBe(0);
    expect(unasked.stderr).toContain("--yes");
    expect(existsSync(path)).toBe(false);
  });

  it("leaves alone what it does not understand, and says what", () => {
    const odd = join(folder, "odd");
    const file = join(odd, ".claude", "settings.json");
    mkdirSync(join(odd, ".claude"), { recursive: true });
    for (const [hooks, words] of [
      [{ PostToolUse: { a: 1 } }, 'hooks.PostToolUse must be a list; got {"a":1}'],
      [null, "hooks must be an object; got null"],
      ["x", 'hooks must be an object; got "x"'],
    ] as const) {
      const before = JSON.stringify({ hooks });
      writeFileSync(file, before);
      const { stderr, status } = spillway(["init", "claude-code", "--yes"], "", odd);
      expect(stderr).toContain(words);
      expect(status).toBe(2);
      expect(readFileSync(file, "utf8")).toBe(before);
    }
  });

  it("writes, keeps what was there, is done once, and undoes it", () => {
    const before = {
      model: "x",
      hooks: { PostToolUse: [{ matcher: "Edit", hooks: [{ type: "command", command: "fmt" }] }] },
    };
    mkdirSync(join(project, ".claude"));
    writeFileSync(path, JSON.stringify(before));
    expect(spillway(["init", "claude-code", "--yes", "--wrap-commands"], "", project).status).toBe(0);
    expect(settings().model).toBe("x");
    expect(settings().hooks.PostToolUse).toHaveLength(2);
    expect(settings().hooks.PreToolUse).toHaveLength(1);
    const written = readFileSync(path, "utf8");
    const again = spillway(["init", "claude-code", "--yes", "--wrap-commands"], "", project);
    expect(again.stderr).toContain("is as it should be");
    expect(readFileSync(path, "utf8")).toBe(written);
    expect(spillway(["init", "claude-code", "--remove", "--yes"], "", project).status).toBe(0);
    expect(settings()).toEqual(before);
  });

  it("takes out only its own command where it shares a row with another's", () => {
    const shared = join(folder, "shared");
    const file = join(shared, ".claude", "settings.json");
    const other = { type: "command", command: "fmt" };
    const row = (...hooks: object[]) => ({ hooks: { PostToolUse: [{ matcher: "Bash", hooks }] } });
    mkdirSync(join(shared, ".claude"), { recursive: true });
    writeFileSync(file, JSON.stringify(row({ type: "command", command: "spillway hook" }, other)));
    expect(spillway(["init", "claude-code", "--remove", "--yes"], "", shared).status).toBe(0);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(row(other));
  });

  it("keeps the file of before until it is undone, and gives that back; a file of its own is removed", () => {
    const own = join(folder, "undone");
    const file = join(own, ".claude", "settings.json");
    const backup = `${file}.before-spillway`;
    const init = (...flags: string[]) => spillway(["init", "claude-code", "--yes", ...flags], "", own);
    mkdirSync(own);
    init();
    expect(init("--remove").stderr).toContain("is removed");
    expect([existsSync(file), existsSync(backup)]).toEqual([false, false]);

    // The folder went with its only file.
    mkdirSync(join(own, ".claude"));
    const first = '{"model":   "x"}';
    writeFileSync(file, first);
    init();
    init("--wrap-commands");
    expect(readFileSync(backup, "utf8")).toBe(first);
    init("--remove");
    expect(readFileSync(file, "utf8")).toBe(first);
    expect(existsSync(backup)).toBe(false);

    init();
    writeFileSync(file, readFileSync(file, "utf8").replace('"x"', '"y"'));
    init("--remove");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ model: "y" });
    expect(readFileSync(backup, "utf8")).toBe(first);
  });

  it("a file that is no JSON and an agent it does not know are refused, and nothing is changed", () => {
    writeFileSync(path, "{ // a comment\n}");
    const { status, stderr } = spillway(["init", "claude-code", "--yes"], "", project);
    expect(status).not.toBe(0);
    expect(stderr).toContain("not read and not changed");
    expect(readFileSync(path, "utf8")).toBe("{ // a comment\n}");
    expect(spillway(["init", "some-agent"], "", project).stderr).toContain("claude-code");
  });
});

describe("the plugin for Claude Code", () => {
  const read = (name: string) => JSON.parse(readFileSync(join("plugins/claude-code", name), "utf8"));
  const commandNames = () => spillway(["--help"]).stdout;

  it("is shipped, with the package's version", () => {
    expect(manifest.files).toContain("plugins");
    expect(read(".claude-plugin/plugin.json")).toMatchObject({ name: "spillway", version: manifest.version });
  });

  it("stands in the marketplace file, which is shipped too", () => {
    const { name, plugins } = JSON.parse(readFileSync(".claude-plugin/marketplace.json", "utf8"));
    expect([name, manifest.files.includes(".claude-plugin")]).toEqual(["spillway", true]);
    expect(plugins).toEqual([expect.objectContaining({ name: "spillway", source: "./plugins/claude-code" })]);
  });

  it.each([
    ["gemini", "mcp_spillway_"],
    ["qwen", "mcp__spillway__"],
  ])("the extension for %s has the hooks that init sets, and names its own tools", (agent, prefix) => {
    const readOf = (name: string) => JSON.parse(readFileSync(join("plugins", agent, name), "utf8"));
    expect(readOf(`${agent}-extension.json`)).toMatchObject({
      name: "spillway",
      version: manifest.version,
      mcpServers: read(".mcp.json").mcpServers,
    });
    const project = join(folder, `compared-${agent}`);
    mkdirSync(project);
    spillway(["init", agent, "--yes"], "", project);
    const set = readFileSync(join(project, `.${agent}`, "settings.json"), "utf8");
    const command = `spillway hook --agent ${agent}`;
    expect(readOf("hooks/hooks.json")).toEqual(
      JSON.parse(set.replaceAll(command, `${command} --recall-tools ${prefix}`)),
    );
  });

  it("its hook is the one that init sets, names the plugin's tools, and runs", () => {
    const { hooks } = read("hooks/hooks.json");
    const project = join(folder, "compared");
    mkdirSync(project);
    spillway(["init", "claude-code", "--yes"], "", project);
    const set = JSON.parse(readFileSync(join(project, ".claude", "settings.json"), "utf8")).hooks;
    const prefix = "mcp__plugin_spillway_spillway__";
    set.PostToolUse[0].hooks[0].command += ` --recall-tools ${prefix}`;
    expect(hooks).toEqual(set);
    const [, ...args] = hooks.PostToolUse[0].hooks[0].command.split(" ");
    expect(commandNames()).toContain("hook");
    const { updatedToolOutput } = JSON.parse(spillway(args, after("Bash", { stdout: log })).stdout).hookSpecificOutput;
    expect(updatedToolOutput.stdout).toMatch(new RegExp(`${prefix}recall.*${prefix}search`));
  });

  it("its server offers recall and search, and nothing else", () => {
    const { command, args } = read(".mcp.json").mcpServers.spillway;
    expect(command).toBe("spillway");
    const ask = (id: number, method: string, params = {}) =>
      `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
    const { stdout, status } = spillway(
      args,
      ask(1, "initialize", { protocolVersion: "2025-06-18" }) + ask(2, "tools/list"),
    );
    expect(status).toBe(0);
    const [, listed] = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(listed.result.tools.map(({ name }: { name: string }) => name)).toEqual(["recall", "search"]);
  });
});

describe("spillway tools", () => {
  it("does not run commands for whoever can reach a port", () => {
    const { status, stderr } = spillway(["tools", "--allow-commands", "--listen", "0"]);
    expect(status).toBe(2);
    expect(stderr).toContain("--allow-commands and --listen exclude each other");
  });

  it("says at its start that commands need more than Windows has", () => {
    const asWindows = join(folder, "as-windows.cjs");
    writeFileSync(asWindows, 'Object.defineProperty(process, "platform", { value: "win32" });');
    const { status, stderr } = spawnSync(process.execPath, ["-r", asWindows, CLI, "tools", "--allow-commands"], {
      input: "",
      env,
      cwd: folder,
      encoding: "utf8",
      timeout: 240_000,
    });
    expect(status).toBe(2);
    expect(stderr).toContain("--allow-commands does not work on Windows");
  });

  it("runs commands only where that is allowed, ends them with itself, and reads nothing of its own input for them", async () => {
    const ask = (id: number, name: string, args = {}) =>
      `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } })}\n`;
    const refused = spillway(["tools"], ask(1, "run_command", { command: "echo hi" }));
    expect(refused.stdout).toContain("there is no tool");
    const child = spawn(process.execPath, [CLI, "tools", "--allow-commands"], {
      stdio: ["pipe", "pipe", "ignore"],
      env,
      cwd: folder,
      timeout: 240_000,
    });
    let stdout = "";
    child.stdout.on("data", (chunk) => {
      stdout += String(chunk);
    });
    child.stdin.write(ask(1, "run_command", { command: "cat; echo $$ > fore; exec sleep 500" }));
    child.stdin.write(ask(2, "run_command", { command: "echo $$ > back; exec sleep 500", background: true }));
    child.stdin.write(ask(3, "list_directory"));
    const pidIn = (name: string) => existsSync(join(folder, name)) && readFileSync(join(folder, name), "utf8").trim();
    while (!/"id":3/.test(stdout) || !["fore", "back"].every(pidIn)) await sleep(20);
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.stdin.end();
    expect(await ended).toBe(0);
    for (const name of ["fore", "back"]) {
      // Ended, whether or not its new parent has taken notice (Z).
      const stateOf = () => spawnSync("ps", ["-o", "stat=", "-p", String(pidIn(name))], { encoding: "utf8" }).stdout;
      await expect.poll(stateOf).toMatch(/^(Z.*)?\s*$/);
    }
  });
});
