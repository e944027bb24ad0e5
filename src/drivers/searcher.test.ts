import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import type { SearchHit, SearchRequest, SearchSource } from "../contract/searcher.ts";
import { loadSearcher } from "./searcher.ts";

const folder = mkdtempSync(join(tmpdir(), "spillway-search-"));
afterAll(() => rmSync(folder, { recursive: true }));
const ripgrep = await loadSearcher();
const plain = await loadSearcher({ rgPath: null });
const absent = await loadSearcher({ rgPath: join(folder, "no-such-program") });

function sourceOf(content: string | Uint8Array, withFile = false): SearchSource {
  const bytes = Buffer.from(content as string);
  const file = withFile ? join(folder, "plain") : null;
  if (file !== null) writeFileSync(file, bytes);
  return { file, bytes: bytes.length, read: async ({ from, to }) => bytes.subarray(from, to) };
}

const ask = (pattern: string, more: Partial<SearchRequest> = {}): SearchRequest => ({
  pattern,
  literal: false,
  ignoreCase: false,
  fromLine: 1,
  maxHits: 50,
  deadlineMs: 10_000,
  ...more,
});

/** Computes the same outcome in another way: line by line, on decoded text. */
function expected(content: string, matches: (line: string) => number, { fromLine, maxHits }: SearchRequest) {
  const lines = content.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const hits: SearchHit[] = [];
  let total = 0;
  let lineByte = 0;
  lines.forEach((text, index) => {
    const column = matches(text.endsWith("\r") && index < lines.length ? text.slice(0, -1) : text);
    if (column >= 0) {
      total++;
      const line = index + 1;
      if (line >= fromLine && hits.length < maxHits) {
        hits.push({ line, lineByte, column: Buffer.byteLength(text.slice(0, column)) });
      }
    }
    lineByte += Buffer.byteLength(text) + 1;
  });
  return { total, hits, reachedLine: null };
}

const text = fc
  .array(fc.constantFrom("a", "b", "ab", "A", ".", "x(", "中", "é", "😀", " ", "\n", "\r\n", "\n\n", "aab"), {
    maxLength: 60,
  })
  .map((parts) => parts.join(""));
const page = fc.record({ fromLine: fc.integer({ min: 1, max: 12 }), maxHits: fc.integer({ min: 1, max: 6 }) });

