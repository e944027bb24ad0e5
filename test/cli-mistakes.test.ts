import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeChange } from "../src/entrypoints/cli/init/change-file.ts";

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "spillway-cli-mistakes-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = { PATH: process.env["PATH"], HOME: folder, SPILLWAY_DIR: join(folder, "place") };
const spillway = (args: string[], input: string | Buffer = "") => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], {
    input,
    cwd: folder,
    encoding: "utf8",
    env,
    maxBuffer: 1e9,
    timeout: 240_000,
  });
  return { status, stdout, stderr };
};
const log = Array.from({ length: 500 }, (_, index) => `line ${index}\n`).join("");
const save = (word: string, ...flags: string[]) =>
  spillway(["clamp", "--save", "--max-lines", "9", "-q", ...flags], `${word}\n${log}`);

describe("on a full store", () => {
  beforeAll(() => {
    save("x's", "--session", "x");
    save("y's", "--session", "y");
    save("nobody's");
  });
  const listed = () => JSON.parse(spillway(["ls", "--json"]).stdout).artifacts.length;

  it.each([
    ["--session", "x", "--no-session"],
    ["--no-session", "--session", "x"],
    ["--session", "x", "--session", "y"],
    ["--session=x", "--session=x"],
    ["--no-session", "--no-session"],
  ])("rm %s %s %s %s removes nothing", (...flags) => {
    const refused = "spillway: rm takes one --session NAME or --no-session, and only once\n";
    expect(spillway(["rm", ...flags])).toEqual({ status: 2, stdout: "", stderr: refused });
    expect(listed()).toBe(3);
  });

  it.each([
    [["ls"], "nothing is saved here"],
    [["stats"], "nothing is recorded"],
    [["events"], "nothing is recorded"],
    [["events", "--full"], "nothing is recorded"],
    [["export"], "nothing is recorded"],
  ])("%s says that nothing matches", (args, nothing) => {
    const stderr = `spillway: ${nothing} that matches --session "no\\u001bsuch"\n`;
    expect(spillway([...args, "--session", "no\u001bsuch"])).toEqual({ status: 0, stdout: "", stderr });
    expect(spillway([...args, "--session", "x"])).toMatchObject({ status: 0, stderr: "" });
  });

  it("search and pin say that nothing is known of a session", () => {
    const found = { status: 1, stdout: "", stderr: 'spillway: not found in 0 outputs of session "no"\n' };
    expect(spillway(["search", "--session", "no", "line"])).toEqual(found);
    expect(spillway(["pin", "x"]).stderr).toBe("spillway: x is kept until --remove\n");
    expect(spillway(["pin", "no"]).stderr).toMatch(
      /^spillway: no is kept until --remove; nothing of it is recorded yet/,
    );
    for (const name of ["x", "no"]) spillway(["pin", name, "--remove"]);
  });

  it("names each filter that was given", () => {
    expect(spillway(["events", "--session", "x", "--tool", "no"]).stderr).toBe(
      'spillway: nothing is recorded that matches --session "x" and --tool "no"\n',
    );
    expect(spillway(["ls", "--before", "1999-12-31"]).stderr).toBe(
      "spillway: nothing is saved here that matches --before\n",
    );
    const nosuch = `spillway: nothing is saved in scope nosuch of ${env.SPILLWAY_DIR}`;
    expect(spillway(["ls", "--scope", "nosuch", "--session", "x"]).stderr).toBe(
      `${nosuch} that matches --session "x"\n`,
    );
    expect(spillway(["last", "--scope", "nosuch"]).stderr).toContain(nosuch);
  });
});

it.each([[["export"]], [["events", "--full"]]])("%s leaves out what is too long for a line, and says so", (args) => {
  const dir = join(folder, "long");
  if (!existsSync(dir)) {
    spillway(["clamp", "--save", "--dir", dir, "--max-lines", "9", "-q"], Buffer.alloc(65 * 1024 ** 2, `${log}\n`));
    save("short", "--dir", dir);
  }
  const { status, stdout, stderr } = spillway([...args, "--dir", dir]);
  expect(status).toBe(0);
  expect(stderr).toBe(
    'spillway: 1 output too long for a line left out: "textOmitted" names the command that reads each; add the same --dir\n',
  );
  const events = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  const omitted = events.find(({ textOmitted }) => textOmitted !== undefined);
  expect(omitted).toMatchObject({ text: null, textOmitted: `65.0 MiB: spillway recall ${omitted.artifact} --raw` });
  expect(events.some(({ text }) => text === `short\n${log}`)).toBe(true);
});

it("an empty --dir is refused before anything else happens", () => {
  const before = readdirSync(folder);
  for (const args of [
    ["ls"],
    ["gc"],
    ["rm", "--session", "x"],
    ["clamp", "--save"],
    ["export"],
    ["run", "--", "touch", "ran"],
  ]) {
    const [command = "", ...rest] = args;
    for (const flags of [["--dir", ""], ["--dir="]]) {
      const { status, stdout, stderr } = spillway([command, ...flags, ...rest]);
      expect({ args, status, stdout }).toEqual({ args, status: command === "run" ? 125 : 2, stdout: "" });
      expect(stderr).toMatch(/^spillway: [^\n]*--dir takes a folder: what was given is empty[^\n]*\n$/);
    }
  }
  expect(readdirSync(folder)).toEqual(before);
});

