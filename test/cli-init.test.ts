import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { AGENT_NAMES } from "../src/entrypoints/hook/agents/index.ts";

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "spillway-init-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A home with a project in it, and the command on its path. */
function newHome(files: Record<string, string> = {}) {
  const home = mkdtempSync(join(folder, "home-"));
  const project = join(home, "project");
  const bin = join(home, "bin");
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  };
  for (const each of [project, bin]) mkdirSync(each);
  put("bin/spillway", `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`);
  chmodSync(join(bin, "spillway"), 0o755);
  for (const [path, text] of Object.entries(files)) put(path, text);
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: home, SPILLWAY_DIR: join(home, "data") };
  const run = (args: string[], more: NodeJS.ProcessEnv = {}, input: string | Buffer = "") =>
    spawnSync(process.execPath, [CLI, ...args], {
      cwd: project,
      env: { ...env, ...more },
      input,
      encoding: "utf8",
      timeout: 240_000,
    });
  const init = (args: string, more: NodeJS.ProcessEnv = {}) => run(["init", ...args.split(" "), "--yes"], more);
  const read = (path: string) => readFileSync(join(home, path), "utf8");
  return { home, put, run, init, read };
}

/** Every folder and file under a folder, files with their text, other than what Node keeps compiled. */
function filesIn(root: string, under = ""): Record<string, string> {
  return Object.fromEntries(
    readdirSync(join(root, under), { withFileTypes: true }).flatMap((entry) => {
      const path = join(under, entry.name);
      if (path === ".cache") return [];
      return entry.isDirectory()
        ? [[`${path}/`, ""], ...Object.entries(filesIn(root, path))]
        : [[path, readFileSync(join(root, path), "latin1")]];
    }),
  );
}

const OWN = '{ "model":"x",\t"hooks": {"Stop": [ ]} }';
const COMMENTED = '\ufeff{\r\n  // mine\r\n  "ui": { "theme": "x", }, /* more */\r\n}\r\n';
/** Settings that each agent may have, by where they are. */
const SETTINGS: Record<string, string[]> = {
  "claude-code": [".claude/settings.json", OWN],
  codex: [".codex/hooks.json", OWN],
  gemini: [".gemini/settings.json", COMMENTED],
  qwen: [".qwen/settings.json", COMMENTED],
  opencode: [".config/opencode/opencode.json", OWN],
  pi: [".pi/agent/models.json", OWN],
  copilot: [".copilot/config.json", OWN],
  cursor: [".cursor/hooks.json", OWN],
};

describe.each(AGENT_NAMES)("spillway init %s", (name) => {
  it("writes its hooks once, and --remove restores every file to the byte", () => {
    for (const [path, text] of [[], [SETTINGS[name]?.[0], SETTINGS[name]?.[1]], [SETTINGS[name]?.[0], "{}"]]) {
      const { home, init } = newHome(path === undefined || text === undefined ? {} : { [path]: text });
      const before = filesIn(home);
      for (const whose of ["--user", "--project"]) {
        expect(init(`${name} ${whose}`)).toMatchObject({ status: 0 });
        const set = filesIn(home);
        expect(Object.values(set).join("\n")).toMatch(
          name === "claude-code" ? /spillway hook"/ : new RegExp(`hook(", "| )--agent(", "| )${name}`),
        );
        expect(init(`${name} ${whose}`).stderr).toContain("is as it should be");
        expect(filesIn(home)).toEqual(set);
        expect(init(`${name} ${whose} --remove`).status).toBe(0);
        expect(filesIn(home)).toEqual(before);
        expect(init(`${name} ${whose} --remove`).stderr).toContain("has nothing of ours");
      }
    }
  });

  it("its hook is silent and ends well, whatever comes in", () => {
    const { run } = newHome();
    const inputs = [
      "",
      "null",
      "[]",
      "{",
      '{"hook_event_name":"Nope"}',
      Buffer.from([0xff, 0, 0xfe, 0x22, 1]),
      '"x"',
      "7",
    ];
    for (const input of inputs)
      expect([input, run(["hook", "--agent", name], {}, input)]).toMatchObject([input, { status: 0, stdout: "" }]);
  });
});