describe.each([
  ["ripgrep on a file", ripgrep, true],
  ["ripgrep on a stream", ripgrep, false],
  ["plain", plain, false],
] as const)("%s", (_name, searcher, withFile) => {
  it("finds literals as a second implementation does", async () => {
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.constantFrom("a", "ab", ".", "x(", "中", "é", "\\", "b a", "-a"),
        page,
        async (content, literal, some) => {
          const request = ask(literal, { literal: true, ...some });
          const found = await searcher.search(sourceOf(content, withFile), request);
          expect(found).toEqual(expected(content, (line) => line.indexOf(literal), request));
        },
      ),
      { numRuns: 25 },
    );
  });

  it("finds expressions as a second implementation does", async () => {
    const patterns = ["a+b", "^a", "b$", "^$", "[^a]", "a|b", "x\\(", ".中", "(?:ab)*é", "\\.", "q"];
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.constantFrom(...patterns),
        page,
        fc.boolean(),
        async (content, pattern, some, ignoreCase) => {
          const request = ask(pattern, { ignoreCase, ...some });
          const expression = new RegExp(pattern, ignoreCase ? "iu" : "u");
          const found = await searcher.search(sourceOf(content, withFile), request);
          expect(found).toEqual(expected(content, (line) => line.search(expression), request));
        },
      ),
      { numRuns: searcher === plain ? 10 : 20 },
    );
  });

  it("counts every line when only some are asked for", async () => {
    const content = "hit\nmiss\n".repeat(20_000);
    for (const more of [{ literal: true }, { ignoreCase: true }]) {
      const found = await searcher.search(
        sourceOf(content, withFile),
        ask("hit", { maxHits: 2, fromLine: 39_990, ...more }),
      );
      expect(found).toEqual({
        total: 20_000,
        hits: [
          { line: 39_991, lineByte: 19_995 * 9, column: 0 },
          { line: 39_993, lineByte: 19_996 * 9, column: 0 },
        ],
        reachedLine: null,
      });
    }
  });

  it("finds the place in one very long line", async () => {
    const content = `start\n${"ab ".repeat(1_000_000)}Needle${" ab".repeat(500_000)}`;
    for (const more of [{ literal: true }, {}, { ignoreCase: true }]) {
      const found = await searcher.search(sourceOf(content, withFile), ask("Needle", more));
      expect(found).toEqual({ total: 1, hits: [{ line: 2, lineByte: 6, column: 3_000_000 }], reachedLine: null });
    }
  });

  it("takes patterns that look like something else", async () => {
    const content = "--files\n-e x\na\0b\n$(touch x)`id`\n\\E\n";
    const lines = async (pattern: string, literal = true) => {
      const { hits } = await searcher.search(sourceOf(content, withFile), ask(pattern, { literal }));
      return hits.map(({ line }) => line);
    };
    expect(await lines("--files")).toEqual([1]);
    expect(await lines("--files", false)).toEqual([1]);
    expect(await lines("-e x")).toEqual([2]);
    expect(await lines("a\0b")).toEqual([3]);
    expect(await lines("a\0b", false)).toEqual([3]);
    expect(await lines("$(touch x)`id`")).toEqual([4]);
    expect(await lines("\\E")).toEqual([5]);
  });

  it("finds bytes that are no text, and text with a mark of another encoding", async () => {
    const found = await searcher.search(
      sourceOf(Buffer.from("\xff\xfea\xff\nb\x80error\n\0\0error\n", "latin1"), withFile),
      ask("error", { literal: true }),
    );
    expect(found.hits.map(({ line, column }) => [line, column])).toEqual([
      [2, 2],
      [3, 2],
    ]);
  });

  it("says what is wrong with a pattern", async () => {
    for (const pattern of ["(", "[z-a]", "a{2,1}"]) {
      const error = await searcher.search(sourceOf("aaa\n", withFile), ask(pattern)).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: "bad-input" });
      expect(String(error)).toMatch(
        /^SpillwayError: The pattern cannot be used: .{5,200}; mend it, or search for the text itself \(literal, -F\)\.$/,
      );
    }
  });

  it("stops when told to", async () => {
    const source = sourceOf("aaa\n".repeat(1000), withFile);
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(searcher.search(source, ask("a", { signal }))).rejects.toThrow("enough");
    const controller = new AbortController();
    const slow: SearchSource = {
      ...source,
      file: null,
      read: async () => {
        controller.abort(new Error("in the middle"));
        return Buffer.from("aaa\n");
      },
    };
    await expect(searcher.search(slow, ask("a", { signal: controller.signal }))).rejects.toThrow("in the middle");
    expect(childProcesses()).toEqual([]);
  });

  it("passes on what the source throws", async () => {
    const source: SearchSource = { file: null, bytes: 10, read: () => Promise.reject(new Error("gone")) };
    await expect(searcher.search(source, ask("a"))).rejects.toThrow("gone");
    expect(childProcesses()).toEqual([]);
  });
});

