import { setTimeout } from "node:timers/promises";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { memoryLedger, memoryStore } from "../extend.ts";
import { createSpillway } from "../index.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { READ_BACK_TOOLS } from "./read-back-tools.ts";

const word = (n: number) => `${"abcdefgh"[n % 8]}${"ijklmnop"[(n >> 3) % 8]}${"qrstuvwx"[(n >> 6) % 8]}`;
const lines = (hour: number) =>
  Array.from({ length: 600 }, (_, n) => `${hour}:00:${(n % 50) + 10} item ${word(n)} was handled as it should be`);
const good = [...lines(10), "600 passed, 0 failed"].join("\n");
const odd = "volume mounted read only, leaving it alone";
const bad = [...lines(11).with(300, odd).reverse(), "599 passed, 1 failed"].join("\n");
const limits = { maxChars: 1500 };
const made = { tool: "run_command", command: "make check", folder: "/srv/app", limits };

async function open(more: object = {}) {
  let atMs = 1_700_000_000_000;
  return createSpillway({ store: memoryStore({ now: () => (atMs += 1000) } as never), ledger: null, env: {}, ...more });
}
type Opened = Awaited<ReturnType<typeof open>>;
const admit = async (by: Opened, output: string, exitCode: number, more: object = {}) =>
  by.admit({ ...made, output, exitCode, ...more });

// An output waits a short time only for the last good run. A slow machine needs more.
beforeEach(() => {
  const deadline = vi.spyOn(NUMBERS.sinceDeadlineMs, "default", "get").mockReturnValue(100_000 as never);
  return () => deadline.mockRestore();
});

describe("the last good run of the same command", () => {
  it("makes a line that it does not have worth showing, wherever that stands", async () => {
    const by = await open();
    const first = await admit(by, bad, 1);
    expect(first.text).not.toContain(odd);
    await admit(by, good, 0);
    const { text, receipt } = await admit(by, bad, 1);
    expect(text).toContain(odd);
    expect(text).toContain("1 failed");
    expect(text.length).toBeLessThanOrEqual(1500);
    expect(receipt.faults).toBeUndefined();
    const { kept, folded, omitted, total } = receipt;
    expect(kept.bytes + folded.bytes + omitted.bytes).toBe(total.bytes);
    expect((await admit(by, bad, 1)).text).toBe(text);
    async function* chunks() {
      for (let at = 0; at < bad.length; at += 777) yield new TextEncoder().encode(bad.slice(at, at + 777));
    }
    expect((await by.admit({ ...made, output: chunks(), exitCode: Promise.resolve(1) })).text).toBe(text);
  });

  it.each([
    ["of another command", { command: "make test" }],
    ["in another folder", { folder: "/srv/other" }],
    ["that a row or a call leaves out", { since: false }],
    ["for a partial result", { isUpdate: true }],
    ["for a result of a request", { via: { wire: "anthropic" } }],
    ["that nobody says the command of", { command: undefined }],
  ])("does not count %s", async (_, more) => {
    const by = await open();
    await admit(by, good, 0);
    expect((await admit(by, bad, 1, more)).text).not.toContain(odd);
  });

  it("does not count if it failed, if a row says so, or if the store cannot be read", async () => {
    const failed = await open();
    await admit(failed, good, 2);
    expect((await admit(failed, bad, 1)).text).not.toContain(odd);
    const off = await open({ policy: { tools: { run_command: { since: false } } } });
    await admit(off, good, 0);
    expect((await admit(off, bad, 1)).text).not.toContain(odd);
    vi.spyOn(NUMBERS.sinceDeadlineMs, "default", "get").mockReturnValue(20 as never);
    const store = memoryStore();
    const broken = await open({
      store: { ...store, begin: store.begin.bind(store), list: () => new Promise(() => {}) },
    });
    const { text, receipt } = await admit(broken, bad, 1);
    expect(text).toContain("1 failed");
    expect(receipt.faults).toBeUndefined();
  });

  it("changes nothing if nothing is new, and loses no line that tells of a failure", async () => {
    const by = await open();
    const plain = (await admit(by, good, 0)).text;
    expect((await admit(by, good, 0)).text).toBe(plain);
    const failing = [...lines(12).with(100, "ERROR cannot open database"), ...lines(9).slice(0, 20), "1 failed"].join(
      "\n",
    );
    const known = [...lines(12).with(100, "ERROR cannot open database"), "0 failed"].join("\n");
    await admit(by, known, 0);
    expect((await admit(by, failing, 1)).text).toContain("ERROR cannot open database");
  });

  it("weighs lines by it even if many are new", async () => {
    const by = await open();
    const added = Array.from({ length: 50 }, (_, n) => `replica ${word(n)} fell behind and was left so`);
    const run = (middle: string[]) => [...lines(10), "ERROR cannot go on", ...middle, ...lines(11)].join("\n");
    const count = (text: string) => text.match(/fell behind/g)?.length ?? 0;
    const without = count((await admit(by, run(added), 1)).text);
    await admit(by, run([]), 0);
    expect(count((await admit(by, run(added), 1)).text)).toBeGreaterThan(without + 2);
  });

  it("counts by session if the folder is not known", async () => {
    const by = await open();
    await admit(by, good, 0, { folder: undefined, session: "s1" });
    expect((await admit(by, bad, 1, { folder: undefined, session: "s2" })).text).not.toContain(odd);
    expect((await admit(by, bad, 1, { folder: undefined, session: "s1" })).text).toContain(odd);
  });
});