describe("what was there stays", () => {
  it("a link stays a link, and a mode stays a mode", () => {
    const { home, init, read } = newHome({ "dotfiles/settings.json": OWN });
    mkdirSync(join(home, ".claude"));
    const link = join(home, ".claude/settings.json");
    symlinkSync(join(home, "dotfiles/settings.json"), link);
    chmodSync(join(home, "dotfiles/settings.json"), 0o640);
    init("claude-code --user");
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(read("dotfiles/settings.json")).toContain("spillway hook");
    expect(statSync(link).mode & 0o777).toBe(0o640);
    init("claude-code --user --remove");
    expect([lstatSync(link).isSymbolicLink(), read("dotfiles/settings.json")]).toEqual([true, OWN]);
  });

  it("comments, a byte order mark and line breaks, also where the settings have been changed meanwhile", () => {
    const { home, put, init, read } = newHome({ ".gemini/settings.json": COMMENTED });
    init("gemini --user");
    const set = read(".gemini/settings.json");
    expect(set.startsWith("\ufeff{\r\n  // mine\r\n")).toBe(true);
    expect(set.replaceAll("\r\n", "")).not.toContain("\n");
    put(".gemini/settings.json", set.replace('"x"', '"y" /* changed */'));
    init("gemini --user --remove");
    expect(read(".gemini/settings.json")).toBe(COMMENTED.replace('"x"', '"y" /* changed */'));
    expect(existsSync(join(home, ".gemini/settings.json.before-spillway"))).toBe(true);
  });

  it("what the first init set up, with its flags; --no-wrap-commands takes one back", () => {
    const { put, init, read } = newHome();
    const hooks = () => Object.keys(JSON.parse(read(".claude/settings.json")).hooks);
    init("claude-code --user --wrap-commands");
    put(".claude/settings.json", read(".claude/settings.json").replace("spillway hook", "spillway hook --max-lines 9"));
    init("claude-code --user");
    expect(hooks()).toEqual(["PostToolUse", "PreToolUse"]);
    expect(read(".claude/settings.json")).toContain("spillway hook --max-lines 9");
    init("claude-code --user --no-wrap-commands");
    expect(hooks()).toEqual(["PostToolUse"]);
  });

  it("odd settings are not touched, and the error says what is wrong and where", () => {
    for (const [text, words] of [
      ['{"hooks": []}', "hooks must be an object; got []"],
      ['{"hooks": {"AfterTool": 7}}', "hooks.AfterTool must be a list; got 7"],
      ["[1]", "it holds no object"],
      ["{ open", "Unexpected"],
      [Buffer.from([0x7b, 0xff, 0x7d]).toString("latin1"), "not read and not changed"],
    ] as const) {
      const { home, init } = newHome();
      mkdirSync(join(home, ".gemini"));
      writeFileSync(join(home, ".gemini/settings.json"), text, "latin1");
      const { status, stderr } = init("gemini --user");
      expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(words) });
      expect(stderr).toContain(".gemini/settings.json");
      expect(readFileSync(join(home, ".gemini/settings.json"), "latin1")).toBe(text);
    }
  });
});