describe("ripgrep", () => {
  it("gets through patterns that would take others forever, or refuses them", async () => {
    const source = sourceOf(`${"a".repeat(100_000)}b\n`.repeat(20), true);
    for (const pattern of ["^(a+)+$", "(a|aa)+$", "(a*)*c", "(.*a){25}c", "(?:a?){60}a{60}c"]) {
      expect(await ripgrep.search(source, ask(pattern))).toEqual({ total: 0, hits: [], reachedLine: null });
    }
    for (const pattern of ["(\\w{50}|x){50}", "((a{100}){100}){100}", "(?=a)b", "(a)\\1"]) {
      await expect(ripgrep.search(source, ask(pattern))).rejects.toMatchObject({ code: "bad-input" });
    }
  });

  it("reads the source itself when its file is gone", async () => {
    const source = { ...sourceOf("one\ntwo\n"), file: join(folder, "packed-away") };
    expect(await ripgrep.search(source, ask("two"))).toMatchObject({ total: 1, hits: [{ line: 2, lineByte: 4 }] });
  });

  it("can ask for a carriage return", async () => {
    const source = sourceOf("a\rb\r\nc\n", true);
    expect(await ripgrep.search(source, ask("a\\rb"))).toMatchObject({ total: 1 });
    expect(await ripgrep.search(source, ask("b$"))).toMatchObject({ total: 1 });
  });

  it("says how far it came when its time is over", async () => {
    const source: SearchSource = {
      file: null,
      bytes: 1e12,
      read: async () => Buffer.from("match\n".repeat(10)),
    };
    const found = await ripgrep.search(source, ask("match", { deadlineMs: 300 }));
    expect(found.reachedLine).not.toBeNull();
    expect(found.total).toBeLessThan(1e12 / 6);
    expect(childProcesses()).toEqual([]);
  });

  it("takes nothing from the environment", async () => {
    const config = join(folder, "ripgreprc");
    writeFileSync(config, "--invert-match\n");
    process.env.RIPGREP_CONFIG_PATH = config;
    try {
      expect(await ripgrep.search(sourceOf("a\nb\nc\n", true), ask("a"))).toMatchObject({ total: 1 });
    } finally {
      delete process.env.RIPGREP_CONFIG_PATH;
    }
  });

  it("runs many searches, a few at once, and leaves no process behind", async () => {
    const source = sourceOf("a\n".repeat(10_000), true);
    const all = Array.from({ length: 16 }, () => ripgrep.search(source, ask("a", { maxHits: 1 })));
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, childProcesses().length)), 15);
    expect((await Promise.all(all)).every(({ total }) => total === 10_000)).toBe(true);
    clearInterval(watch);
    expect(most).toBeLessThanOrEqual(4);
    expect(childProcesses()).toEqual([]);
  });
});

describe("plain", () => {
  it("serves where ripgrep cannot be started", async () => {
    const found = await absent.search(sourceOf("one\ntwo\n", true), ask("t(w)o"));
    expect(found).toEqual({ total: 1, hits: [{ line: 2, lineByte: 4, column: 0 }], reachedLine: null });
  });

  it("counts a line once that is longer than it holds", async () => {
    const content = `${"ab ".repeat(3_000_000)}\nab\n`;
    const found = await plain.search(sourceOf(content), ask("a(b)"));
    expect(found).toEqual({
      total: 2,
      hits: [
        { line: 1, lineByte: 0, column: 0 },
        { line: 2, lineByte: 9_000_001, column: 0 },
      ],
      reachedLine: null,
    });
  });

  it("ends a match that would take forever, and says how far it came", async () => {
    const lines = `fine b\n${"x".repeat(2 ** 20)}\n${"a".repeat(60)}!\nfine b\n`;
    const found = await plain.search(sourceOf(lines), ask("(^(a+)+|fine )b", { deadlineMs: 500 }));
    // The first block may be done by the deadline. The second one never is.
    expect([0, 1]).toContain(found.reachedLine);
    expect(found.total).toBe(found.reachedLine);
    expect(found.hits.length).toBe(found.total);
  });
});

/** Returns the ids of this process's children that still run, if the system shows them. */
function childProcesses(): string[] {
  try {
    return readdirSync("/proc").filter((entry) => {
      if (!/^\d+$/.test(entry)) return false;
      try {
        const stat = readFileSync(`/proc/${entry}/stat`, "utf8");
        const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        return Number(parent) === process.pid && state !== "Z" && stat.includes("(rg)");
      } catch {
        return false;
      }
    });
  } catch {
    return [];
  }
}
