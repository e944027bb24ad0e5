import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { writeChildModule } from "../../../../test/child-module.ts";
import { heldChars } from "../../../../test/held-chars.ts";
import { formats } from "../../../../test/recovery/formats.ts";
import { createSpillway } from "../../../index.ts";
import { LOST_RESULT } from "../../../stages/mark/texts.ts";
import { memoryStore } from "../../../storage/stores/memory.ts";
import { pairResults } from "../../../wire/pair-results.ts";
import { loaded } from "../../../wire/stored-message.ts";
import { messagesOf } from "./cap-file.ts";
import { compactFile } from "./compact-file.ts";
import { guardFile } from "./guard-file.ts";
import { openTranscript, readSnapshot } from "./open-transcript.ts";
import { pruneFile, pruneRequest } from "./prune-file.ts";
import { readContext } from "./read-context.ts";
import { rewriteFile } from "./rewrite-file.ts";

const folder = mkdtempSync(join(tmpdir(), "spillway-transcripts-"));
afterAll(() => rmSync(folder, { recursive: true }));
let made = 0;
const save = (text: string, name = "session.jsonl") => {
  const path = join(folder, `${(made += 1)}-${name}`);
  writeFileSync(path, text);
  return path;
};
const spillway = await createSpillway({ store: memoryStore(), ledger: null, env: {}, redact: "off" });

const header = { type: "session", version: 3, id: "s-1", timestamp: "2026-01-01T00:00:00Z", cwd: "/" };
const entry = (id: string, parentId: string | null, more: object) => ({
  id,
  parentId,
  timestamp: "2026-01-01T00:00:01Z",
  ...more,
});
const message = (id: string, parentId: string | null, value: object) =>
  entry(id, parentId, { type: "message", message: value });
