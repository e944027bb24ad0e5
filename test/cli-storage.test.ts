import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "spillway-cli-storage-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = { PATH: process.env["PATH"], HOME: folder, SPILLWAY_DIR: join(folder, "place") };
const spillway = (args: string[], input = "") =>
  spawnSync(process.execPath, [CLI, ...args], { input, cwd: folder, encoding: "utf8", env, maxBuffer: 1e9 });
const text = Array.from(
  { length: 5000 },
  (_, index) => `line ${index + 1}${index % 1000 === 0 ? " Error" : ""}\r\n`,
).join("");
let id = "";

it("clamp --save shows what came though it cannot be saved", () => {
  writeFileSync(join(folder, "file"), "");
  const args = ["clamp", "--save", "--dir", join(folder, "file"), "--max-lines", "9", "-q"];
  const { stdout, stderr, status } = spillway(args, text);
  expect(stdout).toContain("line 1 Error\r\n");
  expect(stdout).toContain("not saved");
  expect(stderr).toMatch(
    /^spillway: nothing is saved: .*file is not a folder: name one, or a place where nothing is yet\n$/,
  );
  expect(status).toBe(2);
});

it("a HOME that is no absolute path is not taken for a place in the working directory", () => {
  const cwd = join(folder, "work");
  mkdirSync(cwd);
  for (const HOME of ["", "rel"]) {
    const { status } = spawnSync(process.execPath, [CLI, "clamp", "-q"], {
      input: text,
      cwd,
      env: { PATH: env.PATH, HOME },
      timeout: 240_000,
    });
    expect(status).toBe(0);
  }
  expect(readdirSync(cwd)).toEqual([]);
});

it.runIf(process.getuid?.() === 0)(
  "a user whom the machine does not know, without HOME, has a place all the same",
  () => {
    const temporary = join(folder, "temporary");
    mkdirSync(temporary);
    for (const path of [folder, temporary]) chmodSync(path, path === folder ? 0o755 : 0o777);
    const homeless = (...args: string[]) =>
      spawnSync(process.execPath, [CLI, ...args], {
        cwd: temporary,
        env: { PATH: env.PATH, TMPDIR: temporary },
        encoding: "utf8",
        uid: 54_321,
        gid: 54_321,
        timeout: 240_000,
      });
    const { stdout, stderr, status } = homeless("run", "-q", "--max-lines", "9", "--", "seq", "99");
    expect(status).toBe(0);
    expect(stdout).toMatch(/artifact [a-z2-7]{12}/);
    expect(stderr).toMatch(
      /^spillway: this user has no home folder: outputs are kept among the temporary files\. .*\n$/,
    );
    expect(readdirSync(temporary)).toEqual(["spillway-54321"]);
    const found = JSON.parse(homeless("doctor", "--json").stdout).findings;
    expect(found).toContainEqual(expect.objectContaining({ found: expect.stringContaining("no home folder") }));
    expect(homeless("init", "--list")).toMatchObject({ status: 0, stdout: expect.stringContaining("pi: not here\n") });
  },
);

describe("what an output was", () => {
  const dir = join(folder, "what");
  const at = (args: string[]) => spillway([...args, "--dir", dir]);
  beforeAll(() => {
    const run = (session: string, script: string) =>
      spillway(["run", "-q", "--dir", dir, "--session", session, "--max-lines", "9", "--", "sh", "-c", script]);
    run("s1", "seq 1 900; echo panic: at line 17; exit 3");
    run("s2", "seq 1 800");
    run("s1", "seq 1 800");
  });

  it("is listed with its command, exit code and every session that saved the same bytes", () => {
    const { stdout } = at(["ls"]);
    expect(stdout.split("\n")[0]).toMatch(/EXIT +TOOL +SESSION +COMMAND$/);
    expect(stdout).toMatch(/ 3 +run_command +s1 +sh -c seq 1 900; echo panic/);
    expect(stdout.match(/run_command +(s1|s2) +sh -c seq 1 800/g)).toHaveLength(2);
    expect(at(["ls", "--session", "s2"]).stdout).toContain("seq 1 800");
  });

  it("is what last says of the newest, and last stands for its id", () => {
    const { stdout } = at(["last"]);
    expect(stdout).toMatch(/^command +sh -c seq 1 800$/m);
    expect(stdout).toMatch(/^exit code +0$/m);
    expect(stdout).toMatch(/^folder +.*spillway-cli-storage/m);
    expect(at(["show", "last"]).stdout).toBe(stdout);
    expect(at(["recall", "last", "--tail", "1", "--raw"]).stdout).toBe("800\n");
    expect(at(["events", "--json"]).stdout).toMatch(/"artifact-recalled".*"reads":"model"/);
    expect(spillway(["last"]).status).toBe(2);
  });

  it("is found by what stands in any output of a session, or in all", () => {
    const recalls = () => JSON.parse(at(["stats", "--json"]).stdout).all.recalls;
    const before = recalls();
    const found = at(["search", "--session", "s1", "-C", "0", "panic:"]);
    expect(found.stdout).toMatch(/^[a-z2-7]{12} .*sh -c seq 1 900.* s1\n901:panic: at line 17\n\[1 matching line\]\n/);
    expect(at(["search", "--session", "s2", "panic:"])).toMatchObject({ status: 1, stdout: "" });
    const { outputs } = JSON.parse(at(["search", "--all", "^800$", "--json"]).stdout);
    expect(outputs).toHaveLength(2);
    expect(outputs.map(({ total }: { total: number }) => total)).toEqual([1, 1]);
    expect(at(["search", "--all", "x", "y"])).toMatchObject({ status: 2 });
    expect(at(["search", "last"])).toMatchObject({ status: 2, stderr: expect.stringContaining("an id and a pattern") });
    expect(recalls()).toBe(before);
  });

  it("counts as saved only what would have been sent", () => {
    const { stdout } = spillway(["clamp", "--save", "-q", "--dir", dir], "a line of a long log\n".repeat(500_000));
    expect(stdout).toContain("10,500,000 bytes");
    const row = JSON.parse(at(["stats", "--json"]).stdout).rows.find(({ tool }: { tool: string }) => tool === "clamp");
    expect(row.tokensSaved).toBeGreaterThan(0);
    expect(row.tokensSaved).toBeLessThan(51_200);
  });
});

