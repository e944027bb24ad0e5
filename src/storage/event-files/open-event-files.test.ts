import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSpillway, type SpillwayOptions } from "../../index.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { memoryLedger } from "../ledgers/memory.ts";
import { memoryStore } from "../stores/memory.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-runs-"));
});
afterAll(() => rm(folder, { recursive: true }));

const make = (options: SpillwayOptions = {}) =>
  createSpillway({ store: memoryStore(), ledger: memoryLedger(), env: {}, ...options });
const TOKEN = `ghp_${"a1B2c3D4e5F6g7H8".repeat(3).slice(0, 36)}`;
const output = `${Array.from({ length: 5000 }, (_, index) => `line ${index + 1}\n`).join("")}is ${TOKEN}\n`;
const stored = output.replace(TOKEN, "[redacted:github-token]");
const kindsIn = async (path: string) =>
  (await readFile(path, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).kind);

describe("events and runs", () => {
  it("a log of all events, and a folder for each session with its events and each kept output", async () => {
    const events = join(folder, "logs", "events.jsonl");
    const runs = join(folder, "runs");
    const spillway = await make({ events, runs });
    const { receipt } = await spillway.admit({ tool: "bash", session: "s1", output });
    await spillway.admit({ tool: "bash", session: "s2", output: "small" });
    expect(await kindsIn(events)).toEqual(["output-clamped", "artifact-spilled", "output-passed"]);
    expect(await kindsIn(join(runs, "s1", "events.jsonl"))).toEqual(["output-clamped", "artifact-spilled"]);
    expect(await kindsIn(join(runs, "s2", "events.jsonl"))).toEqual(["output-passed"]);
    expect((await readdir(join(runs, "s1"))).toSorted()).toEqual([`bash-${receipt.artifact}.txt`, "events.jsonl"]);
    expect(await readFile(join(runs, "s1", `bash-${receipt.artifact}.txt`), "utf8")).toBe(stored);
    expect(await readFile(events, "utf8")).not.toContain(TOKEN);
  });

  it("runs without a store have events only; a path that is none is told", async () => {
    const runs = join(folder, "no-store");
    const spillway = await make({ store: null, runs });
    await spillway.admit({ tool: "bash", session: "s1", output });
    expect(await readdir(join(runs, "s1"))).toEqual(["events.jsonl"]);
    await expect(make({ events: " " })).rejects.toThrow(/events must be a path/);
    await expect(make({ runs: 5 as never })).rejects.toThrow(/runs must be a path/);
  });

  it("never stand in the way: a log that cannot be written is passed over", async () => {
    const blocked = join(folder, "blocked");
    await writeFile(blocked, "");
    const spillway = await make({ events: join(blocked, "x"), runs: join(blocked, "runs") });
    const { receipt } = await spillway.admit({ tool: "bash", output });
    expect(receipt.saved).toBe("yes");
    expect((await spillway.ledger?.events())?.length).toBe(2);
  });
});

describe('reader: { by: "file" }', () => {
  it("gets a path, under which the whole is, before the marker names it", async () => {
    const runs = join(folder, "files");
    const spillway = await make({ runs, reader: { by: "file" } });
    const { text, receipt } = await spillway.admit({ tool: "bash", session: "s1", output });
    const path = join(runs, "s1", `bash-${receipt.artifact}.txt`);
    expect(text).toContain(`The whole is in ${path} (artifact ${receipt.artifact}): read the lines you need.`);
    expect(await readFile(path, "utf8")).toBe(stored);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("names one for each text of a result, and the same file as the event does", async () => {
    const runs = join(folder, "blocks");
    const spillway = await make({ runs, reader: { by: "file" } });
    const content = [output, `${output}more`].map((text) => ({ type: "text", text }));
    const { text, receipt } = await spillway.admit({ tool: `curl ${TOKEN}`, session: "s1", output: { content } });
    const named = [...text.matchAll(/The whole is in (\S+) \(artifact/g)].map(([, path]) => path as string);
    expect(receipt.artifacts?.length).toBe(2);
    expect(named.length).toBe(2);
    expect(await Promise.all(named.map((path) => readFile(path, "utf8")))).toEqual([stored, `${stored}more`]);
    expect(named.join()).not.toContain(TOKEN);
    expect((await readdir(join(runs, "s1"))).length).toBe(3);
  });

  it("gets a path for a result that is pruned later", async () => {
    const runs = join(folder, "pruned");
    const spillway = await make({ runs, reader: { by: "file" }, policy: { pruning: { mode: "aggressive" } } });
    const call = (id: string) => ({ id, type: "function", function: { name: "bash", arguments: "{}" } });
    const turn = (id: string, content: string) => [
      { role: "user", content: "go on" },
      { role: "assistant", content: null, tool_calls: [call(id)] },
      { role: "tool", tool_call_id: id, content },
      { role: "assistant", content: "done" },
    ];
    const old = "a line of the old result\n".repeat(4000);
    const messages = [turn("one", old), turn("two", "x"), turn("three", "y"), turn("four", "z")].flat();
    const { messages: prepared } = await spillway.prepare(messages, { session: "s1", window: 16_000 });
    const [, file = ""] = /It is in (\S+), artifact/.exec(JSON.stringify(prepared[2])) ?? [];
    expect(file).toContain(join(runs, "s1", "bash-"));
    expect(await readFile(file, "utf8")).toBe(old);
  });

  it("says that the operator has it where no copy could be made", async () => {
    const blocked = join(folder, "blocked-2");
    await writeFile(blocked, "");
    await symlink(folder, join(folder, "link"));
    for (const runs of [join(blocked, "runs"), join(folder, "a\nb")]) {
      const spillway = await make({ runs, reader: { by: "file" } });
      const { text } = await spillway.admit({ tool: "bash", session: "s", output });
      expect(text).toMatch(/which the operator can read/);
      expect(text).not.toContain("The whole is in");
    }
    // If the session's folder is a link, nothing is written through it.
    const spillway = await make({ runs: folder, reader: { by: "file" } });
    expect((await spillway.admit({ tool: "bash", session: "link", output })).text).toMatch(/operator can read/);
  });

  it("copies nothing over the largest size, and needs a folder", async () => {
    const store = memoryStore();
    const large = NUMBERS.runCopyBytes.default + 1;
    const find: typeof store.find = async (...args) => {
      const found = await store.find(...args);
      return found && { ...found, bytes: large };
    };
    const spillway = await make({ store: { ...store, find }, runs: join(folder, "large"), reader: { by: "file" } });
    expect((await spillway.admit({ tool: "bash", session: "s", output })).text).toMatch(/operator can read/);
    expect(await readdir(join(folder, "large", "s"))).toEqual(["events.jsonl"]);
    await expect(make({ reader: { by: "file" } })).rejects.toThrow(/needs runs/);
  });
});
