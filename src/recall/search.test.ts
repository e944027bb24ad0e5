import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Searcher, SearchHit } from "../contract/searcher.ts";
import { loadSearcher } from "../drivers/searcher.ts";
import { checkQuery, type SearchQuery } from "./recall-want.ts";
import { type SearchOptions, type SearchPage, search, searchText } from "./search.ts";
import { artifactText, ID, lineStarts, storeOf } from "./test-store.test.ts";

const searcher = await loadSearcher();
const decode = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
const find = (content: string | Uint8Array, query: SearchQuery, options: SearchOptions = {}, by = searcher) =>
  search(storeOf(content), ID, "local", query, { ...options, searcher: by });

function sourceLines(bytes: Uint8Array): Uint8Array[] {
  const starts = [...lineStarts(bytes), bytes.length];
  return starts.slice(0, -1).map((start, index) => {
    let end = starts[index + 1] as number;
    if (bytes[end - 1] === 10) end -= bytes[end - 2] === 13 && end - 2 >= start ? 2 : 1;
    return bytes.subarray(start, end);
  });
}

/** Finds a byte, so that property runs need no process. */
const byteSearcher = (byte: number): Searcher => ({
  name: "byte",
  async search(source, { fromLine, maxHits }) {
    const bytes = await source.read({ from: 0, to: source.bytes });
    const starts = lineStarts(bytes);
    const all: SearchHit[] = sourceLines(bytes).flatMap((line, index) =>
      line.includes(byte) ? [{ line: index + 1, lineByte: starts[index] as number, column: line.indexOf(byte) }] : [],
    );
    return { total: all.length, hits: all.filter(({ line }) => line >= fromLine).slice(0, maxHits), reachedLine: null };
  },
});

