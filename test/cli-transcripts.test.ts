import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createSpillway } from "../src/index.ts";
import { openDatabase } from "../src/storage/local/open-database.ts";
import { agents, has, screenshot, turnsOf } from "./wire/screenshots.ts";

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "spillway-cli-transcripts-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = { PATH: process.env.PATH, HOME: folder, SPILLWAY_DIR: join(folder, "store") };
const spillway = (...args: string[]) =>
  spawnSync(process.execPath, [CLI, ...args], { cwd: folder, encoding: "utf8", env, timeout: 240_000 });

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index} of some output`).join("\n");
const message = (id: string, parentId: string | null, value: object) =>
  JSON.stringify({ type: "message", id, parentId, timestamp: "t", message: value });
const session = [
  JSON.stringify({ type: "session", version: 3, id: "s", timestamp: "t", cwd: "/" }),
  message("u1", null, { role: "user", content: "go", timestamp: 1 }),
  message("a1", "u1", {
    role: "assistant",
    content: [{ type: "toolCall", id: "c", name: "bash", arguments: {} }],
    stopReason: "toolUse",
    timestamp: 1,
  }),
  message("r1", "a1", {
    role: "toolResult",
    toolCallId: "c",
    toolName: "bash",
    content: [{ type: "text", text: lines(9000) }],
    isError: false,
    timestamp: 1,
  }),
  message("a2", "r1", {
    role: "assistant",
    content: [{ type: "text", text: "done" }],
    stopReason: "stop",
    timestamp: 1,
  }),
].join("\n");
const fresh = (name: string) => {
  writeFileSync(join(folder, name), `${session}\n`);
  return name;
};

describe("spillway guard, cap, compact and prune", () => {
  it("guard cuts, saves, keeps a backup, and says what it did", () => {
    const file = fresh("guard.jsonl");
    expect(spillway("guard", file, "--dry-run").stdout).toMatch(
      /^1 message would be cut or repaired, 0 missing results/,
    );
    expect(readFileSync(join(folder, file), "utf8")).toBe(`${session}\n`);
    const { status, stdout, stderr } = spillway("guard", file, "--json");
    expect([status, stderr]).toEqual([0, ""]);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ file, dryRun: false, by: "rewrite", changed: 1, filled: 0, unread: 0 });
    expect(readFileSync(report.backup, "utf8")).toBe(`${session}\n`);
    const [, id = ""] = /artifact ([a-z2-7]{12})/.exec(readFileSync(join(folder, file), "utf8")) ?? [];
    expect(spillway("recall", id, "--lines", "5000").stdout).toContain("line 4999 of");
    expect(spillway("guard", file).stdout).toMatch(/^0 messages cut or repaired/);
  });

  it("cap prints messages on standard output, and pages", () => {
    const file = fresh("cap.jsonl");
    const { stdout, stderr } = spillway("cap", file);
    expect(JSON.parse(stdout)).toHaveLength(4);
    expect(stderr).toMatch(/^spillway: 4 of 4 messages, [\d.]+ KiB\n$/);
    const page = JSON.parse(spillway("cap", file, "--limit", "1", "--offset", "1", "--json").stdout);
    expect(page).toMatchObject({ contentTruncated: true, offset: 1, next: 2, total: 4 });
    expect(JSON.parse(spillway("cap", file, "--around", "u1", "--limit", "1", "-q").stdout)).toMatchObject([
      { role: "user" },
    ]);
    expect(JSON.parse(spillway("cap", file, "--no-tools", "-q").stdout)).toHaveLength(3);
  });

  it("compact keeps the header and the last lines", () => {
    const file = fresh("compact.jsonl");
    expect(spillway("compact", file, "--max-lines", "3").stdout).toMatch(
      /^2 of 5 lines stay: .*\n1 result went with its call\n/,
    );
    const [first, second] = readFileSync(join(folder, file), "utf8").trim().split("\n");
    expect(JSON.parse(first ?? "").type).toBe("session");
    expect(JSON.parse(second ?? "")).toMatchObject({ id: "a2", parentId: null });
  });

  it("prune shows a request, or lightens the file", () => {
    const file = fresh("prune.jsonl");
    const request = JSON.parse(spillway("prune", file, "--request", "2", "--json").stdout);
    expect(request.messages).toHaveLength(3);
    expect(request.report).toMatchObject({ wire: "pi" });
    expect(readFileSync(join(folder, file), "utf8")).toBe(`${session}\n`);
    const { status, stdout } = spillway("prune", file);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^\d+ messages? lightened: [\d,]+ -> [\d,]+ tokens\n/);
  });

  it("prune leaves old screenshots out of the file and keeps them", () => {
    const pi = agents.find(({ wire }) => wire === "pi") as (typeof agents)[number];
    const entries = [
      { type: "session", version: 3, id: "s1", timestamp: "2026-01-01T00:00:00Z", cwd: "/" },
      ...turnsOf(pi, 30)
        .flat()
        .map((message, at) => ({ type: "message", id: `m${at}`, parentId: at === 0 ? null : `m${at - 1}`, message })),
    ];
    const file = join(folder, "screens.jsonl");
    writeFileSync(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    const { stdout } = spillway("prune", file, "--window", "40000");
    expect(stdout).toMatch(/images, sounds and files: \d\d left out/);
    const text = readFileSync(file, "utf8");
    expect([has(text, 3), has(text, 28)]).toEqual([false, true]);
    const id = /artifact ([a-z2-7]{12})/.exec(text)?.[1] ?? "";
    const { stdout: raw } = spawnSync(process.execPath, [CLI, "recall", id, "--raw"], { cwd: folder, env });
    expect(Buffer.compare(raw, screenshot(0))).toBe(0);
  });

  it("prune without doing it says what prune does, of what earlier requests showed too, and writes nothing", async () => {
    const turns = Array.from({ length: 30 }, (_, at) => [
      { role: "assistant", content: [{ type: "tool_use", id: `c${at}`, name: "lookup", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: `c${at}`, content: lines(100) }] },
    ]);
    const messages = [{ role: "user", content: "go" }, ...turns.flat()];
    const text = JSON.stringify(messages);
    const file = join(folder, "shown.json");
    const dir = join(folder, "shown");
    writeFileSync(file, text);
    const earlier = await createSpillway({ dir, env: {} });
    const shown = await earlier.prepare(messages, { wire: "anthropic", window: 20_000 });
    await earlier.store?.close();
    const count = shown.messages.filter((message, at) => message !== messages[at]).length;
    expect(count).toBeGreaterThan(10);
    const rows = async () => {
      const database = await openDatabase(dir);
      const of = (table: string) => database.raw.prepare(`select count(*) as n from ${table}`).get();
      const counts = [of("projections"), of("events"), of("artifacts")];
      await database.close();
      return counts;
    };
    const before = await rows();
    const prune = (...flags: string[]) => {
      const { stdout, stderr } = spillway("prune", file, "--dir", dir, "--window", "200000", "--json", ...flags);
      expect(stderr).toBe("");
      return JSON.parse(stdout);
    };
    const replayed = { report: { results: { replayed: count, cleared: 0 } } };
    expect(prune("--dry-run")).toMatchObject({ changed: count, ...replayed });
    expect(prune("--request", "31")).toMatchObject({ messages: shown.messages, ...replayed });
    expect(prune("--dry-run", "--mode", "aggressive").report.results.cleared).toBeGreaterThan(0);
    for (const flags of [["--dry-run"], []]) {
      expect(prune("--mode", "off", ...flags)).toMatchObject({ changed: 0, report: { results: { replayed: 0 } } });
    }
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(await rows()).toEqual(before);
    expect(prune()).toMatchObject({ changed: count, ...replayed });
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(shown.messages);
    // A folder that is not there is not made to look at it.
    const none = join(folder, "none");
    expect(spillway("prune", file, "--dir", none, "--dry-run").stderr).toBe("");
    expect(existsSync(none)).toBe(false);
  });

  it.each([
    [["guard", "gone.jsonl"], /cannot read gone\.jsonl: no such file/],
    [["guard"], /missing required argument 'file'/],
    [["cap", "notes.txt"], /notes\.txt is neither JSON nor JSON lines/],
    [["cap", "s.jsonl", "--around", "nope"], /there is no message "nope"/],
    [["cap", "s.jsonl", "--max-bytes", "10"], /maxBytes must be a whole number from 128/],
    [["compact", "s.jsonl", "--max-lines", "0"], /--max-lines must be 1 or more/],
    [["prune", "s.jsonl", "--request", "9"], /--request takes 1 to 3/],
    [["prune", "s.jsonl", "--mode", "wild"], /--mode takes adaptive, aggressive or off/],
    [["guard", "s.jsonl", "--edits", "--rewrite"], /exclude each other/],
    [["guard", "s.jsonl", "--wire", "telex"], /--wire must be one of anthropic/],
  ])("answers %j with one clear line and exit code 2", (args, said) => {
    fresh("s.jsonl");
    writeFileSync(join(folder, "notes.txt"), "just\nsome\nnotes\n");
    const { status, stdout, stderr } = spillway(...args);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(said);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  it("each has help with examples", () => {
    for (const command of ["guard", "cap", "compact", "prune"])
      expect(spillway(command, "--help")).toMatchObject({ status: 0, stdout: expect.stringContaining("Examples:") });
  });
});
