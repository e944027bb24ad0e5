import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const home = mkdtempSync(join(tmpdir(), "spillway-doctor-"));
const project = join(home, "project");
afterAll(() => rmSync(home, { recursive: true, force: true }));
beforeAll(() => {
  mkdirSync(join(home, ".config", "spillway"), { recursive: true });
  mkdirSync(project);
  writeFileSync(join(home, ".config", "spillway", "spillway.yaml"), "default:\n  max_lines: 1500\nruns: ~/runs\n");
  writeFileSync(join(project, "spillway.yaml"), "tools:\n  run_command:\n    max_lines: 99\n");
});

const plainEnv = { PATH: process.env["PATH"], HOME: home };
const spillway = (args: string[], env: Record<string, string> = {}) =>
  spawnSync(process.execPath, [CLI, ...args], {
    cwd: project,
    encoding: "utf8",
    env: { ...plainEnv, ...env },
    timeout: 240_000,
  });

interface Finding {
  about: string;
  found: string;
  state: string;
  todo?: string;
}
const findings = (env: Record<string, string> = {}): { all: Finding[]; status: number | null } => {
  const { stdout, status } = spillway(["doctor", "--json"], env);
  return { all: JSON.parse(stdout).findings, status };
};
const about = (all: Finding[], name: string) => all.filter((finding) => finding.about === name);

