import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileFocus } from "./compile-focus.ts";

const encoder = new TextEncoder();
const finds = (focus: string | RegExp, line: string) => compileFocus(focus).matches(encoder.encode(line));

describe("focus", () => {
  it("finds any of its words in either case, quoted ones together", () => {
    expect(finds("timeout refused", "Connection REFUSED by host")).toBe(true);
    expect(finds("timeout refused", "all fine")).toBe(false);
    expect(finds('"timed out"', "it timed out")).toBe(true);
    expect(finds('"timed out"', "timed, then out")).toBe(false);
    expect(finds("größe", "Größe: 3")).toBe(true);
    expect(finds("a.b", "axb")).toBe(false);
  });

  it.each(["a", "ab*c", "(?:ab|cd)+e", "a{2,4}b", "^a.c$", "[a-c]+\\d", "[^a]b", "x?y", "(a|b)*abb", "a+b?", "a{3}"])(
    "agrees with the language's own patterns on %s",
    (pattern) => {
      const own = new RegExp(pattern);
      fc.assert(
        fc.property(fc.string({ unit: fc.constantFrom(..."abcdexy1 "), maxLength: 12 }), (line) => {
          expect(finds(`/${pattern}/`, line), line).toBe(own.test(line));
        }),
        { numRuns: 300 },
      );
    },
  );

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