describe("a place where nothing was kept", () => {
  const readers = [["ls"], ["stats"], ["events"], ["export"], ["verify"], ["show", "k3v7q2"], ["recall", "k3v7q2"]];

  it.each([...readers, ["search", "k3v7q2", "x"], ["rm", "k3v7q2"], ["gc"], ["pin", "s1"]])(
    "is said where --dir names it, and not made: %s",
    (...args) => {
      for (const dir of [join(folder, "mistyped"), mkdtempSync(join(folder, "empty-"))]) {
        const { status, stdout, stderr } = spillway([...args, "--dir", dir]);
        expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
        expect(stderr).toBe(
          `spillway: there is no store in ${dir}: nothing was ever saved there. Check what --dir says, or leave it out\n`,
        );
      }
      expect(existsSync(join(folder, "mistyped"))).toBe(false);
    },
  );

  it.each(readers)("is read as an empty one where it is the usual one, and not made: %s", (...args) => {
    const { status, stderr } = spawnSync(process.execPath, [CLI, ...args], {
      cwd: folder,
      encoding: "utf8",
      env: { ...env, SPILLWAY_DIR: join(folder, "not-yet") },
      timeout: 240_000,
    });
    expect(status).toBe(args.length === 1 ? 0 : 2);
    expect(stderr).toMatch(/^(spillway: (nothing is|there is no artifact) [^\n]+\n)?$/);
    expect(existsSync(join(folder, "not-yet"))).toBe(false);
  });
});

it.skipIf(process.platform === "win32")("says whose a folder is that belongs to another user", () => {
  const dir = join(folder, "theirs");
  expect(spillway(["clamp", "--save", "--dir", dir, "--max-lines", "9", "-q"], text).status).toBe(0);
  chmodSync(folder, 0o755);
  chmodSync(dir, 0o755);
  chmodSync(join(dir, "spillway.db"), 0o644);
  const isRoot = process.getuid?.() === 0;
  // Who is not root cannot give a folder away; theirs is then the root's own.
  const args = ["ls", "--dir", isRoot ? dir : "/root"];
  const { status, stderr } = spawnSync(process.execPath, [CLI, ...args], {
    encoding: "utf8",
    env,
    ...(isRoot && { uid: 65_534, gid: 65_534 }),
    timeout: 240_000,
  });
  expect(status).toBe(2);
  if (isRoot)
    expect(stderr).toMatch(/^spillway: .*theirs belongs to another user \(uid 0; this process has uid 65534\)/);
});

