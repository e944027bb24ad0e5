import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

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

it("help of an unknown command says that it is unknown", () => {
  const { status, stdout, stderr } = spillway(["help", "frob"]);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toBe(`spillway: unknown command 'frob'; "spillway --help" lists them all\n`);
  expect(spillway(["help", "exprt"]).stderr).toContain("export");
  expect(spillway(["help", "ls"])).toMatchObject({ status: 0, stdout: expect.stringContaining("spillway ls") });
  expect(spillway(["help", "help"])).toMatchObject({ status: 0, stdout: expect.stringContaining("Examples:") });
});
