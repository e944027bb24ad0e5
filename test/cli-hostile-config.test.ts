import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

// A project's file comes with a clone. Whatever stands there, every command does what it would do without it.

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const home = mkdtempSync(join(tmpdir(), "spillway-hostile-config-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const log = Array.from({ length: 5000 }, (_, index) => `line ${index + 1} of a log\n`).join("");
writeFileSync(join(home, "log.txt"), log);
const event = JSON.stringify({
  hook_event_name: "PostToolUse",
  session_id: "s",
  tool_use_id: "t",
  tool_name: "Bash",
  tool_response: { stdout: log, stderr: "", interrupted: false },
});
const messages = JSON.stringify([
  { role: "user", content: "go" },
  { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "bash", input: {} }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: log }] },
]);
writeFileSync(join(home, "messages.json"), messages);
const listTools = [
  {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  },
  { jsonrpc: "2.0", method: "notifications/initialized" },
  { jsonrpc: "2.0", id: 2, method: "tools/list" },
]
  .map((message) => `${JSON.stringify(message)}\n`)
  .join("");

/** The commands in which a project's file has a say, and what each reads. */
const COMMANDS: [name: string, args: string[], input: string][] = [
  ["clamp", ["clamp", "-q"], log],
  ["run", ["run", "-q", "--", "cat", join(home, "log.txt")], ""],
  ["hook", ["hook"], event],
  ["tools", ["tools"], listTools],
  ["mcp", ["mcp", "--", process.execPath, CLI, "tools"], listTools],
  ["guard", ["guard", "--dry-run", join(home, "messages.json")], ""],
  ["prune", ["prune", "--dry-run", join(home, "messages.json")], ""],
];
/** Those in which it has none. */
const OTHERS: typeof COMMANDS = [
  ["recall", ["recall", "aaaaaaaaaaaa"], ""],
  ["search", ["search", "aaaaaaaaaaaa", "x"], ""],
  ["show", ["show", "aaaaaaaaaaaa"], ""],
  ["ls", ["ls", "--json"], ""],
  ["stats", ["stats"], ""],
  ["events", ["events"], ""],
  ["verify", ["verify"], ""],
];

interface Ran {
  status: number | null;
  stdout: string;
  warnings: string[];
}

/** What does not change from one run to the next: ids, sessions and times do. */
function run(cwd: string, args: string[], input: string, dir: string): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], {
    cwd,
    input,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: home, SPILLWAY_DIR: dir },
    timeout: 240_000,
  });
  const warnings = stderr.split("\n").filter((line) => /spillway\.(ya?ml|json)/.test(line));
  // Tools name the folder that they serve.
  const text = stdout.replaceAll(cwd, "FOLDER").replaceAll(/\b[a-z2-7]{12}\b/g, "ID");
  return { status, stdout: text, warnings };
}

/** Puts a hostile file where a project's is looked for; the warning that it gets. */
const KINDS: [name: string, put: (path: string) => void, warning: RegExp][] = [
  ["a link to a file elsewhere", (path) => symlinkSync("/etc/shadow", path), /a link to a file outside of its folder/],
  ["a link to a device", (path) => symlinkSync("/dev/zero", path), /it is not a file/],
  ["a link to itself", (path) => symlinkSync("spillway.yaml", path), /a link that leads nowhere/],
  ["a FIFO", (path) => spawnSync("mkfifo", [path]), /it is not a file/],
  ["a folder", (path) => mkdirSync(path), /it is not a file/],
  ["2 MB", (path) => writeFileSync(path, "#".repeat(2_000_000)), /at most 65,536 bytes/],
  ["bytes that are no text", (path) => writeFileSync(path, Buffer.from([0xff, 0xfe, 0])), /not UTF-8/],
  ["no YAML", (path) => writeFileSync(path, "default: [1\nprofile: x"), /is ignored: .*; the line is \\*"profile: x/],
  ["wrong values", (path) => writeFileSync(path, "default: { max_lines: many }"), /is ignored: /],
  [
    "a strategy nobody has",
    (path) => writeFileSync(path, "default: { strategy: nonsense }"),
    /default\.strategy is ign/,
  ],
  ["the profile off", (path) => writeFileSync(path, "profile: off"), /profile is ignored/],
  ["a lifted limit", (path) => writeFileSync(path, 'tools: { "*": { max_lines: none } }'), /max_lines is ignored/],
];

const place = (name: string) => {
  const folder = join(home, name.replaceAll(" ", "-"));
  mkdirSync(folder);
  return folder;
};

/** What each command does where there is no config. */
const expected = new Map<string, Ran>();
beforeAll(() => {
  const folder = place("clean");
  for (const [name, args, input] of COMMANDS) expected.set(name, run(folder, args, input, join(home, "data-clean")));
});

describe("a hostile file in a project", () => {
  it("there is something to lose", () => {
    for (const [name] of COMMANDS) expect(expected.get(name)?.status, name).toBe(0);
    for (const name of ["clamp", "run", "hook"]) expect(expected.get(name)?.stdout, name).toContain("omitted");
    expect(expected.get("guard")?.stdout).toContain("1 message would be cut");
    for (const name of ["tools", "mcp"]) expect(expected.get(name)?.stdout, name).toContain('"read_file"');
    expect([...expected.values()].flatMap(({ warnings }) => warnings)).toEqual([]);
  });

  it.each(KINDS)("%s: every command does as without it, and warns once", (name, put, warning) => {
    const folder = place(name);
    put(join(folder, "spillway.yaml"));
    const dir = join(home, `data-${name.replaceAll(" ", "-")}`);
    // All of them take one way to the file: for most kinds these are enough.
    const some = /file elsewhere|FIFO/.test(name) ? COMMANDS : COMMANDS.slice(0, 3);
    for (const [command, args, input] of some) {
      const { warnings, ...ran } = run(folder, args, input, dir);
      expect({ command, ...ran, warnings: [] }).toEqual({ command, ...expected.get(command) });
      // The server behind `mcp` is one of ours and says it too.
      expect(warnings.length, `${command}: ${warnings.join("\n")}`).toBe(command === "mcp" ? 2 : 1);
      for (const line of warnings) expect(line).toMatch(warning);
    }
    const faults = run(folder, ["events", "--json"], "", dir)
      .stdout.split("\n")
      .filter((line) => line.includes('"faults"'));
    expect(faults.length).toBeGreaterThan(0);
    for (const line of faults) expect(line).toMatch(warning);
  });

  it("is nothing to commands that only read what is kept", () => {
    const [clean, folder] = [place("clean-too"), place("linked")];
    symlinkSync("/etc/shadow", join(folder, "spillway.yaml"));
    for (const [command, args, input] of OTHERS) {
      const [one, other] = [clean, folder].map((cwd) => run(cwd, args, input, join(home, "data-empty")));
      expect({ command, ...other }).toEqual({ command, ...one });
      expect(other?.warnings).toEqual([]);
    }
  });

  it("a limit of the user's own config holds over a project's", () => {
    const folder = place("lifting");
    const own = join(home, ".config", "spillway");
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, "spillway.yaml"), "default: { max_tokens: 500 }\n");
    writeFileSync(join(folder, "spillway.yaml"), 'tools: { "*": { max_tokens: 100000, max_chars: 900000 } }\n');
    const tokens = (cwd: string) =>
      JSON.parse(run(cwd, ["clamp", "--json"], log, join(home, "data-own")).stdout).receipt.shown.tokens;
    expect(tokens(folder)).toBeLessThanOrEqual(500);
    writeFileSync(join(own, "spillway.yaml"), "default: { max_tokens: 900 }\n");
    writeFileSync(join(folder, "spillway.yaml"), "default: { max_tokens: 600 }\n");
    expect(tokens(folder)).toBeLessThanOrEqual(600);
    // Nothing would be left of an output.
    writeFileSync(
      join(folder, "spillway.yaml"),
      "default: { max_tokens: 0, max_lines: 0 }\nceiling: { max_bytes: 0 }\n",
    );
    expect(tokens(folder)).toBeGreaterThan(200);
    rmSync(own, { recursive: true });
  });
});

