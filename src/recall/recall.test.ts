import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Searcher } from "../contract/searcher.ts";
import type { Store } from "../contract/store.ts";
import { loadSearcher } from "../drivers/searcher.ts";
import { type RecallPage, recall, recallText } from "./recall.ts";
import type { RecallWant } from "./recall-want.ts";
import { artifactText, ID, lineStarts, storeOf } from "./test-store.test.ts";

const decode = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
const lineCount = (text: string) => text.split("\n").length - (text === "" || text.endsWith("\n") ? 1 : 0);
const searcher = await loadSearcher();
const page = (store: Store, want?: RecallWant, limits = {}, more = {}) =>
  recall(store, ID, "local", want, { limits, showBinary: true, ...more });

async function follow(store: Store, want: RecallWant | undefined, limits: object): Promise<RecallPage[]> {
  const pages: RecallPage[] = [];
  for (let next: RecallWant | null = want ?? { head: Infinity }; next !== null; ) {
    const got: RecallPage = await page(store, next, limits);
    expect(pages.length).toBeLessThan(5000);
    pages.push(got);
    next = got.next;
  }
  return pages;
}

describe("recall", () => {
  it("gives the whole text when pages are followed, and each page its own bytes", async () => {
    const limits = fc.record({ maxChars: fc.integer({ min: 2, max: 400 }), maxLines: fc.integer({ min: 1, max: 12 }) });
    await fc.assert(
      fc.asyncProperty(artifactText, limits, async (bytes, most) => {
        const pages = await follow(storeOf(bytes), undefined, most);
        expect(pages.map(({ text }) => text).join("")).toBe(decode(bytes));
        let at = 0;
        for (const { text, bytes: range, note, lines } of pages) {
          if (text === "") continue;
          expect(range[0]).toBe(at);
          expect(text).toBe(decode(bytes.subarray(...range)));
          at = range[1];
          const starts = lineStarts(bytes).filter((start) => start < range[1]);
          expect(lines[1]).toBe(starts.length);
          expect(lines[0]).toBe(starts.filter((start) => start <= range[0]).length);
          const told = recallText({ text, note } as RecallPage);
          expect(told.length).toBeLessThanOrEqual(most.maxChars);
          expect(lineCount(told)).toBeLessThanOrEqual(most.maxLines);
        }
        expect(at).toBe(bytes.length);
      }),
      { numRuns: 300 },
    );
  });

  it("gives any lines as they stand in the source", async () => {
    await fc.assert(
      fc.asyncProperty(artifactText, fc.nat(40), fc.nat(40), async (bytes, from, more) => {
        const starts = [...lineStarts(bytes), bytes.length];
        const first = from + 1;
        const last = first + more;
        const got = await page(storeOf(bytes), { lines: [first, last] });
        const slice = bytes.subarray(starts[first - 1] ?? bytes.length, starts[last] ?? bytes.length);
        expect(got.text).toBe(decode(slice));
        expect(got.next).toBeNull();
        expect(got.clipped).toBe(false);
      }),
    );
  });

  it("gives any bytes, a character to the range of its first byte, so that ranges join without loss", async () => {
    await fc.assert(
      fc.asyncProperty(artifactText, fc.array(fc.nat(200), { maxLength: 4 }), async (bytes, cuts) => {
        const store = storeOf(bytes);
        const borders = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).toSorted((a, b) => a - b), bytes.length];
        let text = "";
        for (let i = 1; i < borders.length; i++) {
          const got = await page(store, { bytes: [borders[i - 1] as number, borders[i] as number] });
          expect(got.text.isWellFormed()).toBe(true);
          text += got.text;
        }
        expect(text).toBe(decode(bytes));
      }),
      { numRuns: 300 },
    );
  });

  it("holds any limits for any want, and never loops", async () => {
    const want: fc.Arbitrary<RecallWant> = fc.oneof(
      fc.record({ head: fc.nat(30) }),
      fc.record({ tail: fc.nat(30) }),
      fc.record({ around: fc.record({ line: fc.integer({ min: 1, max: 30 }), context: fc.nat(20) }) }),
      fc.tuple(fc.nat(60), fc.nat(60)).map(([from, more]) => ({ bytes: [from, from + more] }) as RecallWant),
    );
    const limits = fc.record({ maxChars: fc.nat(300), maxLines: fc.nat(8) });
    await fc.assert(
      fc.asyncProperty(artifactText, want, limits, async (bytes, asked, most) => {
        for (const got of await follow(storeOf(bytes), asked, most)) {
          const told = recallText(got);
          expect(told.length).toBeLessThanOrEqual(most.maxChars);
          expect(lineCount(told)).toBeLessThanOrEqual(most.maxLines);
          expect(told.isWellFormed()).toBe(true);
          expect(got.text).toBe(decode(bytes.subarray(...got.bytes)));
        }
      }),
      { numRuns: 300 },
    );
  });

  it("keeps the end of a tail that does not fit, and pages the rest of it", async () => {
    const store = storeOf("a1\na2\na3\na4\na5\na6\na7\na8\n".repeat(20));
    const got = await page(store, { tail: 100 }, { maxLines: 11 });
    expect(got).toMatchObject({ lines: [151, 160], next: { lines: [61, 150] }, clipped: true });
    expect(got.note).toBe("[lines 151-160 of 160; next: lines 61-150]");
    const rest = await follow(store, got.next as RecallWant, {});
    expect(rest[0]?.lines).toEqual([61, 150]);
    expect((await page(storeOf(`a\n${"x".repeat(500)}z`), { tail: 2 }, { maxChars: 200, maxLines: 9 })).text).toMatch(
      /z$/,
    );
  });

  it("shows the line that is read around, whatever else has to go", async () => {
    const line = fc
      .oneof(fc.string({ maxLength: 12 }), fc.constant("long ".repeat(60)))
      .map((text) => text.replace(/\n/g, ""));
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 30 }),
        fc.nat(),
        fc.nat(40),
        async (lines, at, context) => {
          const wanted = (at % lines.length) + 1;
          lines[wanted - 1] = `here${lines[wanted - 1]}`;
          const got = await page(
            storeOf(`${lines.join("\n")}\n`),
            { around: { line: wanted, context } },
            { maxChars: 250, maxLines: 7 },
          );
          expect(got.text).toContain("here");
          expect(got.lines[0]).toBeLessThanOrEqual(wanted);
          expect(got.lines[1]).toBeGreaterThanOrEqual(wanted);
          expect(got.lines[0]).toBeGreaterThanOrEqual(Math.max(1, wanted - context));
        },
      ),
    );
  });

  it("reads around a pattern, also deep inside one long line", async () => {
    const long = `${"x".repeat(300_000)}needle${"y".repeat(300_000)}`;
    const store = storeOf(`first\n${long}\nlast\n`);
    const got = await page(store, { around: { pattern: "nee(d)le", context: 3 } }, {}, { searcher });
    expect(got.text).toContain("needle");
    expect(got.lines).toEqual([2, 2]);
    expect(got.next).toEqual({ bytes: [got.bytes[1], 6 + long.length + 6] });
    const none = await page(store, { around: { pattern: "absent" } }, {}, { searcher });
    expect(none).toMatchObject({ text: "", next: null, note: "[no line matches, so there is nothing to read around]" });
    await expect(page(store, { around: { pattern: "x" } })).rejects.toMatchObject({ code: "missing-part" });
  });

  it("has the policy's page as its default", async () => {
    const short = await page(storeOf("line\n".repeat(1000)));
    expect(lineCount(recallText(short))).toBe(400);
    expect(short).toMatchObject({ lines: [1, 399], next: { lines: [400, 1000] }, clipped: true });
    const wide = await page(storeOf("w".repeat(50_000)));
    expect(recallText(wide).length).toBeGreaterThan(19_900);
    expect(recallText(wide).length).toBeLessThanOrEqual(20_000);
    expect(recallText(wide)).toMatch(/\n\[line 1 of 1, in part: bytes 0-\d+ of 50000; next: bytes \d+-50000\]$/);
    const exact = await page(storeOf("line\n".repeat(400)));
    expect(exact).toMatchObject({ lines: [1, 400], next: null, clipped: false, note: "" });
  });

  it("reads only near what is shown", async () => {
    const store = storeOf(`${"z".repeat(99)}\n`.repeat(20_000));
    let read = 0;
    const counting: Store = {
      ...store,
      read: (id, scope, range) => ((read += range.to - range.from), store.read(id, scope, range)),
    };
    for (const want of [{ lines: [9000, 9100] }, { bytes: [1_000_000, 1_900_000] }, { tail: 50 }] as RecallWant[]) {
      await page(counting, want, {}, { showBinary: false });
    }
    expect(read).toBeLessThan(700_000);
  });

  it("says where the artifact ends", async () => {
    const store = storeOf("line\n".repeat(120));
    expect((await page(store, { lines: [500, 600] })).note).toBe(
      "[artifact has 120 lines, 600 bytes; asked for lines 500-600]",
    );
    expect((await page(store, { bytes: [600, 700] })).note).toBe(
      "[artifact has 120 lines, 600 bytes; asked for bytes 600-700]",
    );
    expect((await page(store, { around: { line: 121 } })).note).toBe(
      "[artifact has 120 lines, 600 bytes; asked for line 121]",
    );
    expect((await page(store, { lines: [119, 600] })).note).toBe("[lines 119-120 of 120; the artifact ends here]");
    expect((await page(store, { lines: [1, 121] })).note).toBe("[lines 1-120 of 120; the artifact ends here]");
    expect((await page(store, { bytes: [595, 601] })).note).toBe("[line 120 of 120; the artifact ends here]");
    expect((await page(store, { lines: [119, 120] })).note).toBe("[lines 119-120 of 120]");
    expect((await page(store, { lines: [119, Number.POSITIVE_INFINITY] })).note).toBe("[lines 119-120 of 120]");
    expect((await page(store, { lines: [1, 120] })).note).toBe("");
    expect((await page(storeOf(""))).note).toBe("[the artifact is empty]");
  });

  it.each<unknown>([
    { lines: [0, 5] },
    { lines: [5, 4] },
    { lines: [1.5, 2] },
    { lines: "1-2" },
    { bytes: [-1, 2] },
    { head: -1 },
    { tail: Number.NaN },
    { around: { line: 1, context: -1 } },
    { around: {} },
    { around: "x" },
    { around: null },
    { head: 1, tail: 1 },
    {},
  ])("refuses %j clearly", async (want) => {
    const error = await page(storeOf("a\nb\n"), want as RecallWant).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "bad-input" });
  });

  it("describes binary instead of showing it", async () => {
    const got = await recall(storeOf(new Uint8Array(500)), ID, "local");
    expect(got).toMatchObject({ text: "", next: null, note: "[binary artifact not shown: binary data, 500 bytes]" });
  });

  it("says the same for an id that never was, one that is gone and one of another scope", async () => {
    const store = storeOf("text");
    const gone: Store = { ...store, read: async () => null };
    const other = "abcdefghijkl";
    const said = async (work: Promise<unknown>) =>
      String(await work.catch((reason: unknown) => reason)).replaceAll(other, ID);
    const foreign = await said(recall(store, ID, "someone else"));
    expect(foreign).toMatchInlineSnapshot(
      `"SpillwayError: There is no artifact mzxw6ytboi2a to read here: it was never kept, has expired, or is not this reader's. Compare the id with the marker; if it is right, run the tool again to get its output."`,
    );
    expect(await said(recall(store, other, "local"))).toBe(foreign);
    expect(await said(recall(gone, ID, "local"))).toBe(foreign);
    await expect(recall(store, other, "local")).rejects.toMatchObject({ code: "unknown-artifact" });
  });

  it("lets nothing but an id reach the store", async () => {
    const touched: Store = new Proxy({} as Store, {
      get: () => () => {
        throw new Error("the store was asked");
      },
    });
    const ids = [
      "../../etc/passwd",
      "",
      "ABCDEFGHIJKL",
      "abcdefghijk1",
      `${ID}\n`,
      `${ID}/..`,
      "a\0bcdefghijk",
      null,
      {},
      "x".repeat(1e6),
    ];
    for (const id of ids) {
      const error = await recall(touched, id as string, "local").catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: "bad-input" });
      expect(String(error)).toMatch(/^[ -~]{1,300}$/);
      expect(String(error)).toContain("12 characters of a-z and 2-7");
    }
  });

  it("stops when it is told to", async () => {
    const stopped: Searcher = { name: "none", search: () => Promise.reject(new Error("not asked")) };
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(page(storeOf("a"), { head: 1 }, {}, { signal, searcher: stopped })).rejects.toThrow("enough");
  });
});