const user = (text: string) => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });
const call = (...ids: string[]) => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "toolCall", id, name: "bash", arguments: { a: id } })),
  stopReason: "toolUse",
  timestamp: 1,
});
const result = (id: string, text: string, more: object = {}) => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "bash",
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 1,
  ...more,
});
const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index} of some output`).join("\n");
const jsonl = (...values: unknown[]) =>
  values.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join("\n") + "\n";
const read = (path: string) =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Read => {
      try {
        return JSON.parse(line);
      } catch {
        return { malformed: line } as Read;
      }
    });
const guard = (path: string, more: object = {}) =>
  guardFile(openTranscript(path), spillway, { dryRun: false, ...more });
const leftovers = () => readdirSync(folder).filter((name) => /\.(lock|part)$/.test(name));

interface Read {
  id: string;
  type?: string;
  parentId?: string | null;
  targetId?: string | null;
  firstKeptEntryId?: string;
  firstKeptEntryIndex?: number;
  fromId?: string;
  malformed?: string;
  message: { toolCallId: string; content: { text: string }[] };
  replacement: { content: { text: string }[] };
}

/** Every reference leads to an entry that is there, before it. */
function checkReferences(entries: Read[]): void {
  const seen = new Set<string>();
  for (const { id, type, parentId, targetId, firstKeptEntryId, fromId, malformed } of entries) {
    if (malformed !== undefined || type === "session") continue;
    if (typeof parentId === "string") expect(seen).toContain(parentId);
    if (typeof targetId === "string") expect(seen).toContain(targetId);
    if (typeof firstKeptEntryId === "string") expect([...seen, id]).toContain(firstKeptEntryId);
    if (typeof fromId === "string") expect([...seen, "root"]).toContain(fromId);
    seen.add(id);
  }
}

describe("guard FILE", () => {
  it("cuts results in place, and leaves every other byte as it was", async () => {
    const odd = '{"type":"message", "id":"u1","parentId":null,  "message":{"role":"user","content":"\\u00e9 1.0"}}';
    const path = save(
      jsonl(
        header,
        odd,
        "{ not json",
        message("a1", "u1", call("c")),
        "",
        message("r1", "a1", result("c", lines(9000))),
      ),
    );
    const report = await guard(path);
    expect(report).toMatchObject({ by: "rewrite", changed: 1, filled: 0, unread: 1 });
    const [first, second, third, fourth, last] = read(path);
    expect(first).toEqual(header);
    expect(readFileSync(path, "utf8").split("\n").slice(1, 3)).toEqual([odd, "{ not json"]);
    expect([second?.id, third?.malformed, fourth?.id]).toEqual(["u1", "{ not json", "a1"]);
    expect(last).toMatchObject({ id: "r1", parentId: "a1", message: { toolCallId: "c", isError: false } });
    expect(last?.message.content[0]?.text).toContain("Output cut to fit");
    expect(readFileSync(report.backup ?? "", "utf8")).toContain("line 8000 of");
    expect(report.bytesAfter).toBe(statSync(path).size);
    expect(await guard(path)).toMatchObject({ changed: 0, backup: null });
    expect(leftovers()).toEqual([]);
  });

  it("fills in missing results, and sets the next entry behind them", async () => {
    const path = save(
      jsonl(
        header,
        message("u1", null, user("go")),
        message("a1", "u1", call("c", "d")),
        message("r1", "a1", result("c", "ok")),
        message("u2", "r1", user("next")),
        message("a2", "u2", { ...call("e"), stopReason: "aborted" }),
        message("u3", "a2", user("again")),
        // Another branch from the first turn: nothing is known to be missing there.
        message("u4", "a1", user("other way")),
      ),
    );
    expect(await guard(path)).toMatchObject({ filled: 1, changed: 0 });
    const entries = read(path);
    checkReferences(entries);
    expect(entries.map(({ id }) => id).filter((id) => id.length === 2)).toEqual([
      "u1",
      "a1",
      "r1",
      "u2",
      "a2",
      "u3",
      "u4",
    ]);
    const filler = entries[4];
    expect(filler).toMatchObject({ type: "message", parentId: "r1", message: { toolCallId: "d", isError: true } });
    expect(filler?.message.content[0]?.text).toBe(LOST_RESULT);
    expect(entries[5]).toMatchObject({ id: "u2", parentId: filler?.id });
  });

  it("appends context_edit records where the session's writer knows them, changing no line", async () => {
    const before = jsonl(
      header,
      message("u1", null, user("go")),
      message("a1", "u1", call("c")),
      message("r1", "a1", result("c", lines(9000))),
      entry("x1", "r1", { type: "usage", kind: "k" }),
      message("off", "u1", result("zz", lines(9000))),
      message("u2", "x1", user("next")),
    );
    const path = save(before);
    expect(await guard(path, { dryRun: true })).toMatchObject({ by: "edits", changed: 1 });
    expect(readFileSync(path, "utf8")).toBe(before);
    const report = await guard(path);
    expect(report).toMatchObject({ by: "edits", changed: 1, backup: null, bytesAfter: statSync(path).size });
    expect(readFileSync(path, "utf8").startsWith(before)).toBe(true);
    const edit = read(path).at(-1);
    expect(edit).toMatchObject({ type: "context_edit", parentId: "u2", targetId: "r1" });
    expect(edit?.replacement.content[0]?.text).toContain("Output cut to fit");
    expect(await guard(path)).toMatchObject({ changed: 0 });
    expect(await guard(path, { by: "rewrite" })).toMatchObject({ by: "rewrite", changed: 2 });
    expect(read(path)).toHaveLength(8);
  });

  it("says of how many results an edit leaves the details", async () => {
    const bulky = { details: { all: lines(900) } };
    const path = save(
      jsonl(
        header,
        message("a1", null, call("c", "d")),
        message("r1", "a1", result("c", lines(9000), bulky)),
        message("r2", "r1", result("d", "ok", bulky)),
      ),
    );
    expect(await guard(path, { by: "edits" })).toMatchObject({ changed: 1, detailsLeft: 2 });
    expect(await guard(path, { by: "rewrite" })).toMatchObject({ changed: 2, detailsLeft: 0 });
  });

  it("counts edits once, however often another process made it begin again", async () => {
    const path = save(jsonl(header, message("a1", null, call("c")), message("r1", "a1", result("c", lines(9000)))));
    let times = 0;
    const late = () => {
      if (times++ === 0) appendFileSync(path, `${JSON.stringify(message("u9", "r1", user("late")))}\n`);
    };
    const noticed = await createSpillway({ store: null, ledger: null, env: {}, onEvent: late });
    const report = await guardFile(openTranscript(path), noticed, { by: "edits", dryRun: false });
    expect(times).toBeGreaterThan(1);
    expect(report).toMatchObject({ changed: 1 });
    expect(read(path).at(-1)).toMatchObject({ type: "context_edit", parentId: "u9" });
  });

  it("ends each line as it ended", async () => {
    const values = [header, message("a1", null, call("c")), message("r1", "a1", result("c", lines(9000)))];
    for (const act of [
      (path: string) => guard(path),
      (path: string) => compactFile(openTranscript(path), { maxLines: 2, dryRun: false }),
      (path: string) => pruneFile(openTranscript(path), spillway, { dryRun: false }),
    ]) {
      const path = save(jsonl(...values, message("u2", "r1", user("x"))).replaceAll("\n", "\r\n"));
      await act(path);
      const text = readFileSync(path, "utf8");
      expect(text.match(/(?<!\r)\n/g)).toBeNull();
      expect(text.endsWith("\r\n")).toBe(true);
    }
  });

  it("keeps a last line that was cut off a line of its own", async () => {
    const path = save(
      `${jsonl(header, message("u1", null, user("go")), message("r1", "u1", result("c", lines(9000))))}{"type":"mess`,
    );
    await guard(path, { by: "edits" });
    const entries = read(path);
    expect(entries.at(-2)).toEqual({ malformed: '{"type":"mess' });
    expect(entries.at(-1)).toMatchObject({ type: "context_edit", parentId: "r1" });
  });

  it("takes messages of any format, a line each or as one JSON value, laid out as it was", async () => {
    const large = { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: lines(9000) }] };
    const asking = { role: "assistant", content: [{ type: "tool_use", id: "c", name: "bash", input: {} }] };
    const open = { role: "assistant", content: [{ type: "tool_use", id: "d", name: "bash", input: {} }] };
    const messages = [{ role: "user", content: "go" }, asking, large, open, { role: "user", content: "stop" }];
    const perLine = save(jsonl(...messages), "messages.jsonl");
    expect(await guard(perLine)).toMatchObject({ changed: 1, filled: 1 });
    expect(read(perLine)[4]).toEqual({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "d", is_error: true, content: LOST_RESULT }],
    });
    const body = save(`${JSON.stringify({ model: "m", messages, max_tokens: 5 }, null, 2)}\n`, "body.json");
    expect(await guard(body)).toMatchObject({ changed: 1, filled: 1 });
    const text = readFileSync(body, "utf8");
    expect(JSON.parse(text)).toMatchObject({ model: "m", max_tokens: 5, messages: { length: 6 } });
    expect(text).toMatch(/^\{\n {2}"model": "m",\n[\s\S]*\}\n$/);
    const list = save(JSON.stringify(messages), "list.json");
    expect(await guard(list)).toMatchObject({ changed: 1 });
    expect(JSON.parse(readFileSync(list, "utf8"))).toHaveLength(6);
  });

  it("guards the oldest sessions, which have no ids", async () => {
    const old = (value: object) => ({ type: "message", timestamp: "t", message: value });
    const path = save(
      jsonl({ type: "session", id: "s" }, old(call("c", "d")), old(result("c", lines(9000))), old(user("x"))),
    );
    expect(await guard(path)).toMatchObject({ changed: 1, filled: 1 });
    expect(read(path)[3]).toMatchObject({ type: "message", message: { toolCallId: "d" } });
    const kept = { type: "compaction", summary: "s", firstKeptEntryIndex: 4 };
    const listed = save(
      `\ufeff${jsonl({ type: "session", id: "s" }, ...Array.from("abcde", (text) => old(user(text))), kept)}`,
    );
    await compactFile(openTranscript(listed), { maxLines: 5, dryRun: false });
    expect(read(listed).map((one) => one.firstKeptEntryIndex ?? one.type ?? "header")).toEqual([
      "header",
      "message",
      "message",
      "message",
      2,
    ]);
    const transcript = openTranscript(listed);
    readSnapshot(listed, (snapshot) => expect(messagesOf(transcript, snapshot).messages.length).toBe(3));
  });

  it("moves the places that the oldest sessions name as far as it moved those entries", async () => {
    const old = (value: object) => ({ type: "message", timestamp: "t", message: value });
    const kept = (firstKeptEntryIndex: number) => ({ type: "compaction", summary: "s", firstKeptEntryIndex });
    const values = [old(call("c")), old(user("x")), old(call("d", "e")), old(user("y"))];
    const path = save(
      jsonl({ type: "session", id: "s" }, "", ...values, "no JSON", kept(1), kept(2), kept(3), kept(4)),
    );
    expect(await guard(path)).toMatchObject({ changed: 0, filled: 3 });
    const lines = read(path);
    const named = lines.flatMap(({ firstKeptEntryIndex: at }) => (at === undefined ? [] : [lines[at]?.message]));
    expect(named).toEqual(values.map((one) => one.message));
  });

  it("bounds the output of commands that a person ran, and says where an edit cannot", async () => {
    const run = (output: string) => ({ role: "bashExecution", command: "make", output, exitCode: 0, timestamp: 1 });
    const values = [header, message("u1", null, run(lines(9000))), message("u2", "u1", run("ok"))];
    const path = save(jsonl(...values));
    expect(await guard(path, { by: "edits" })).toMatchObject({ changed: 0, detailsLeft: 1 });
    expect(await guard(path)).toMatchObject({ changed: 1 });
    const [, long, short] = read(path) as unknown as { message: ReturnType<typeof run> }[];
    expect({ ...long?.message, output: "" }).toEqual(run(""));
    expect(long?.message.output).toMatch(/line 0 of some output\n[^]*line 8999 of some output\n\[Output cut to fit/);
    expect(Buffer.byteLength(long?.message.output ?? "")).toBeLessThanOrEqual(50 * 1024);
    expect(short?.message).toEqual(run("ok"));
    expect(await guard(path)).toMatchObject({ changed: 0 });
  });

  it("gives one result its share of a window that is stated", async () => {
    const run = { role: "bashExecution", command: "make", output: lines(900), timestamp: 1 };
    const values = [header, message("a1", null, call("c")), message("r1", "a1", result("c", lines(900)))];
    const path = save(jsonl(...values, message("u1", "r1", run)));
    expect(await guard(path)).toMatchObject({ changed: 0 });
    expect(await guard(path, { window: 4000 })).toMatchObject({ changed: 2 });
    const [, , cut, command] = read(path) as unknown as { message: { content: { text: string }[]; output: string } }[];
    for (const text of [cut?.message.content[0]?.text, command?.message.output]) {
      expect(text?.length).toBeLessThanOrEqual(4800);
      expect(text?.length).toBeGreaterThan(4000);
    }
  });

  it("dry runs change nothing; a link stays a link; the mode stays", async () => {
    const path = save(jsonl(header, message("r1", null, result("c", lines(9000)))));
    const text = readFileSync(path, "utf8");
    expect(await guard(path, { dryRun: true })).toMatchObject({ changed: 1, backup: null });
    expect(readFileSync(path, "utf8")).toBe(text);
    const link = join(folder, "link.jsonl");
    symlinkSync(path, link);
    const { mode } = statSync(path);
    await guard(link);
    expect(existsSync(link)).toBe(true);
    expect(statSync(path).mode).toBe(mode);
    expect(readFileSync(path, "utf8").length).toBeLessThan(60_000);
  });

  it("refuses what it cannot read, in words", () => {
    expect(() => openTranscript(join(folder, "gone"))).toThrow(/cannot read .*gone: no such file/);
    expect(() => openTranscript(folder)).toThrow(/not a file/);
    expect(() => openTranscript(save("plain text\nmore\nand more\nx"))).toThrow(/neither JSON nor JSON lines/);
    expect(() => openTranscript(save('{"a":1}\n{"b":2}\n'))).toThrow(/no messages in a format we know/);
    expect(() => openTranscript(save("[]"), "telex")).toThrow(/--wire must be one of/);
  });
});