describe("what the command line does with saved outputs", () => {
  beforeAll(() => {
    const { stdout } = spillway(["clamp", "--save", "--session", "s1", "--json", "--max-lines", "9"], text);
    id = JSON.parse(stdout).receipt.artifact;
  });

  it("recalls lines, head, tail, bytes and the exact whole, also by the first characters of an id", () => {
    expect(id).toMatch(/^[a-z2-7]{12}$/);
    expect(spillway(["recall", id.slice(0, 6), "--raw"]).stdout).toBe(text);
    expect(spillway(["recall", id, "--raw", "--lines", "3-4"]).stdout).toBe("line 3\r\nline 4\r\n");
    expect(spillway(["recall", id, "--lines", "3-4"]).stdout).toMatch(/^line 3\r\nline 4\r\n\[/);
    expect(spillway(["recall", id, "--tail", "1"]).stdout).toMatch(/^line 5000\r\n/);
    expect(JSON.parse(spillway(["recall", id, "--head", "2", "--json"]).stdout)).toMatchObject({ lines: [1, 2] });
    expect(JSON.parse(spillway(["recall", id, "--around", "100", "--json"]).stdout)).toMatchObject({
      lines: [80, 120],
    });
    expect(spillway(["recall", id, "--around", "100", "--raw"]).stdout).toMatch(/^line 80\r\n[^]*line 120\r\n$/);
    expect(spillway(["recall", id, "--around", "4999", "--raw"]).stdout).toMatch(/^line 4979\r\n[^]*line 5000\r\n$/);
    expect(spillway(["recall", id, "--raw", "--bytes", "0-4"]).stdout).toBe("line");
  });

  it("says on one line what is wrong, with 2", () => {
    for (const args of [
      ["recall", "zzzzzz"],
      ["recall", "../etc"],
      ["recall", id, "--head", "1", "--tail", "1"],
      ["recall", id, "--lines", "x"],
      ["search", id, "("],
      ["rm"],
      ["gc", "--max-age", "soon"],
      ["stats", "--by", "moon"],
    ]) {
      const { status, stdout, stderr } = spillway(args);
      expect({ args, status, stdout }).toEqual({ args, status: 2, stdout: "" });
      expect(stderr).toMatch(/^spillway: [^\n]+\n$/);
    }
  });

  it("searches as grep does, with a true count", () => {
    expect(spillway(["search", id, "error", "-i", "--max", "1", "-C", "1"]).stdout).toMatch(
      /^1:line 1 Error\n2-line 2\n\[5 /,
    );
    expect(JSON.parse(spillway(["search", id, "Error", "--max", "2", "--json"]).stdout)).toMatchObject({
      total: 5,
      next: 2001,
    });
    expect(spillway(["search", id, "-F", "lin."]).status).toBe(1);
  });

  it("lists, shows, verifies, counts and exports", () => {
    expect(JSON.parse(spillway(["ls", "--session", "s1", "--json"]).stdout)).toMatchObject({
      artifacts: [{ id, session: "s1" }],
      next: null,
    });
    expect(spillway(["ls", "--session", "other"]).stdout).toBe("");
    expect(spillway(["show", id]).stdout).toContain("5,000 lines");
    expect(spillway(["verify"])).toMatchObject({ status: 0, stdout: expect.stringMatching(/^1 artifact, /) });
    expect(spillway(["events", "--session", "s1"]).stdout).toContain("output-clamped");
    expect(JSON.parse(spillway(["stats", "--json"]).stdout).all).toMatchObject({
      calls: 1,
      cutCalls: 1,
      cutsTooOften: false,
    });
    expect(spillway(["stats"]).stdout).toMatch(/^TOOL +CALLS +CUT[^\n]+\n(.*\n)*clamp +1 +1 .*100\.0 % +\d/);
    const events = spillway(["export", "--session", "s1"])
      .stdout.trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.filter((event) => event.text === text)).toHaveLength(1);
  });

  it("lists page after page", async () => {
    const { openLocal } = await import("../src/storage/local/open-local.ts");
    const dir = join(folder, "many");
    const { store, close } = await openLocal(dir);
    const about = { scope: "local", session: null, tool: "x", call: null };
    const ids: string[] = [];
    for (let index = 0; index < 1203; index += 1) {
      const writer = await store.begin(about);
      await writer.add(Buffer.from(`output ${index}`));
      ids.unshift((await writer.end()).id);
    }
    await close();
    const page = (...flags: string[]) => JSON.parse(spillway(["ls", "--dir", dir, "--json", ...flags]).stdout);
    const idsOf = (listed: { artifacts: { id: string }[] }) => listed.artifacts.map((each) => each.id);
    const first = page();
    expect(idsOf(first)).toEqual(ids.slice(0, 1000));
    const second = page("--before", String(first.next));
    expect([idsOf(second), second.next]).toEqual([ids.slice(1000), null]);
    expect(idsOf(page("--limit", "1203"))).toEqual(ids);
    const { stderr } = spillway(["ls", "--dir", dir, "--limit", "2"]);
    expect(stderr).toMatch(/^spillway: there are more: --before \d+\n$/);
    expect(spillway(["ls", "--dir", dir, "--before", "1999-12-31"]).stderr).toContain("nothing is saved here");
    // With so many there are two whose ids begin alike; a shorter beginning than 6 is never taken.
    expect(spillway(["show", "--dir", dir, (ids[0] ?? "").slice(0, 5)])).toMatchObject({ status: 2 });
  });

  it("asks for more of an id that begins several", async () => {
    const { openLocal } = await import("../src/storage/local/open-local.ts");
    const { change } = await import("../src/storage/sql.ts");
    const dir = join(folder, "alike");
    const { store, database, close } = await openLocal(dir);
    const ids: string[] = [];
    for (const word of ["one", "two"]) {
      const writer = await store.begin({ scope: "local", session: null, tool: "x", call: null });
      await writer.add(Buffer.from(word));
      ids.push((await writer.end()).id);
    }
    // Ids cannot be chosen, so their rows are changed.
    const alike = ["aaaaaaaaaaa2", "aaaaaaaaaaa3"];
    for (const [index, id] of ids.entries()) {
      const rows = database.kysely.updateTable("artifacts").set({ id: alike[index] ?? "" });
      await database.commit(() => change(rows.where("id", "=", id)));
    }
    await close();
    const { status, stderr, stdout } = spillway(["recall", "aaaaaa", "--dir", dir]);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toBe(`spillway: "aaaaaa" begins several ids: ${alike.join(", ")}; type more of it\n`);
    expect(spillway(["recall", "aaaaaaaaaaa3", "--dir", dir, "--raw"]).stdout).toBe("two");
  });

  it("follows events as they happen, also those of another process, until it is interrupted", async () => {
    const follower = spawn(process.execPath, [CLI, "events", "--follow", "--json"], {
      cwd: folder,
      env,
      stdio: ["ignore", "pipe", "inherit"],
      timeout: 240_000,
    });
    const ended = new Promise((resolve) => follower.once("exit", (code) => resolve(code)));
    let seen = "";
    const told = new Promise<void>((resolve) => {
      follower.stdout.setEncoding("utf8").on("data", (more: string) => {
        if (seen === "") spillway(["clamp", "--save", "--session", "later", "--max-lines", "9", "-q"], `${text}later`);
        seen += more;
        if (/"session":"later"/.test(seen)) resolve();
      });
    });
    await Promise.race([told, ended]);
    follower.kill("SIGINT");
    expect(await ended).toBe(0);
    const sessions = seen
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).session);
    expect(sessions.at(-1)).toBe("later");
    expect(sessions).toContain("s1");
    spillway(["rm", "--session", "later"]);
  });

  /** A store with one artifact in a file of its own. */
  async function keepLines(dir: string): Promise<{ id: string; file: string }> {
    const { openLocal } = await import("../src/storage/local/open-local.ts");
    const { store, close } = await openLocal(dir);
    const writer = await store.begin({ scope: "local", session: null, tool: "x", call: null });
    await writer.add(Buffer.alloc(200_000, "line\n"));
    const { id } = await writer.end();
    const file = (await store.file(id, "local")) ?? "";
    await close();
    return { id, file };
  }

  it("says that the file of an artifact is gone", async () => {
    const dir = join(folder, "gone");
    const { id, file } = await keepLines(dir);
    expect(JSON.parse(spillway(["show", id, "--dir", dir, "--json"]).stdout)).toMatchObject({ file, fault: null });
    rmSync(file);
    expect(spillway(["show", id, "--dir", dir]).stdout).toMatch(
      /^saved +no longer: the bytes of artifact .* are gone/m,
    );
    expect(JSON.parse(spillway(["show", id, "--dir", dir, "--json"]).stdout)).toMatchObject({
      file: null,
      fault: expect.stringContaining("are gone"),
    });
  });

  it("gives no bytes with --raw that are not those that were saved", async () => {
    const dir = join(folder, "damaged");
    const { id, file } = await keepLines(dir);
    const raw = () => spillway(["recall", id, "--raw", "--dir", dir]);
    expect(raw()).toMatchObject({ status: 0, stderr: "" });
    writeFileSync(file, "LINE\n".repeat(40_000));
    expect(raw().status).toBe(2);
    expect(raw().stderr).toMatch(/is damaged: bytes 0-65536 are not those that were kept/);
    expect(spillway(["recall", id, "--raw", "--lines", "1-2", "--dir", dir])).toMatchObject({ status: 2, stdout: "" });
  });

  it("collects and removes, a dry run nothing", () => {
    const dry = JSON.parse(spillway(["gc", "--dry-run", "--max-age", "0", "--retain", "0", "--json"]).stdout);
    expect(dry.collected).toMatchObject({ removed: 1, remaining: 0 });
    expect(spillway(["ls"]).stdout).toContain(id);
    expect(spillway(["rm", "--session", "s1"]).stderr).toMatch(/^spillway: removed 1 artifact /);
    expect(spillway(["ls"]).stdout).toBe("");
    expect(spillway(["events", "--session", "s1"]).stdout).toBe("");
  });
});