describe("spillway doctor", () => {
  it("says what is in force, changes nothing and ends with 0 if all is well", () => {
    const { all, status } = findings();
    expect(status).toBe(0);
    expect(all.filter(({ state }) => state === "wrong")).toEqual([]);
    expect(about(all, "versions")[0]?.found).toContain(`Node ${process.versions.node}`);
    expect(about(all, "store")[0]?.found).toMatch(/nothing is saved there yet/);
    expect(about(all, "config")[0]?.found).toBe(
      `${join(project, "spillway.yaml")}, ${join(home, ".config", "spillway", "spillway.yaml")}`,
    );
    spillway(["run", "-q", "--raw", "--", "seq", "5"]);
    spillway(["run", "-q", "--raw", "--session", "other", "--", "seq", "5"]);
    expect(about(findings().all, "store")[0]?.found).toMatch(/spillway: 1 output, 10 B$/);
  });

  it("finds a store that others can read, a damaged one, a wrong config and hooks that nobody can call, and says what to do", () => {
    const dir = join(home, "open");
    spillway(["run", "-q", "--raw", "--dir", dir, "--", "seq", "5"]);
    chmodSync(dir, 0o755);
    const open = findings({ SPILLWAY_DIR: dir });
    expect(open.status).toBe(1);
    expect(about(open.all, "store")).toMatchObject([{ state: "wrong", todo: `chmod 700 ${dir}` }]);
    chmodSync(dir, 0o700);
    writeFileSync(join(dir, "spillway.db"), "no database".repeat(1000));
    rmSync(join(dir, "spillway.db-wal"), { force: true });
    const damaged = "is damaged: file is not a database. Move it away";
    expect(about(findings({ SPILLWAY_DIR: dir }).all, "store")).toEqual([
      { about: "store", state: "wrong", found: expect.stringContaining(damaged) },
    ]);
    const file = join(home, "file");
    writeFileSync(file, "");
    expect(about(findings({ SPILLWAY_DIR: join(file, "in") }).all, "store")).toEqual([
      {
        about: "store",
        state: "wrong",
        found: `${file} is a file and no folder, so nothing can be saved in ${join(file, "in")}`,
        todo: "name another folder with SPILLWAY_DIR",
      },
    ]);
    const config = findings({ SPILLWAY_MAX_LINES: "many" });
    expect(about(config.all, "config").at(-1)).toMatchObject({
      state: "wrong",
      found: expect.stringContaining("SPILLWAY_MAX_LINES"),
    });
    mkdirSync(join(home, ".claude"), { recursive: true });
    expect(about(findings().all, "claude-code")).toMatchObject([{ state: "note", todo: "spillway init claude-code" }]);
    spillway(["init", "claude-code", "--yes"]);
    expect(about(findings().all, "claude-code")).toMatchObject([
      { state: "wrong", todo: expect.stringMatching(/^run: npm install --global \/|^put a link to \//) },
    ]);
    const settings = join(project, ".claude", "settings.json");
    writeFileSync(settings, "{ // c");
    expect(about(findings().all, "claude-code")).toEqual([
      {
        about: "claude-code",
        state: "wrong",
        found: `${settings} cannot be read: Unexpected character '/' found. (1:3)`,
        todo: "mend that file: its agent cannot read it either",
      },
    ]);
  });

  it("asks a gateway on this machine, and no other address", async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    // The other process asks this one, which therefore must not wait for it.
    const { execFile } = await import("node:child_process");
    const env = {
      ...plainEnv,
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      ANTHROPIC_BASE_URL: "https://models.invalid",
      GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:1",
    };
    const text = await new Promise<string>((resolve) => {
      execFile(process.execPath, [CLI, "doctor"], { cwd: project, env }, (_error, stdout) => resolve(stdout));
    });
    server.close();
    expect(asked).toEqual(["/healthz"]);
    expect(text).toContain(`ok    OPENAI_BASE_URL: 127.0.0.1:${port} answers`);
    expect(text).toContain("note  ANTHROPIC_BASE_URL: models.invalid: not asked");
    expect(text).toContain(
      "WRONG GOOGLE_GEMINI_BASE_URL: nobody answers at 127.0.0.1:1\n      -> start the gateway: spillway serve",
    );
  });
});

describe("spillway config show", () => {
  const show = (args: string[], env: Record<string, string> = {}) => {
    const { stdout } = spillway(["config", "show", "--json", ...args], env);
    const { values } = JSON.parse(stdout) as { values: { name: string; value: string; from: string }[] };
    return Object.fromEntries(values.map(({ name, value, from }) => [name, `${value} from ${from}`]));
  };

  it("says each value of a tool and where it comes from", () => {
    const values = show(["--tool", "Bash"], { SPILLWAY_MAX_CHARS: "9000" });
    expect(values).toMatchObject({
      "limits.maxLines": `99 from ${join(project, "spillway.yaml")}`,
      "limits.maxChars": "9000 from the environment",
      "limits.maxBytes": "51200 from default",
      strategy: "auto from default",
    });
    expect(show(["--tool", "some_tool"])["limits.maxLines"]).toBe(
      `1500 from ${join(home, ".config", "spillway", "spillway.yaml")}`,
    );
  });

  it("says what holds for all tools, and where things are kept", () => {
    const values = show([], { SPILLWAY_DIR: join(home, "elsewhere") });
    expect(values["dir"]).toBe(`${join(home, "elsewhere")} from SPILLWAY_DIR`);
    expect(values["runs"]).toBe(`${join(home, "runs")} from ${join(home, ".config", "spillway", "spillway.yaml")}`);
    expect(values["ceiling.maxBytes"]).toBe("51200 from default");
    expect(spillway(["config", "check", "--tool", "x"])).toMatchObject({ status: 2, stdout: "" });
    const text = spillway(["config", "show"]).stdout;
    expect(text).toMatch(/^NAME +VALUE +FROM\ndir /);
    expect(text).toMatch(/^ceiling\.max_bytes +50 KiB +default$/m);
    expect(text).toMatch(/^pruning\.max_request_bytes +30000000 B +default$/m);
    expect(text).toMatch(/^summarization\.trigger_threshold +20000 +default$/m);
  });

  it("writes names and values as a config file takes them", () => {
    const words = "show --tool read_file --color never".split(" ");
    const shown = spillway(["config", ...words], { SPILLWAY_DIR: join(home, "elsewhere") }).stdout;
    const rows = shown.split("\n").flatMap((line) => {
      const [, name, value] = /^([a-z_]+) {2,}(.+?) {2,}/.exec(line) ?? [];
      return name === undefined ? [] : [`${name}: ${value}`];
    });
    expect(rows).toContain("max_bytes: 50 KiB");
    expect(rows.length).toBeGreaterThan(10);
    const again = join(home, "again.yaml");
    writeFileSync(again, `tools: { read_file: { ${rows.join(", ")} } }\n`);
    const { stderr, status } = spillway(["config", "check", again]);
    expect({ stderr, status }).toEqual({ stderr: "spillway: nothing is wrong\n", status: 0 });
  });
});

describe("spillway init without an agent", () => {
  /** Answers the questions on a real terminal. */
  const init = (folder: string, replies: string, args = "") =>
    spawnSync("script", ["-qec", `"${process.execPath}" "${CLI}" init ${args}`, "/dev/null"], {
      cwd: folder,
      encoding: "utf8",
      input: replies,
      env: { ...plainEnv, SHELL: "/bin/sh", TERM: "dumb" },
      timeout: 240_000,
    });

  it("asks three questions and writes a config that is right", () => {
    const folder = mkdtempSync(join(home, "asked-"));
    init(folder, "nonsense\nfrugal\n128,000\n\n");
    const text = readFileSync(join(folder, "spillway.yaml"), "utf8");
    expect(text).toContain("profile: frugal\ncontext_tokens: 128000\n");
    const check = spawnSync(process.execPath, [CLI, "config", "check"], {
      cwd: folder,
      encoding: "utf8",
      env: plainEnv,
    });
    expect(check).toMatchObject({ status: 0, stdout: expect.stringContaining(join(folder, "spillway.yaml")) });
    // A file that is there is left alone.
    expect(init(folder, "\n\n\n").stdout).toContain("is there already and was left alone");
    expect(readFileSync(join(folder, "spillway.yaml"), "utf8")).toBe(text);
  });

  it("writes nothing if it is left early, and asks nobody where nobody is", () => {
    const folder = mkdtempSync(join(home, "left-"));
    init(folder, "balanced\n\x04");
    expect(existsSync(join(folder, "spillway.yaml"))).toBe(false);
    expect(spillway(["init"])).toMatchObject({
      status: 2,
      stdout: "",
      stderr: expect.stringContaining("asks three questions"),
    });
  });
});