describe("a mistake in one's own file", () => {
  const own = join(home, ".config", "spillway");
  const write = (text: string) => {
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, "spillway.yaml"), text);
  };
  afterEach(() => rmSync(own, { recursive: true, force: true }));

  it.each([
    ["a strategy nobody has", "default: { strategy: nonsense }", ":1:12: default.strategy: expected one of auto"],
    ["a mistyped key", "defualt: { max_lines: 5 }", ":1:1: unknown key defualt; did you mean default?"],
    ["a wrong value", "default: { max_lines: many }", ":1:23: default.max_lines: expected a whole number"],
    ["no YAML", "default: [1\nprofile: x", '; the line is "profile: x"'],
  ])("%s: every command does as without it and warns once; config check ends with 2", (name, text, warning) => {
    const folder = place(`own ${name}`);
    const dir = join(home, `data-own-${name.replaceAll(" ", "-")}`);
    write(text);
    for (const [command, args, input] of COMMANDS.slice(0, 5)) {
      const { warnings, ...ran } = run(folder, args, input, dir);
      expect({ command, ...ran, warnings: [] }).toEqual({ command, ...expected.get(command) });
      expect(warnings.length, `${command}: ${warnings.join("\n")}`).toBe(command === "mcp" ? 2 : 1);
      for (const line of warnings) expect(line).toContain(warning);
    }
    const checked = run(folder, ["config", "check"], "", dir);
    expect(checked.status).toBe(2);
    expect(checked.warnings.join("\n")).toContain(warning);
  });

  it("ends commands that write transcripts anew", () => {
    write("default: { max_lines: many }");
    for (const [command, args] of COMMANDS.slice(5))
      expect({ command, ...run(place(`strict ${command}`), args, "", join(home, "data-strict")) }).toMatchObject({
        command,
        status: 2,
        stdout: "",
      });
  });

  it("config check finds nothing wrong where nothing is", () => {
    write("default: { max_lines: 50 }");
    const { status, stdout } = run(place("fine"), ["config", "check", "--json"], "", join(home, "data-fine"));
    expect(status).toBe(0);
    const sources = [
      { kind: "user", path: join(own, "spillway.yaml") },
      // The folder is named by a variable.
      { kind: "environment", path: null },
    ];
    expect(JSON.parse(stdout)).toEqual({ sources, problems: [], notes: [] });
  });
});

describe("a store that cannot be opened", () => {
  it("leaves every command at its work", () => {
    const folder = place("blocked");
    const dir = join(folder, "file");
    writeFileSync(dir, "");
    for (const [command, args, input] of COMMANDS.slice(0, 5)) {
      const { status, stdout } = run(folder, args, input, dir);
      expect({ command, status }).toEqual({ command, status: 0 });
      expect(stdout).toMatch(command === "tools" || command === "mcp" ? /"read_file"/ : /omitted/);
    }
  });
});
