import { execFile } from "node:child_process";
import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeChildModule } from "../../../test/child-module.ts";
import type { Artifact, Store } from "../../contract/store.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { arbitraryText, eventOf, HOSTILE_NAMES } from "../../testing/arbitrary-event.ts";
import { storedName } from "../stored-name.ts";
import { fileEvents, rotatedFiles } from "./file-events.ts";
import { openEventFiles } from "./open-event-files.ts";
import { removeFromEventFile } from "./remove-from-event-file.ts";
import { copyOutput, outputPath, removeRun, runDirectory, runPath, safeFileName, sweepRuns } from "./run-directory.ts";

const run = promisify(execFile);
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-events-"));
});
afterAll(() => rm(folder, { recursive: true }));
const freshFolder = () => mkdtemp(join(folder, "f-"));
const linesOf = async (path: string) => {
  const text = await readFile(path, "utf8");
  return text.split("\n").filter(Boolean);
};
const sessionsIn = async (path: string) => (await linesOf(path)).map((line) => JSON.parse(line).session);

/** Makes a store that holds the given bytes. `plain` names files that hold the same bytes. */
function storeOf(outputs: Record<string, Uint8Array>, plain: Record<string, string> = {}): Store {
  const find = (id: string): Artifact | null => {
    const bytes = outputs[id]?.length;
    if (bytes === undefined) return null;
    const sums = { sha256: "", saved: "yes", createdAtMs: 0, redactions: { count: 0, bytes: 0 } } as const;
    const about = { scope: "local", session: null, tool: "stored", call: null, command: null, folder: null };
    return { id, ...about, exitCode: null, bytes, lines: 1, ...sums };
  };
  return {
    find: async (id: string) => find(id),
    read: async (id: string, _scope: string, { from, to }: { from: number; to: number }) =>
      outputs[id]?.slice(from, to) ?? null,
    file: async (id: string) => plain[id] ?? null,
  } as unknown as Store;
}

describe("safe file names", () => {
  it("leave plain names as they are", () => {
    for (const name of ["run_command", "s1", "2024-01-02.log"]) expect(safeFileName(name)).toBe(name);
  });

  it("are one path segment, short, and unlike for unlike names, also without regard to case", () => {
    const names = fc.uniqueArray(fc.oneof(arbitraryText, fc.constantFrom(...HOSTILE_NAMES)));
    fc.assert(
      fc.property(names, (values) => {
        const safe = values.map(safeFileName);
        for (const name of safe) {
          expect(name).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/);
          expect(name).not.toMatch(/\.\.|\.$|^(con|nul|aux|prn)(\.|$)/i);
        }
        expect(new Set(safe.map((name) => name.toLowerCase())).size).toBe(values.length);
        // If a safe name was made from another name, a session that is called like the safe name gets a different one.
        for (const [at, name] of safe.entries()) if (name !== values[at]) expect(safeFileName(name)).not.toBe(name);
      }),
    );
  });
});