it.each([
  [["ls", "--limit", "x"], '--limit takes a whole number of 0 or more, such as 200; got "x"'],
  [["stats", "--flag-above", "3"], '--flag-above takes a number from 0 to 1, such as 0.3; got "3"'],
  [["serve", "--port", "99999"], '--port takes a number from 0 to 65535; got "99999"'],
  [["mcp", "--listen", "a:b"], '--listen takes a port, or a host and a port, such as 8808 or 0.0.0.0:8808; got "a:b"'],
  [["ls", "extra"], `too many arguments for 'ls': expected 0, got 1; "spillway ls --help" has examples`],
  [["ls", "--nope"], `unknown option '--nope'; "spillway ls --help" lists them all`],
  [["--foo"], `unknown option '--foo'; "spillway --help" lists them all`],
  [["search", "x"], "search takes an id and a pattern (last is the newest id), or --all and a pattern; got 1 argument"],
  [["tools", "nowhere"], "the folder to serve nowhere cannot be read: no such file"],
  [["tools", "--transcripts", "nowhere"], "the folder of --transcripts nowhere cannot be read: no such file"],
  [
    ["mcp", "--url", "http://127.0.0.1:1", "--token-file", "nowhere"],
    "--token-file nowhere cannot be read: no such file",
  ],
  [
    ["mcp", "--url", "http://127.0.0.1:1", "--header", "x"],
    "--header takes a name, a colon and a value, such as 'X-Team: tools'",
  ],
])("%j is told what is expected and what came", (args, message) => {
  expect(spillway(args)).toEqual({ status: 2, stdout: "", stderr: `spillway: ${message}\n` });
});

it("a file that cannot be written is named, with what to do", () => {
  const path = "/dev/null/in/settings.json";
  expect(() => writeChange({ path, before: "", after: "{}" }, false)).toThrow(
    /^cannot write \/dev\/null\/in\/settings\.json: .*Check who may write there, and the room on its disk$/,
  );
});

it("a port that is taken is named, with what to do", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  for (const args of [
    ["serve", "--port", `${port}`],
    ["mcp", "--listen", `${port}`, "--", "cat"],
    ["tools", "--listen", `${port}`],
  ]) {
    const { status, stderr } = spillway(args);
    expect({ args, status }).toEqual({ args, status: 2 });
    expect(stderr).toMatch(new RegExp(`cannot listen at 127.0.0.1:${port}: .*EADDRINUSE.*port 0 takes a free one`));
  }
  taken.close();
});

it("a search without ripgrep says so on a line of ours", () => {
  // The command by itself, beside nothing but what Node 20 needs to open a store.
  const alone = mkdtempSync(join(folder, "alone-"));
  cpSync(join(CLI, ".."), join(alone, "dist"), { recursive: true });
  mkdirSync(join(alone, "node_modules"));
  symlinkSync(join(CLI, "../../node_modules/@photostructure"), join(alone, "node_modules/@photostructure"));
  save("without ripgrep");
  const search = [join(alone, "dist/cli.cjs"), "search", "last", "line 499"];
  const { status, stderr } = spawnSync(process.execPath, search, { encoding: "utf8", env, timeout: 240_000 });
  expect(status).toBe(0);
  expect(stderr).toMatch(/^spillway: searches take longer: the package @vscode\/ripgrep could not be loaded: .*\n$/);
});

it("a name of other tools leads to the command, and not to one that is spelled alike", () => {
  const named = (command: string) => spillway([command]).stderr;
  expect(named("list")).toBe(`spillway: unknown command 'list'; perhaps you want "spillway ls"\n`);
  expect(named("cat")).toBe(`spillway: unknown command 'cat'; perhaps you want "spillway recall"\n`);
  expect(named("sessions")).toContain('"spillway stats --by session"');
  expect(named("constructor")).toContain('"spillway --help" lists them all');
  const source = readFileSync(new URL("../src/entrypoints/cli/tell.ts", import.meta.url), "utf8");
  const leads = [...source.matchAll(/^ {2}\["\w+", "(\w+)/gm)].map(([, command = ""]) => command);
  expect(leads.length).toBeGreaterThan(10);
  for (const command of new Set(leads))
    expect({ command, ...spillway(["help", command]) }).toMatchObject({ status: 0 });
});

it("help of an unknown command says that it is unknown", () => {
  const { status, stdout, stderr } = spillway(["help", "frob"]);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toBe(`spillway: unknown command 'frob'; "spillway --help" lists them all\n`);
  expect(spillway(["help", "exprt"]).stderr).toContain("export");
  expect(spillway(["help", "ls"])).toMatchObject({ status: 0, stdout: expect.stringContaining("spillway ls") });
  expect(spillway(["help", "help"])).toMatchObject({ status: 0, stdout: expect.stringContaining("Examples:") });
});