describe("a project that others have made", () => {
  const MINE = '{"model":"mine"}';
  /** A home with settings of the user, and a project with links in it. */
  const hostile = (files: Record<string, string>, links: Record<string, string>) => {
    const made = newHome({ ".claude/settings.json": MINE, ...files });
    for (const [path, to] of Object.entries(links)) {
      mkdirSync(dirname(join(made.home, path)), { recursive: true });
      symlinkSync(join(made.home, to), join(made.home, path));
    }
    return made;
  };

  it.each([
    ["claude-code", "project/.claude/settings.json", '{"evil":1}'],
    ["mcp --project", "project/.mcp.json", '{"mcpServers":{"a":{"command":"x"}}}'],
    ["opencode", "project/.opencode/plugin/spillway.js", "// evil\n"],
  ])("init %s never writes the copy of a file through a link", (args, path, text) => {
    const { home, init, read } = hostile({ [path]: text }, { [`${path}.before-spillway`]: ".claude/settings.json" });
    const { status, stderr } = init(args);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining("not a regular file") });
    expect(stderr).toContain(`${join(home, path)}.before-spillway`);
    expect([read(".claude/settings.json"), read(path)]).toEqual([MINE, text]);
  });

  it.each([
    ["claude-code", { "project/.claude/settings.json": ".claude/settings.json" }],
    ["claude-code", { "project/.claude": ".claude" }],
    ["opencode", { "project/.opencode": ".claude" }],
    ["mcp --project", { "project/.mcp.json": "servers.json" }],
  ])("init %s refuses a link out of the project, and names where it leads", (args, links) => {
    const { home, init } = hostile({ "servers.json": '{"mcpServers":{"a":{"command":"x"}}}' }, links);
    const before = filesIn(join(home, ".claude"));
    const servers = readFileSync(join(home, "servers.json"), "utf8");
    const { status, stderr } = init(args);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringContaining("is a link out of the project, to "),
    });
    expect(stderr).toContain(join(realpathSync(home), Object.values(links)[0] ?? ""));
    expect([filesIn(join(home, ".claude")), readFileSync(join(home, "servers.json"), "utf8")]).toEqual([
      before,
      servers,
    ]);
  });

  it("a link within the project stays one", () => {
    const { home, init, read } = hostile(
      { "project/shared/settings.json": OWN },
      { "project/.claude/settings.json": "project/shared/settings.json" },
    );
    expect(init("claude-code").status).toBe(0);
    expect(lstatSync(join(home, "project/.claude/settings.json")).isSymbolicLink()).toBe(true);
    expect(read("project/shared/settings.json")).toContain("spillway hook");
    init("claude-code --remove");
    expect(read("project/shared/settings.json")).toBe(OWN);
  });

  it("the name under which a file is written cannot be known", () => {
    const { home, read } = hostile({ "project/.claude/settings.json": "{}" }, {});
    const project = join(home, "project");
    // The shell's process becomes the command, so that it knows the command's number.
    const script = `ln -s "$HOME/.claude/settings.json" ".claude/settings.json.$$.tmp" && exec '${process.execPath}' '${CLI}' init claude-code --yes`;
    const env = { PATH: process.env.PATH, HOME: home, SPILLWAY_DIR: join(home, "data") };
    expect(spawnSync("sh", ["-c", script], { cwd: project, env, timeout: 240_000 }).status).toBe(0);
    expect(read(".claude/settings.json")).toBe(MINE);
    expect(lstatSync(join(project, ".claude/settings.json")).isFile()).toBe(true);
    expect(read("project/.claude/settings.json")).toContain("spillway hook");
  });

  it("what is not a regular file is refused, without waiting for it", () => {
    const { home, init } = newHome();
    mkdirSync(join(home, "project/.claude"));
    spawnSync("mkfifo", [join(home, "project/.claude/settings.json")]);
    const { status, stderr } = init("claude-code");
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining("it is not a regular file") });
  });
});