describe("an event log", () => {
  it("has one line for each event, for its owner only, in a folder that is made", async () => {
    const path = join(await freshFolder(), "logs", "events.jsonl");
    const listen = fileEvents(path);
    await listen(eventOf({ session: "a\nb", more: { text: "x\ny\u2028" } }));
    await listen(eventOf({ session: "c", more: { big: "x".repeat(1_000_000) } }));
    const lines = await linesOf(path);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      eventOf({ session: "a\nb", more: { text: "x\ny\u2028" } }),
      eventOf({ session: "c", more: { omittedEntries: 1 } }),
    ]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("begins a new line after one that was broken off", async () => {
    const path = join(await freshFolder(), "events.jsonl");
    await writeFile(path, '{"half');
    await fileEvents(path)(eventOf({ session: "s" }));
    const lines = await linesOf(path);
    expect([lines[0], JSON.parse(lines[1] ?? "").session]).toEqual(['{"half', "s"]);
  });

  it("goes on in a new file when somebody moves it away", async () => {
    const path = join(await freshFolder(), "events.jsonl");
    const listen = fileEvents(path);
    await listen(eventOf({ session: "before" }));
    await rm(path);
    await listen(eventOf({ session: "after" }));
    expect(await sessionsIn(path)).toEqual(["after"]);
  });

  it("is moved away when it is full, by any of several processes, and nothing is lost; the oldest go", async () => {
    const path = join(await freshFolder(), "events.jsonl");
    const lineBytes = Buffer.byteLength(`${JSON.stringify(eventOf({ call: "1000" }))}\n`);
    const writers = [fileEvents(path, 5 * lineBytes), fileEvents(path, 5 * lineBytes)];
    for (let at = 0; at < 12; at += 1) {
      await writers[at % 2]?.(eventOf({ call: String(1000 + at) }));
      await setTimeout(2);
    }
    const files = [...rotatedFiles(path), path];
    const calls = await Promise.all(
      files.map(async (file) => (await linesOf(file)).map((line) => JSON.parse(line).call)),
    );
    expect(calls.map((each) => each.length)).toEqual([5, 5, 2]);
    expect(calls.flat()).toEqual(Array.from({ length: 12 }, (_none, at) => String(1000 + at)));
    await writeFile(`${path}.mine`, "");
    for (let at = 0; at < 5 * NUMBERS.eventFilesKept.default; at += 1) {
      await writers[0]?.(eventOf({ call: "9999" }));
      await setTimeout(2);
    }
    expect(rotatedFiles(path)).toHaveLength(NUMBERS.eventFilesKept.default);
    expect(rotatedFiles(path)).not.toContain(files[0]);
    expect(rotatedFiles(join(folder, "nowhere", "x"))).toEqual([]);
  });

  it("may be reached through a link, such as /dev/stdout, which is neither moved away nor replaced", async () => {
    const folder = await freshFolder();
    const path = join(folder, "events.jsonl");
    const link = join(folder, "link");
    await symlink(path, link);
    const listen = fileEvents(link, 1);
    for (const session of ["gone", "stays"]) await listen(eventOf({ session }));
    expect(await removeFromEventFile(link, "gone")).toBe(1);
    expect(await sessionsIn(path)).toEqual(["stays"]);
    expect(await readlink(link)).toBe(path);
    expect((await readdir(folder)).toSorted()).toEqual(["events.jsonl", "link"]);
    // What has passed through a device is gone from us.
    expect(await removeFromEventFile("/dev/null", "gone")).toBe(0);
  });

  it("is not mixed up by several processes, and loses a session's lines while they write", async () => {
    const dir = await freshFolder();
    const child = join(dir, "child.mjs");
    const path = join(dir, "events.jsonl");
    await writeChildModule(
      `import { fileEvents } from "./src/storage/event-files/file-events.ts";
      import { eventOf } from "./src/testing/arbitrary-event.ts";
      const [path = "", session = ""] = process.argv.slice(2);
      const listen = fileEvents(path);
      for (let at = 0; at < 300; at += 1) await listen(eventOf({ session, call: "c" + at, more: { fill: "x".repeat(at * 20) } }));`,
      child,
    );
    await fileEvents(path)(eventOf({ session: "gone" }));
    const writers = Promise.all(["a", "b", "c"].map((name) => run(process.execPath, [child, path, name])));
    const removed = [];
    for (let at = 0; at < 3; at += 1) removed.push(await removeFromEventFile(path, "gone"));
    await writers;
    expect(removed).toEqual([1, 0, 0]);
    const sessions = await sessionsIn(path);
    for (const name of ["a", "b", "c"]) expect(sessions.filter((session) => session === name)).toHaveLength(300);
    expect(sessions).toHaveLength(900);
    expect(await readdir(dir)).toEqual(["child.mjs", "events.jsonl"]);
  });

  it("keeps what is not the session's: other events, foreign lines, a half one", async () => {
    const path = join(await freshFolder(), "events.jsonl");
    const listen = fileEvents(path);
    await appendFile(path, "a foreign line\n");
    for (const session of ["x", "y", null, "x"]) await listen(eventOf({ session }));
    await appendFile(path, '{"half');
    expect(await removeFromEventFile(path, "x")).toBe(2);
    const lines = await linesOf(path);
    expect([lines[0], lines[3]]).toEqual(["a foreign line", '{"half']);
    expect(lines.slice(1, 3).map((line) => JSON.parse(line).session)).toEqual(["y", null]);
    expect(await removeFromEventFile(join(folder, "nowhere.jsonl"), "x")).toBe(0);
  });
});

describe("a run directory", () => {
  const bytes = Uint8Array.from({ length: 3_000_000 }, (_, at) => at % 251);
  const spilled = (session: string | null, tool: string, artifact: string) =>
    eventOf({ kind: "artifact-spilled", session, tool, artifact });

  it("has each session's events and outputs as plain files, from a read and from the store's file", async () => {
    const dir = await freshFolder();
    const plain = join(dir, "plain");
    await writeFile(plain, bytes, { mode: 0o644 });
    const runs = join(dir, "runs");
    const store = storeOf(
      { aaaaaaaaaaaa: bytes, bbbbbbbbbbbb: bytes, empty: new Uint8Array() },
      { bbbbbbbbbbbb: plain },
    );
    const listen = runDirectory(runs, store);
    await listen(spilled("s1", "bash", "aaaaaaaaaaaa"));
    await listen(spilled("s1", "bash", "bbbbbbbbbbbb"));
    await listen(spilled("s1", "bash", "bbbbbbbbbbbb"));
    await listen(spilled(null, "bash", "empty"));
    await listen(spilled(null, "bash", "missing"));
    expect(await readdir(runs)).toEqual(["_no-session", "s1"]);
    const made = ["bash-aaaaaaaaaaaa.txt", "bash-bbbbbbbbbbbb.txt", "events.jsonl"];
    expect(await readdir(join(runs, "s1"))).toEqual(made);
    for (const name of made.slice(0, 2)) {
      expect(Buffer.compare(await readFile(join(runs, "s1", name)), bytes)).toBe(0);
      expect((await stat(join(runs, "s1", name))).mode & 0o777).toBe(0o600);
    }
    expect(await sessionsIn(join(runs, "s1", "events.jsonl"))).toEqual(["s1", "s1", "s1"]);
    expect(await readdir(join(runs, "_no-session"))).toEqual(["bash-empty.txt", "events.jsonl"]);
    await removeRun(runs, "s1");
    expect(await readdir(runs)).toEqual(["_no-session"]);
  });

  it("falls back to reading when the store's file has gone or changed", async () => {
    const dir = await freshFolder();
    await writeFile(join(dir, "other"), "not it");
    const store = storeOf({ a: bytes, b: bytes }, { a: join(dir, "nowhere"), b: join(dir, "other") });
    for (const id of ["a", "b"]) {
      const path = await copyOutput(dir, store, { id, scope: "local", session: "s", tool: "bash" });
      expect(path).toBe(outputPath(dir, { session: "s", tool: "bash", id }));
      expect(Buffer.compare(await readFile(path ?? ""), bytes)).toBe(0);
    }
    expect(await readdir(runPath(dir, "s"))).toEqual(["bash-a.txt", "bash-b.txt"]);
  });

  it("stays inside its folder, whatever sessions and tools are called", async () => {
    const dir = join(await freshFolder(), "runs");
    const listen = runDirectory(dir, storeOf({ a: new Uint8Array([1]) }));
    for (const name of HOSTILE_NAMES) await listen(spilled(name, name, "a"));
    expect(await readdir(dirname(dir))).toEqual(["runs"]);
    expect(await readdir(dir)).toHaveLength(HOSTILE_NAMES.length);
    for (const name of HOSTILE_NAMES) {
      expect(dirname(runPath(dir, storedName(name)))).toBe(dir);
      expect(await readdir(runPath(dir, storedName(name)))).toHaveLength(2);
      expect(basename(outputPath(dir, { session: name, tool: name, id: "../x" }))).not.toContain("/");
    }
  });

  it("has one run for a session with a long name, whoever asks, and removes it by that name", async () => {
    const dir = await freshFolder();
    const name = "long ".repeat(100);
    const store = storeOf({ a: new Uint8Array([1]) });
    await runDirectory(dir, store)(spilled(name, "bash", "a"));
    const copied = await openEventFiles({ runs: dir }, store).copyOut?.({
      ...((await store.find("a", "local")) as Artifact),
      session: storedName(name),
      tool: "bash",
    });
    expect(await readdir(dir)).toHaveLength(1);
    expect(copied).toBe(outputPath(dir, { session: storedName(name), tool: "bash", id: "a" }));
    expect(await removeRun(dir, name)).toBe(2);
    expect(await readdir(dir)).toEqual([]);
  });

  it("goes after its time with all its files, unless its session is pinned or the folder is not ours", async () => {
    const dir = await freshFolder();
    const write = runDirectory(dir, storeOf({}));
    for (const session of ["old", "pinned", "new", null]) await write(spilled(session, "t", "a"));
    await mkdir(join(dir, "mine"));
    await writeFile(join(dir, "mine", "events.jsonl"), '{"session":"another"}\n');
    await mkdir(join(dir, "foreign"));
    const long = new Date(Date.now() - 1_000_000);
    for (const run of ["old", "pinned", "_no-session", "mine"])
      await utimes(join(dir, run, "events.jsonl"), long, long);
    const isPinned = async (session: string) => session === "pinned";
    expect(await sweepRuns(dir, { maxAgeMs: 500_000, isPinned, isDryRun: true })).toBe(2);
    expect(await readdir(dir)).toHaveLength(6);
    // An event applies it in the background, once an hour.
    const listen = runDirectory(dir, storeOf({}), { maxAgeMs: 500_000, isPinned });
    await listen(spilled("new", "t", "a"));
    const left = ["collected", "foreign", "mine", "new", "pinned"];
    await expect.poll(() => readdir(dir)).toEqual(left);
    await write(spilled("late", "t", "a"));
    await utimes(join(dir, "late", "events.jsonl"), long, long);
    await runDirectory(dir, storeOf({}), { maxAgeMs: 500_000 })(spilled("new", "t", "a"));
    expect(await readdir(dir)).toContain("late");
  });

  it("writes through no link", async () => {
    const dir = await freshFolder();
    const elsewhere = join(dir, "elsewhere");
    await mkdir(elsewhere);
    await symlink(elsewhere, join(dir, "linked"));
    const listen = runDirectory(dir, storeOf({}));
    await expect(listen(spilled("linked", "t", "a"))).rejects.toMatchObject({ code: "store-unavailable" });
    await mkdir(join(dir, "s"));
    await symlink(join(elsewhere, "file"), join(dir, "s", "events.jsonl"));
    await expect(listen(spilled("s", "t", "a"))).rejects.toThrow(/ELOOP/);
    expect(await readdir(elsewhere)).toEqual([]);
  });
});