describe("search", () => {
  it("takes an expression that says the text itself as that text", async () => {
    const text = String.raw`a.b+c*d?(e)|[f]\{g}^h$i#j&k~l-m n`;
    const pattern = text.replace(/[\\.+*?()|[\]{}^$#&~-]/g, "\\$&");
    expect(checkQuery({ pattern })).toMatchObject({ pattern: text, literal: true });
    expect((await find(`x\n${text}\n`, { pattern })).matches).toMatchObject([{ line: 2, column: 1 }]);
    for (const other of ["a.b", "\\bword", "\\d+", "a|b", "word\\>"]) {
      expect(checkQuery({ pattern: other })).toMatchObject({ pattern: other, literal: false });
    }
  });

  it("gives matches with their lines around them, as grep writes them", async () => {
    const content = "one\ntwo\nthree error\nfour\nfive\nsix\nseven\neight error\nnine error\nten\n";
    const page = await find(content, { pattern: "err(or)", context: 1 });
    expect(page).toEqual({
      id: ID,
      total: 3,
      complete: true,
      matches: [
        { line: 3, column: 7, byte: 14, text: "three error", before: ["two"], after: ["four"] },
        { line: 8, column: 7, byte: 46, text: "eight error", before: ["seven"], after: [] },
        { line: 9, column: 6, byte: 57, text: "nine error", before: [], after: ["ten"] },
      ],
      next: null,
      note: "[3 matching lines]",
    });
    expect(searchText(page)).toMatchInlineSnapshot(`
      "2-two
      3:three error
      4-four
      --
      7-seven
      8:eight error
      9:nine error
      10-ten
      [3 matching lines]"
    `);
  });

  it("shows each line as it is, once, and in order", async () => {
    await fc.assert(
      fc.asyncProperty(artifactText, fc.nat(4), async (bytes, context) => {
        const short = (line: string) => (line.length > 400 ? "shortened" : line);
        const lines = sourceLines(bytes).map(decode);
        const page = await find(
          bytes,
          { pattern: "a", context, max: 1000 },
          { limits: { maxChars: 100_000 } },
          byteSearcher(97),
        );
        expect(page.total).toBe(lines.filter((line) => line.includes("a")).length);
        const shown: [number, string][] = page.matches.flatMap(({ line, text, before, after }) => [
          ...before.map((other, index): [number, string] => [line - before.length + index, other]),
          [line, text],
          ...after.map((other, index): [number, string] => [line + 1 + index, other]),
        ]);
        const near = (index: number) => lines.slice(Math.max(0, index - context), index + context + 1);
        const expected = lines.flatMap((line, index) =>
          near(index).some((other) => other.includes("a")) ? [[index + 1, short(line)]] : [],
        );
        expect(shown.map(([line, text]) => [line, text.includes("[...]") ? "shortened" : text])).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  it("gives every match once when pages are followed, within any limits, and never loops", async () => {
    const query = fc.record({ context: fc.nat(3), max: fc.nat(4) });
    await fc.assert(
      fc.asyncProperty(artifactText, query, fc.nat(400), async (bytes, some, maxChars) => {
        const lines = sourceLines(bytes);
        const expected = lines.flatMap((line, index) => (line.includes(97) ? [index + 1] : []));
        const got: number[] = [];
        for (let from: number | null = 1; from !== null; ) {
          const page: SearchPage = await find(
            bytes,
            { pattern: "a", ...some, from },
            { limits: { maxChars } },
            byteSearcher(97),
          );
          expect(page.total).toBe(expected.length);
          expect(searchText(page).length).toBeLessThanOrEqual(maxChars);
          expect(searchText(page).isWellFormed()).toBe(true);
          got.push(...page.matches.map(({ line }) => line));
          if (page.next !== null) expect(page.next).toBeGreaterThan(from);
          from = page.next;
        }
        expect(got).toEqual(expected.slice(0, got.length));
        if (maxChars > 250 && some.max > 0) expect(got).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  it("has the policy's page as its default", async () => {
    const short = await find("hit\n\n\n\n\n\n".repeat(200), { pattern: "hit", context: 0 });
    expect(short).toMatchObject({ total: 200, next: 301 });
    expect(short.matches.length).toBe(50);
    expect(short.note).toBe("[200 matching lines; 50 shown; next: from line 301]");
    const wide = await find(`hit ${"w".repeat(300)}\n`.repeat(200), { pattern: "hit" });
    expect(searchText(wide).length).toBeGreaterThan(7500);
    expect(searchText(wide).length).toBeLessThanOrEqual(8000);
    expect(wide.next).toBe(wide.matches.length + 1);
    const rest = await find(`hit ${"w".repeat(300)}\n`.repeat(200), { pattern: "hit", from: 199 });
    expect(rest.note).toBe("[200 matching lines; 2 shown from line 199 on]");
    expect((await find("a\n", { pattern: "b" })).note).toBe("[no line matches]");
    expect(await find("hit\n".repeat(9), { pattern: "hit", max: 0 })).toMatchObject({
      total: 9,
      matches: [],
      next: null,
    });
  });

  it("shortens a long line to the part around its match", async () => {
    const content = `${"中".repeat(50_000)}\n${"x".repeat(200_000)}needle${"é".repeat(200_000)}\n${"y".repeat(5000)}\nend\n`;
    const page = await find(content, { pattern: "needle" });
    const [match] = page.matches;
    expect(match).toMatchObject({ line: 2, column: 200_001, byte: 350_001, before: [`${"中".repeat(395)}[...]`] });
    expect(match?.text).toMatch(/^\[\.\.\.\]x{195}needleé{189}\[\.\.\.\]$/);
    expect(match?.after).toEqual([`${"y".repeat(395)}[...]`, "end"]);
    expect(page.note).toBe("[1 matching line; long lines are shortened where [...] stands]");
  });

  it("says when it was stopped for time", async () => {
    const slow: Searcher = { name: "slow", search: async () => ({ total: 7, hits: [], reachedLine: 90 }) };
    const page = await find("a\n", { pattern: "a" }, {}, slow);
    expect(page).toMatchObject({ total: 7, complete: false });
    expect(page.note).toContain("the search was stopped for time after line 90: there may be more");
  });

  it.each<[unknown, RegExp]>([
    [{ pattern: "" }, /empty/],
    [{ pattern: 5 }, /empty/],
    ["connection refused", /Name what to find: \{ pattern: "connection refused" \}/],
    [{ pattern: "a\nb" }, /line break/],
    [{ pattern: "x".repeat(1001) }, /1001 characters; at most 1000/],
    [{ pattern: "a", context: -1 }, /context must be a whole number from 0; got -1/],
    [{ pattern: "a", max: "many" }, /max must be/],
    [{ pattern: "a", from: 0 }, /from must be a whole number from 1/],
    [{ pattern: "(" }, /The pattern cannot be used: unclosed group; .* \(literal, -F\)\.$/],
    [{ pattern: "\\" }, /The pattern ends with a backslash/],
  ])("refuses query %# clearly", async (query, words) => {
    const error = await find("a\n", query as SearchQuery).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "bad-input", message: expect.stringMatching(words) });
  });

  it("knows no artifact of another scope, and none by a path", async () => {
    const store = storeOf("a");
    await expect(search(store, ID, "other", { pattern: "a" }, { searcher })).rejects.toMatchObject({
      code: "unknown-artifact",
    });
    await expect(search(store, "../a", "local", { pattern: "a" }, { searcher })).rejects.toMatchObject({
      code: "bad-input",
    });
  });

  it("stops when it is told to", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(find("a\n", { pattern: "a" }, { signal })).rejects.toThrow("enough");
  });
});