describe.each([
  ["opencode", "project/.opencode/plugin/spillway.js", '// my own\nspawn("spillway");\n'],
  ["pi", "project/.pi/extensions/spillway.js", '// my own\r\nspawn("spillway");\r\n'],
  ["copilot", "project/.github/hooks/spillway.json", '{"version":1, "hooks":{"postToolUse":[{"bash":"mine"}]}}'],
])("a file of the user where init %s writes its own", (name, path, text) => {
  it("comes back to the byte with --remove", () => {
    const { home, init, read } = newHome({ [path]: text });
    const before = filesIn(home);
    expect(init(name).status).toBe(0);
    expect(read(path)).toContain(name === "copilot" ? "spillway hook --agent copilot" : `spillway init ${name}`);
    expect(init(name).stderr).toContain("is as it should be");
    expect(init(`${name} --remove`).status).toBe(0);
    expect(filesIn(home)).toEqual(before);
  });

  it("stays where --remove finds nothing of ours, and --list does not take it for ours", () => {
    const { home, init, run } = newHome({ [path]: text });
    mkdirSync(join(home, { opencode: ".config/opencode", pi: ".pi/agent" }[name] ?? ".copilot"), { recursive: true });
    const before = filesIn(home);
    const { status, stderr } = init(`${name} --remove`);
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringContaining(
        name === "copilot" ? "has nothing of ours" : "stays: spillway init did not write it",
      ),
    });
    expect(filesIn(home)).toEqual(before);
    expect(run(["init", "--list"]).stdout).toMatch(/this project: not set up; init would change .*spillway\.js/);
  });
});

it("folders that variables name are honoured", () => {
  const { home, init } = newHome();
  for (const [name, variable, path] of [
    ["claude-code", "CLAUDE_CONFIG_DIR", "settings.json"],
    ["codex", "CODEX_HOME", "hooks.json"],
    ["gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"],
    ["qwen", "QWEN_HOME", "settings.json"],
    ["opencode", "OPENCODE_CONFIG_DIR", "plugin/spillway.js"],
    ["pi", "PI_CODING_AGENT_DIR", "extensions/spillway.js"],
    ["copilot", "COPILOT_HOME", "hooks/spillway.json"],
  ] as const) {
    init(`${name} --user`, { [variable]: join(home, variable) });
    expect([name, existsSync(join(home, variable, path))]).toEqual([name, true]);
  }
});

it("says that the command is not on the path that an agent will have", () => {
  const { home, init } = newHome();
  const npx = join(home, "x/node_modules/.bin");
  mkdirSync(npx, { recursive: true });
  symlinkSync(join(home, "bin/spillway"), join(npx, "spillway"));
  expect(init("gemini").stderr).not.toContain('"spillway"');
  const bare = join(home, "bare");
  mkdirSync(bare);
  const hint = `so that no agent can call it: put a link to ${CLI} there`;
  expect(init("qwen", { PATH: bare }).stderr).toContain(`"spillway" is not on the PATH, ${hint}`);
  const onlyNpx = '"spillway" is only in node_modules/.bin, which the agent will not have on its PATH';
  expect(init("qwen", { PATH: `${npx}:${bare}` }).stderr).toContain(`${onlyNpx}, ${hint}`);
  symlinkSync("/bin/true", join(bare, "npm"));
  const withNpm = init("qwen", { PATH: `${npx}:${bare}` }).stderr;
  expect(withNpm).toContain(`run: npm install --global ${dirname(dirname(CLI))}\n`);
});