describe("what changed since another run", () => {
  it("is told of the last good run, of the last one, or of any, and in the recall tool", async () => {
    const by = await open();
    const ok = (await admit(by, good, 0)).receipt.artifact as string;
    const worse = (await admit(by, bad.replace("1 failed", "7 failed"), 1)).receipt.artifact as string;
    const now = (await admit(by, bad, 1)).receipt.artifact as string;
    const page = await by.since(now);
    expect(page).toMatchObject({ before: { id: ok }, after: { id: now }, total: { added: 1, gone: 1, moved: 1 } });
    expect(page.added[0]?.text).toBe(odd);
    expect(page.moved[0]?.counts).toEqual(["600 passed -> 599 passed", "0 failed -> 1 failed"]);
    expect((await by.since(now, { against: "last" })).moved[0]?.counts).toEqual(["7 failed -> 1 failed"]);
    expect((await by.since(ok, { against: worse })).before.id).toBe(worse);
    expect((await by.since(now, { maxChars: 300 })).text.length).toBeLessThanOrEqual(300);
    const [recall] = READ_BACK_TOOLS;
    expect(await recall?.call(by, { id: now, since: "good" })).toEqual({ text: page.text, isError: false });
    expect(await recall?.call(by, { id: now, since: "good", head: 3 })).toMatchObject({ isError: true });
    expect(await recall?.call(by, { id: now, since: "nonsense" })).toMatchObject({ isError: true });
  });

  it("is nothing if the last two runs printed the same bytes, which are one artifact", async () => {
    const by = await open({ ledger: memoryLedger() });
    const run = async (...given: Parameters<typeof admit>) => {
      await setTimeout(5); // Runs are told apart by their time.
      return admit(...given);
    };
    const first = (await run(by, bad, 1)).receipt.artifact as string;
    await run(by, bad, 1, { command: "cat log" });
    await expect(by.since(first)).rejects.toThrow(/No earlier run of the command/);
    await run(by, bad, 1);
    const page = await by.since(first);
    expect(page).toMatchObject({ before: { id: first }, after: { id: first }, total: { added: 0, gone: 0, moved: 0 } });
    expect(page.text).toBe(`[${first} (exit code 1): both runs printed the same, so nothing changed]`);
    await expect(by.since(first, { against: "good" })).rejects.toThrow(/No good run of the command/);
    const ok = (await run(by, good, 0)).receipt.artifact as string;
    await run(by, bad, 1);
    expect((await by.since(first, { against: "last" })).before.id).toBe(ok);
    await run(by, bad, 1);
    expect((await by.since(first, { against: "last" })).before.id).toBe(first);
    expect((await by.since(first)).before.id).toBe(ok);
  });

  it("counts a run once for each call, and only those in the same folder", async () => {
    const of = async (...runs: object[]) => {
      const by = await open({ ledger: memoryLedger() });
      let id = "";
      for (const more of runs) id = (await admit(by, bad, 1, more)).receipt.artifact as string;
      return by.since(id).then(({ before }) => before.id === id, String);
    };
    expect(await of({ call: "c1" }, { call: "c2" })).toBe(true);
    expect(await of({ call: "c1" }, { call: "c1" })).toMatch(/No earlier run/);
    expect(await of({ folder: "/srv/other" }, {})).toMatch(/No earlier run/);
  });

  it("says that a run is binary in place of its bytes, and shows no control characters", async () => {
    const by = await open();
    const bytes = (seed: number) => Uint8Array.from({ length: 9000 }, (_, n) => (n * n * seed + (n >> 3)) % 256);
    const save = async (output: string | Uint8Array) =>
      (await by.admit({ ...made, output, exitCode: 1 })).receipt.artifact as string;
    const [one, other] = [await save(bytes(7)), await save(bytes(11))];
    const text = await save(good);
    for (const [id, against, binary] of [
      [other, one, other],
      [text, one, one],
      [one, text, one],
    ] as const) {
      const page = await by.since(id, { against });
      expect(page.text).toBe(
        `[artifact ${binary} is binary (binary data, 9,000 bytes), so its lines are not compared]`,
      );
      expect(page).toMatchObject({ added: [], gone: [], moved: [] });
    }
    const odd = await save(`${good}\nbell \x07 null \0 escape \x1b\x1b[31m c1 \x9b31m end`);
    const page = await by.since(odd, { against: text });
    expect(page.added[0]?.text).toContain("bell  null ");
    expect(`${page.text}${page.added[0]?.text}`).not.toMatch(/(?!\n)\p{Cc}/u);
  });

  it("says what is missing if there is no such run", async () => {
    const by = await open();
    const alone = (await admit(by, bad, 1)).receipt.artifact as string;
    await expect(by.since(alone)).rejects.toThrow(/No earlier run of the command/);
    const unknown = (await admit(by, good, 0, { command: undefined })).receipt.artifact as string;
    await expect(by.since(unknown)).rejects.toThrow(/not known which command/);
    await expect(by.since(alone, { against: "zzzzzzzzzzzz" })).rejects.toThrow(/no artifact/);
  });
});