describe("a file that others write to", () => {
  const session = () => save(jsonl(header, message("r1", null, result("c", lines(9000)))));

  it("is left alone while a live process holds its lock; a dead one's lock is taken over", async () => {
    const path = session();
    writeFileSync(`${path}.lock`, JSON.stringify({ pid: process.pid, createdAt: "x" }));
    await expect(guard(path)).rejects.toThrow(new RegExp(`in use by process ${process.pid}`));
    writeFileSync(`${path}.lock`, JSON.stringify({ pid: 2 ** 30, createdAt: "x" }));
    expect(await guard(path)).toMatchObject({ changed: 1 });
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it("loses nothing that is appended meanwhile", async () => {
    const path = session();
    const late = JSON.stringify(message("u9", "r1", user("late")));
    let times = 0;
    const done = await rewriteFile(path, async ({ bytes }, sink) => {
      sink.write(`[${bytes}]\n`);
      if (times++ < 9) appendFileSync(path, `${late}\n`);
      return true;
    });
    expect(times).toBe(3);
    expect(done.appendedBytes).toBe(late.length + 1);
    expect(readFileSync(path, "utf8").endsWith(`]\n${late}\n`)).toBe(true);
    expect(readFileSync(done.backup ?? "", "utf8").split(late)).toHaveLength(4);
  });

  it("is whole though one that rewrote it was killed, and the next removes what that one began", async () => {
    const path = session();
    const before = readFileSync(path, "utf8");
    const module = join(folder, "killed.mjs");
    const source = `import { rewriteFile } from "./src/entrypoints/cli/transcripts/rewrite-file.ts";
      await rewriteFile(${JSON.stringify(path)}, async (old, sink) => {
        sink.write("half");
        process.kill(process.pid, "SIGKILL");
        return true;
      });`;
    await writeChildModule(source, module);
    expect(spawnSync(process.execPath, [module], { timeout: 240_000 }).status).not.toBe(0);
    expect(readFileSync(path, "utf8")).toBe(before);
    const beside = () => readdirSync(folder).filter((name) => join(folder, name).startsWith(path));
    expect(beside()).toHaveLength(3);
    expect(await guard(path)).toMatchObject({ by: "rewrite" });
    expect(beside().filter((name) => /part$|lock$/.test(name))).toEqual([]);
  });

  it("is not touched if it was replaced or shortened meanwhile", async () => {
    const path = session();
    const replaced = rewriteFile(path, async () => {
      rmSync(path);
      writeFileSync(path, "new\n");
      return true;
    });
    await expect(replaced).rejects.toThrow(/changed by another process/);
    expect(readFileSync(path, "utf8")).toBe("new\n");
    const shortened = rewriteFile(path, async () => {
      writeFileSync(path, "");
      return true;
    });
    await expect(shortened).rejects.toThrow(/changed by another process/);
    const whole = session();
    const text = readFileSync(whole, "utf8");
    const failed = rewriteFile(whole, async (_old, sink) => {
      sink.write("half of it");
      throw new Error("a fault");
    });
    await expect(failed).rejects.toThrow("a fault");
    expect(readFileSync(whole, "utf8")).toBe(text);
    expect(leftovers()).toEqual([]);
  });

  it("gets edits behind what was appended meanwhile", async () => {
    const path = session();
    const { appendEdits } = await import("./append-edits.ts");
    let times = 0;
    await appendEdits(path, false, async function* () {
      if (times++ === 0) appendFileSync(path, `${JSON.stringify(message("u9", "r1", user("late")))}\n`);
      yield { targetId: "r1", content: "short" };
    });
    expect(read(path).at(-1)).toMatchObject({ type: "context_edit", parentId: "u9", targetId: "r1" });
    expect(times).toBe(2);
  });
});

describe("compact FILE", () => {
  const compact = (path: string, maxLines: number, dryRun = false) =>
    compactFile(openTranscript(path), { maxLines, dryRun });
  const turns = (count: number) =>
    Array.from({ length: count }, (_, turn) => [
      message(`u${turn}`, turn === 0 ? null : `r${turn - 1}`, user(`turn ${turn}`)),
      message(`a${turn}`, `u${turn}`, call(`c${turn}`)),
      message(`r${turn}`, `a${turn}`, result(`c${turn}`, "ok")),
    ]).flat();

  it("keeps the header and the last lines, at most N in all, and roots them anew", async () => {
    const path = save(jsonl(header, ...turns(200)));
    const report = await compact(path, 400);
    expect(report).toMatchObject({ before: 601, after: 400, droppedResults: 0, repaired: 1 });
    const entries = read(path);
    expect(entries[0]).toEqual(header);
    expect(entries[1]).toMatchObject({ id: "u67", parentId: null });
    checkReferences(entries);
    expect(read(report.backup ?? "")).toHaveLength(601);
    expect(report.bytesAfter).toBe(statSync(path).size);
    expect(await compact(path, 400)).toMatchObject({ before: 400, after: 400, backup: null });
  });

  it("drops a pair across the border whole, its children keeping their way up", async () => {
    const path = save(jsonl(header, ...turns(10), "{ broken"));
    // The border falls between a call and its result.
    const report = await compact(path, 6);
    expect(report).toMatchObject({ before: 32, after: 5, droppedResults: 1 });
    const entries = read(path);
    expect(entries.map(({ id, malformed }) => id ?? malformed)).toEqual(["s-1", "u9", "a9", "r9", "{ broken"]);
    expect(entries[1]?.parentId).toBe(null);
    checkReferences(entries);
  });

  it("sets every reference to what is still there", async () => {
    const path = save(
      jsonl(
        header,
        ...turns(3),
        entry("l1", "r2", { type: "label", targetId: "u0", label: "gone" }),
        message("u3", "l1", user("x")),
        entry("k1", "u3", { type: "compaction", summary: "s", firstKeptEntryId: "u1", tokensBefore: 1 }),
        entry("b1", "k1", { type: "branch_summary", fromId: "a0", summary: "b" }),
        entry("k2", null, { type: "compaction", summary: "s", firstKeptEntryId: "u1", tokensBefore: 1 }),
        entry("e1", "b1", { type: "context_edit", targetId: "u3", replacement: null }),
        entry("f1", "e1", { type: "leaf", targetId: "a1" }),
      ),
    );
    await compact(path, 8);
    const entries = read(path);
    checkReferences(entries);
    const byId = Object.fromEntries(entries.map((one) => [one.id, one]));
    expect(Object.keys(byId)).toEqual(["s-1", "u3", "k1", "b1", "k2", "e1", "f1"]);
    expect(byId.u3?.parentId).toBe(null);
    expect(byId.k1?.firstKeptEntryId).toBe("u3");
    expect(byId.k2?.firstKeptEntryId).toBe("k2");
    expect(byId.b1?.fromId).toBe("root");
    expect(byId.e1?.targetId).toBe("u3");
    expect(byId.f1?.targetId).toBe(null);
  });

  it("counts messages in a JSON list, and keeps a system message at its start", async () => {
    const chat = [
      { role: "system", content: "be brief" },
      { role: "user", content: "a" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c", content: "r" },
      { role: "user", content: "b" },
      { role: "assistant", content: "done" },
    ];
    const path = save(JSON.stringify(chat), "chat.json");
    expect(await compact(path, 4, true)).toMatchObject({ before: 6, after: 3, droppedResults: 1 });
    await compact(path, 4);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual([chat[0], chat[4], chat[5]]);
    const perLine = save(jsonl(...chat), "chat.jsonl");
    await compact(perLine, 4);
    expect(read(perLine)).toEqual([chat[0], chat[4], chat[5]]);
  });
});

describe("compact FILE, any session", () => {
  const step = fc.record({
    kind: fc.constantFrom(
      "user",
      "call",
      "result",
      "call",
      "result",
      "label",
      "edit",
      "compaction",
      "summary",
      "leaf",
      "broken",
    ),
    /** How far back its parent, its call or what it names stands. */
    back: fc.integer({ min: 1, max: 6 }),
    far: fc.integer({ min: 1, max: 12 }),
  });

  it("leaves a session whose references all lead somewhere, with no result without its call", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 4, maxLength: 30, size: "max" }),
        fc.integer({ min: 1, max: 14 }),
        async (steps, maxLines) => {
          const values: unknown[] = [header];
          const ids: string[] = [];
          for (const [index, { kind, back, far }] of steps.entries()) {
            const id = `n${index}`;
            const parentId = ids.at(-back) ?? null;
            const named = ids.at(-far) ?? ids[0] ?? null;
            if (kind === "broken") values.push("{ broken");
            else if (kind === "user" || named === null) values.push(message(id, parentId, user("x")));
            else if (kind === "call") values.push(message(id, parentId, call(`c${index % 4}`)));
            else if (kind === "result") values.push(message(id, parentId, result(`c${far % 4}`, "r")));
            else if (kind === "label") values.push(entry(id, parentId, { type: "label", targetId: named, label: "l" }));
            else if (kind === "edit")
              values.push(entry(id, parentId, { type: "context_edit", targetId: named, replacement: null }));
            else if (kind === "leaf") values.push(entry(id, parentId, { type: "leaf", targetId: named }));
            else if (kind === "summary")
              values.push(entry(id, parentId, { type: "branch_summary", fromId: named, summary: "s" }));
            else values.push(entry(id, parentId, { type: "compaction", firstKeptEntryId: named, summary: "s" }));
            if (kind !== "broken") ids.push(id);
          }
          const path = save(jsonl(...values));
          const report = await compactFile(openTranscript(path), { maxLines, dryRun: false });
          const entries = read(path);
          expect(entries[0]).toEqual(header);
          expect(entries.length).toBe(report.after);
          expect(entries.length).toBeLessThanOrEqual(maxLines);
          if (report.before > maxLines) checkReferences(entries);
          // A result that stays has its call, or never had one.
          const { wire } = openTranscript(path);
          const alone = (all: unknown[]) =>
            pairResults(all.map((one) => wire.read(one)))
              .filter(({ callMessage }) => callMessage === null)
              .map((pair) => (all[pair.message] as Read).id);
          const before = alone(values);
          if (report.before > maxLines) for (const id of alone(entries)) expect(before).toContain(id);
          if (report.backup !== null) rmSync(report.backup);
          rmSync(path);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("cap FILE", () => {
  it("reads the branch that the session is on, message by message", () => {
    const path = save(
      jsonl(
        header,
        message("u1", null, user("one")),
        message("x1", "u1", user("left behind")),
        message("a1", "u1", call("c")),
        entry("m1", "a1", { type: "model_change", provider: "p", modelId: "m" }),
        message("r1", "m1", result("c", "ok")),
        entry("k1", "r1", { type: "compaction", summary: "so far", firstKeptEntryId: "k1", tokensBefore: 1 }),
      ),
    );
    const transcript = openTranscript(path);
    readSnapshot(transcript.path, (snapshot) => {
      const { messages, placeOf } = messagesOf(transcript, snapshot);
      const capped = spillway.cap(messages);
      expect(capped.messages).toMatchObject([
        { role: "user" },
        { role: "assistant" },
        { role: "toolResult" },
        { role: "compactionSummary", summary: "so far" },
      ]);
      expect(placeOf("r1")).toBe(2);
      expect(spillway.cap(messages, { around: placeOf("r1") ?? -1, limit: 2 }).messages).toHaveLength(2);
    });
  });
});

interface Told {
  type: string;
  id: string;
  parentId: string | null;
  message?: { content?: string };
  targetId?: string;
  firstKeptEntryId?: string;
  summary?: string;
  replacement?: { content: string } | null;
}

/** What a session's entries say to its model, found the simple way. */
function saidIn(entries: Told[]): (string | undefined)[] {
  const byId = new Map<string | null | undefined, Told>(entries.map((one) => [one.id, one]));
  const last = entries.at(-1) as Told;
  const branch: Told[] = [];
  let next = byId.get(last.type === "leaf" ? last.targetId : last.id);
  for (; next !== undefined && !branch.includes(next); next = byId.get(next.parentId)) branch.unshift(next);
  const edits = new Map(
    branch.filter(({ type }) => type === "context_edit").map((one) => [one.targetId, one.replacement]),
  );
  const compaction = branch.findLastIndex(({ type }) => type === "compaction");
  const kept = branch.findIndex(({ id }) => id === branch[compaction]?.firstKeptEntryId);
  const shown = branch.filter((_one, at) => at > compaction || (kept >= 0 && at >= kept));
  const said = shown.flatMap(({ id, type, message }) => {
    if (type !== "message" || edits.get(id) === null) return [];
    return edits.get(id)?.content ?? message?.content;
  });
  return compaction < 0 ? said : [branch[compaction]?.summary, ...said];
}

describe("prune FILE", () => {
  const long = (id: string) => [message(`a${id}`, null, call(id)), message(`r${id}`, `a${id}`, result(id, lines(150)))];
  const chained = (values: ReturnType<typeof message>[]) =>
    values.map((one, index) => ({ ...one, parentId: values[index - 1]?.id ?? null }));
  const session = (...more: ReturnType<typeof entry>[]) =>
    save(
      jsonl(
        header,
        ...chained([
          message("u0", null, user("go")),
          ...["1", "2", "3", "4", "5", "6"].flatMap(long),
          ...more,
        ] as never),
      ),
    );
  const options = { window: 20_000, pruning: { mode: "aggressive" as const }, dryRun: false };

  it("rewrites old results as the next request would show them, and says so", async () => {
    const path = session();
    const pruned = await pruneFile(openTranscript(path), spillway, options);
    expect(pruned.by).toBe("rewrite");
    expect(pruned.changed).toBeGreaterThan(0);
    const entries = read(path);
    checkReferences(entries);
    expect(entries).toHaveLength(14);
    expect(entries[3]?.message.content[0]?.text).toMatch(/^\[Old tool result content cleared\]/);
    expect(entries.at(-1)?.message.content[0]?.text).toBe(lines(150));
  });

  it.each(["session", "messages"])(
    "of a %s holds no long line, and does what it does with all of them in memory",
    async (kind) => {
      const ids = ["1", "2", "3", "4", "5", "6", "7", "8"];
      const messages = [user("go"), ...ids.flatMap((id) => [call(id), result(id, `${id}\n${lines(400)}`)])];
      const entries = messages.map((one, at) => message(`e${at}`, at === 0 ? null : `e${at - 1}`, one));
      const path = save(kind === "session" ? jsonl(header, ...entries) : jsonl(...messages));
      const open = () => createSpillway({ store: memoryStore({ secret: new Uint8Array(32) }), ledger: null, env: {} });
      const { dryRun: _dryRun, ...prepare } = options;
      const whole = await (await open()).prepare<unknown>(messages, { ...prepare, wire: "pi" });
      expect(whole.report.results.cleared).toBeGreaterThan(0);
      const held: number[] = [];
      const fresh = await open();
      const watched: typeof spillway = {
        ...fresh,
        prepare(given, more) {
          held.push(heldChars(given));
          return fresh.prepare(given, more);
        },
      };
      const pruned = await pruneFile(openTranscript(path), watched, options);
      expect(pruned.changed).toBe(whole.messages.filter((one, at) => one !== messages[at]).length);
      const values: unknown[] = read(path);
      const now = kind === "messages" ? values : read(path).flatMap((one) => one.message ?? []);
      expect(now).toEqual(whole.messages);
      expect(held).toHaveLength(1);
      expect(held[0]).toBeLessThan(lines(400).length / 4);
    },
  );

  it.each(Object.entries(formats))(
    "of any messages of %s does what it does with them in memory",
    async (_name, format) => {
      const { wire, user, turn: turnOf } = format;
      const turn = fc.record({
        // Few ids, so that some repeat.
        id: fc.constantFrom("1", "2", "3", "4"),
        text: fc.oneof(
          fc.string({ unit: "binary" }).map((text) => text.toWellFormed()),
          fc.nat(400).map(lines),
        ),
        note: fc.option(fc.nat(200).map(lines), { nil: undefined }),
      });
      const open = () => createSpillway({ store: memoryStore({ secret: new Uint8Array(32) }), ledger: null, env: {} });
      const { dryRun: _dryRun, pruning: _pruning, ...prepare } = options;
      await fc.assert(
        fc.asyncProperty(
          fc.array(turn, { minLength: 1, maxLength: 12 }),
          fc.boolean(),
          fc.constantFrom("aggressive", "adaptive"),
          async (turns, isWrapped, mode) => {
            const told = [user("go"), ...turns.flatMap(({ id, text, note }) => turnOf(id, text, note))];
            const messages: object[] = JSON.parse(JSON.stringify(told));
            const entries = messages.map((one, at) => message(`e${at}`, at === 0 ? null : `e${at - 1}`, one));
            const path = save(isWrapped ? jsonl(header, ...entries) : jsonl(...messages));
            const asked = { ...prepare, pruning: { mode } };
            const whole = await (await open()).prepare<unknown>(messages, { ...asked, wire });
            const pruned = await pruneFile(openTranscript(path, wire), await open(), { ...asked, dryRun: false });
            expect(pruned.report).toEqual(whole.report);
            expect(pruned.changed).toBe(whole.messages.filter((one, at) => one !== messages[at]).length);
            const now = isWrapped
              ? entries.map((one, at) => ({ ...one, message: whole.messages[at] }))
              : whole.messages;
            expect(readFileSync(path, "utf8")).toBe(isWrapped ? jsonl(header, ...now) : jsonl(...now));
          },
        ),
        { numRuns: 25 },
      );
    },
  );

  it.each(Object.entries(formats))(
    "of a request of %s that is far over the window does in parts what it does whole",
    async (_name, format) => {
      const { wire, user, turn: turnOf } = format;
      const turn = fc.record({ ids: fc.constantFrom(["1"], ["2"], ["3", "4"]), text: fc.nat(30).map(lines) });
      const open = () => createSpillway({ store: memoryStore({ secret: new Uint8Array(32) }), ledger: null, env: {} });
      await fc.assert(
        fc.asyncProperty(
          fc.array(turn, { minLength: 60, maxLength: 80 }),
          fc.integer({ min: 3, max: 9 }),
          fc.constantFrom("aggressive", "adaptive", "off"),
          fc.boolean(),
          async (turns, partMessages, mode, hasEdits) => {
            const told = [user("go"), ...turns.flatMap(({ ids, text }) => ids.flatMap((id) => turnOf(id, text)))];
            const entries = (told as object[]).map((one, at) => message(`e${at}`, at === 0 ? null : `e${at - 1}`, one));
            const prune = async (part: number) => {
              const path = save(jsonl(header, ...entries));
              const held: number[] = [];
              const spillway = await open();
              const watched: typeof spillway = {
                ...spillway,
                prepare(given, more) {
                  held.push(given.length);
                  return spillway.prepare(given, more);
                },
              };
              const by = hasEdits ? ("edits" as const) : ("rewrite" as const);
              const asked = { window: 100, pruning: { mode }, dryRun: false, by, partMessages: part };
              const { report, changed } = await pruneFile(openTranscript(path, wire), watched, asked);
              const { before, after, afterParts, ratio, results, calls, media, malformed, changes, moreChanges } =
                report;
              const counts = { before, after, afterParts, ratio, results, calls, media, malformed };
              const listed = changes.toSorted((a, b) => a.message - b.message);
              const values = read(path).map((one) => ({ ...one, id: "", parentId: "", timestamp: "" }));
              return { told: { changed, counts, listed, moreChanges, values }, held };
            };
            const [parts, whole] = [await prune(partMessages), await prune(told.length)];
            expect(parts.told).toEqual(whole.told);
            expect(whole.held).toEqual([told.length]);
            // As JSON the others name no user or no answer, so nothing may be pruned.
            if (!["langchain", "mcp"].includes(wire))
              expect(Math.max(...parts.held)).toBeLessThan(4 * partMessages + 12);
          },
        ),
        { numRuns: 10 },
      );
    },
  );

  it.each([
    ["whose messages that stay fit the window", 20_000, false],
    ["that is not in the file's order", 100, true],
  ])("of a request %s looks at all of it at once", async (_what, window, isSwapped) => {
    const ids = Array.from({ length: 40 }, (_, at) => `${at}`);
    const messages = [user("go"), ...ids.flatMap((id) => [call(id), result(id, lines(200))])];
    const entries = messages.map((one, at) => message(`e${at}`, at === 0 ? null : `e${at - 1}`, one));
    if (isSwapped) entries.splice(6, 2, ...entries.slice(6, 8).toReversed());
    const openFresh = () =>
      createSpillway({ store: memoryStore({ secret: new Uint8Array(32) }), ledger: null, env: {} });
    const prune = async (partMessages: number) => {
      const path = save(jsonl(header, ...entries));
      const { report } = await pruneFile(openTranscript(path), await openFresh(), {
        window,
        dryRun: false,
        partMessages,
      });
      return { report, text: readFileSync(path, "utf8") };
    };
    const whole = await prune(messages.length);
    expect(whole.report.why).toMatch(/^the request takes/);
    expect(await prune(5)).toEqual(whole);
  });

  it("sees what stands before a line with a byte that is not UTF-8, and leaves that line as it is", async () => {
    const path = session();
    const bytes = readFileSync(path, "latin1").replace("line 7 of some output", "line \xff of some output");
    writeFileSync(path, bytes, "latin1");
    const pruned = await pruneFile(openTranscript(path), spillway, options);
    expect(pruned.report.results.total).toBe(6);
    expect(pruned.report.results.cleared).toBe(pruned.changed + 1);
    const damaged = bytes.split("\n").find((line) => line.includes("\xff"));
    expect(readFileSync(path, "latin1").split("\n")).toContain(damaged);
    expect(read(path)).toHaveLength(14);
  });

  it("is sent what its entries say, in whatever order they stand and whatever they name", async () => {
    const id = fc.integer({ min: 0, max: 12 }).map((at) => `e${at}`);
    const one = fc.record({
      id,
      // Most entries follow the one before.
      parentId: fc.oneof({ weight: 3, arbitrary: fc.constant("before") }, id, fc.constant(null)),
      kind: fc.oneof(
        { weight: 5, arbitrary: fc.constant("message") },
        fc.constantFrom("context_edit", "compaction", "leaf"),
      ),
      named: id,
      isGone: fc.boolean(),
    });
    const list = fc.uniqueArray(one, { minLength: 1, maxLength: 12, selector: ({ id }) => id });
    fc.assert(
      fc.property(list, (made) => {
        const entries = made.map(({ id, parentId, kind, named, isGone }, at) => {
          const parent = parentId === "before" ? (made[at - 1]?.id ?? null) : parentId;
          if (kind === "message") return message(id, parent, { role: "assistant", content: id });
          const replacement = isGone ? null : { content: `edited by ${id}` };
          const about = { targetId: named, firstKeptEntryId: named, summary: `summary ${id}`, replacement };
          return entry(id, parent, { type: kind, ...about }) as never;
        });
        const path = save(jsonl(header, ...entries));
        const transcript = openTranscript(path);
        const said = readSnapshot(path, (old) => readContext(transcript, old).messages.slice().map(loaded));
        const texts = (said as { content?: string; summary?: string }[]).map((one) => one.content ?? one.summary);
        expect(texts).toEqual(saidIn(entries as unknown as Told[]));
      }),
    );
  });

  it("shows edits that stand on long lines", async () => {
    const long = lines(100);
    const edit = (id: string, targetId: string, replacement: unknown) =>
      entry(id, null, { type: "context_edit", targetId, replacement }) as never;
    const path = session(
      edit("e1", "r1", { content: [{ type: "text", text: `edited ${long}` }] }),
      edit("e2", "r2", { content: [{ type: "text", text: "short" }] }),
      edit("e3", "r3", null),
      edit("e4", "u0", { content: [{ type: "text", text: `task ${long}` }] }),
    );
    const { messages } = await pruneRequest(openTranscript(path), spillway, { pruning: { mode: "off" } }, 7);
    const texts = (messages as { content: { text?: string }[] }[]).map(({ content }) => content[0]?.text);
    expect(texts.slice(0, 5)).toEqual([`task ${long}`, undefined, `edited ${long}`, undefined, "short"]);
    expect(messages).toHaveLength(12);
  });

  it("appends edits where it can, and shows any request without touching the file", async () => {
    const path = session(entry("x1", null, { type: "usage", kind: "k" }) as never);
    const before = readFileSync(path, "utf8");
    const transcript = openTranscript(path);
    const first = await pruneRequest(transcript, spillway, { window: 20_000 }, 1);
    expect(first.messages).toHaveLength(1);
    await expect(pruneRequest(transcript, spillway, {}, 99)).rejects.toThrow(/--request takes 1 to 7/);
    const pruned = await pruneFile(transcript, spillway, options);
    expect(pruned).toMatchObject({ by: "edits", backup: null });
    expect(readFileSync(path, "utf8").startsWith(before)).toBe(true);
    const edits = read(path).filter(({ type }) => type === "context_edit");
    expect(edits).toHaveLength(pruned.changed);
    checkReferences(read(path));
    expect((await pruneFile(transcript, spillway, options)).changed).toBe(0);
  });
});