it("--dry-run says last that nothing was written, and tells of an agent that is not here", () => {
  const { home, run } = newHome();
  const { stdout, stderr } = run(["init", "qwen", "--dry-run"]);
  expect(stdout).toMatch(/"spillway hook [^]*\nNothing was written\.\n$/);
  expect(stderr).toContain(
    `qwen was not found here: no "qwen" is on the PATH, and there is no ${join(home, ".qwen")}.`,
  );
  expect(existsSync(join(home, "project/.qwen"))).toBe(false);
  mkdirSync(join(home, ".qwen"));
  expect(run(["init", "qwen", "--dry-run"]).stderr).toBe("");
});

it("an agent that is not known gets the whole list", () => {
  const { status, stderr } = newHome().init("emacs");
  expect([status, stderr]).toEqual([
    2,
    expect.stringMatching(/no set-up for "emacs"; known are claude-code, .*, all and mcp/),
  ]);
});

it("--list says what is here and what would change, and all sets these up", () => {
  const { put, run, init, home } = newHome({ ".gemini/settings.json": "{}", ".codex/config.toml": "" });
  put("bin/pi", "#!/bin/sh\n");
  chmodSync(join(home, "bin/pi"), 0o755);
  const listed = run(["init", "--list"]).stdout;
  expect(listed).toContain("qwen: not here\n");
  expect(listed).toMatch(/^gemini\n {2}all projects: not set up; init would change .*\.gemini\/settings\.json$/m);
  expect(listed).toMatch(/^pi\n {2}all projects: not set up; init would write .*spillway\.js$/m);
  expect(run(["init", "all", "--user", "--dry-run"]).stdout).toMatch(/hooks\.json[^]*settings\.json[^]*spillway\.js/);
  const before = filesIn(home);
  expect(init("all --user --wrap-commands").status).toBe(0);
  expect(run(["init", "--list"]).stdout.match(/set up in/g)).toHaveLength(3);
  expect(init("all --user --remove").status).toBe(0);
  expect(filesIn(home)).toEqual(before);
});

it("an agent whose commands need no wrapping says so, and nothing is written", () => {
  const { home, init, run } = newHome();
  const { status, stderr } = init("gemini --wrap-commands");
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining("hands whole outputs to the hook") });
  expect(existsSync(join(home, "project/.gemini"))).toBe(false);
  expect(init("gemini --user --project").stderr).toContain("either --user or --project");
  expect(run(["init"]).stderr).toContain("which agent");
});

it("mcp puts the proxy before the servers of every agent, and takes it out to the byte", () => {
  const server = '{ "a": { "command": "npx", "args": ["-y", "some"] }, "far": { "url": "https://example.com" } }';
  const { home, init, read, run } = newHome({
    ".claude.json": `{"mcpServers": ${server}, "projects": {"/p": {"mcpServers": ${server}}}}`,
    "project/.mcp.json": `{ "mcpServers": ${server} }\n`,
    ".codex/config.toml": '[mcp_servers.a]\ncommand = "npx" # mine\nargs = ["-y"]\n',
    ".gemini/settings.json": `{ // mine\n "mcpServers": ${server} }`,
    ".qwen/settings.json": `{ "mcpServers": ${server} }`,
    ".config/opencode/opencode.jsonc": '{ "mcp": { "a": { "type": "local", "command": ["npx", "-y"], }, }, }',
    ".copilot/mcp-config.json": `{ "mcpServers": ${server} }`,
    "project/.cursor/mcp.json": '{"mcpServers": {"a": {"command": "npx"}}}',
  });
  const before = filesIn(home);
  expect(run(["init", "mcp", "--dry-run"]).stdout).toContain('"spillway"');
  expect(filesIn(home)).toEqual(before);
  init("gemini --user");
  const { status, stderr } = init("mcp");
  expect(status).toBe(0);
  expect(stderr).toMatch(/\.mcp\.json: left as they are, since they are reached over HTTP: far/);
  for (const path of Object.keys(before).filter((each) => !each.startsWith("bin") && !each.endsWith("/")))
    expect([path, read(path)]).toEqual([path, expect.stringContaining('"spillway"')]);
  expect(JSON.parse(read("project/.mcp.json")).mcpServers.a).toEqual({
    command: "spillway",
    args: ["mcp", "--no-read-back", "--", "npx", "-y", "some"],
  });
  // Claude Code starts the user's servers in this project too, and Cursor has none but the project's.
  expect(JSON.parse(read(".claude.json")).mcpServers.a.args).toEqual(["mcp", "--", "npx", "-y", "some"]);
  expect(JSON.parse(read("project/.cursor/mcp.json")).mcpServers.a.args).toEqual(["mcp", "--", "npx"]);
  expect(init("mcp").stderr).toContain("there is no MCP server without our proxy");
  init("mcp --remove");
  init("gemini --user --remove");
  expect(filesIn(home)).toEqual(before);
});
