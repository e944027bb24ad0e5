import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clampText } from "../../../admit/clamp-text.ts";
import { createSpillway } from "../../../index.ts";
import { compileFocus, compileLines } from "./compile-focus.ts";

const encoder = new TextEncoder();
const finds = (focus: string | RegExp, line: string) => compileFocus(focus).find(encoder.encode(line)) !== 0;

describe("focus", () => {
  it("finds any of its words in either case, quoted ones together", () => {
    expect(finds("timeout refused", "Connection REFUSED by host")).toBe(true);
    expect(finds("timeout refused", "all fine")).toBe(false);
    expect(finds('"timed out"', "it timed out")).toBe(true);
    expect(finds('"timed out"', "timed, then out")).toBe(false);
    expect(finds("größe", "Größe: 3")).toBe(true);
    expect(finds("a.b", "axb")).toBe(false);
  });

  it("tells which of several words stand in a line", () => {
    const { find, words } = compileFocus('refused "by host"');
    expect(words).toBe(2);
    expect(find(encoder.encode("Refused By Host"))).toBe(3);
    expect(find(encoder.encode("refused by a host"))).toBe(1);
    expect(find(encoder.encode("x by host"))).toBe(2);
    for (const one of ["refused", '"by host"', "/a b/"]) expect(compileFocus(one).words).toBe(1);
  });

  it.each(["auto", "signal", "outline", "table", "listing"])(
    "shows lines with all words before those with one, however many: %s",
    (strategy) => {
      const lines = Array.from({ length: 3000 }, (_, n) =>
        n === 1777 ? "note 1777, connection to db was refused" : `ERROR connection ${n} failed, refusing nothing`,
      );
      const options = { strategy, focus: "connection refused" };
      for (const limits of [{ maxLines: 12 }, { maxChars: 2000 }]) {
        const { text, receipt } = clampText(lines.join("\n"), limits, options);
        expect(text).toContain("note 1777");
        expect(receipt.faults).toBeUndefined();
      }
    },
  );

  it.each([
    "a",
    "ab*c",
    "(?:ab|cd)+e",
    "a{2,4}b",
    "^a.c$",
    "[a-c]+\\d",
    "[^a]b",
    "x?y",
    "(a|b)*abb",
    "a+b?",
    "a{3}",
    "[^\\n]b",
    "\\x61[\\x62-c]",
    "a{0}b",
  ])("agrees with the language's own patterns on %s", (pattern) => {
    const own = new RegExp(pattern);
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."abcdexy1 "), maxLength: 12 }), (line) => {
        expect(finds(`/${pattern}/`, line), line).toBe(own.test(line));
      }),
      { numRuns: 300 },
    );
  });

  it("counts a character of several bytes as one", () => {
    expect(finds("/^é{2}$/", "éé")).toBe(true);
    expect(finds("/^é{2}$/", "é")).toBe(false);
  });

  it("takes linear time where backtracking would not", () => {
    expect(finds("/(a+)+$/", `${"a".repeat(4000)}b`)).toBe(false);
    expect(finds("/(a|aa)+c/", "a".repeat(4000))).toBe(false);
  });

  it.each(["/(/", "/a{60}/", "/*/", "/(?=a)/", "/[a/", `/${"(a|b){40}".repeat(20)}/`, " ", "x".repeat(2000)])(
    "refuses %s",
    (focus) => {
      expect(() => compileFocus(focus)).toThrow(/focus/);
    },
  );
});

describe("the work of patterns", () => {
  const HEAVY = Array.from({ length: 8 }, (_, n) => `/(.*a){40}(.*b){40}(.*c){18}${n}$/`);
  const many = (line: string, times: number) => Array.from({ length: times }, (_, n) => `${n} ${line}`).join("\n");

  it("ends patterns that take too many steps, says so, and the strategy goes on", async () => {
    const policy = { default: { keep: HEAVY, limits: { maxChars: 2000 }, strategy: "signal" } };
    const output = `${many("abc".repeat(600), 200)}\nError: it broke\n${many("abc".repeat(60), 20)}`;
    const { text, receipt } = await (await createSpillway({ policy, env: {} })).admit({ tool: "t", output });
    expect(receipt.faults).toEqual([expect.stringContaining("patterns of lines took too many steps")]);
    expect(receipt.strategy).toBe("signal");
    expect(text).toContain("Error: it broke");
  });

  it("finds the same texts once patterns ended, and real patterns however long the output", () => {
    const all = compileLines({ keep: ["kept text", ...HEAVY.slice(1)], drop: [], focus: [] }, undefined);
    const line = encoder.encode("abc".repeat(1300));
    for (let n = 0; n < 100; n++) all?.find(line);
    expect(all?.faults).toHaveLength(1);
    expect(all?.find(encoder.encode("a kept text"))).toBe(1);
    const real = compileLines(
      { keep: ["/timed out after \\d+/", "/^.*refused.*host$/i"], drop: [], focus: [] },
      undefined,
    );
    for (let n = 0; n < 900; n++) real?.find(line);
    expect(real?.faults).toEqual([]);
    expect(real?.find(encoder.encode("it timed out after 3 s"))).toBe(1);
  });
});
