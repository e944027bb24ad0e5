import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redactAll, redactChunks } from "../../../test/redact-chunks.ts";
import { SpillwayError } from "../../errors.ts";
import { compileRules } from "./compile-rules.ts";
import type { RuleInput } from "./redaction-rule.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const redact = (input: Omit<RuleInput, "name">, text: string) =>
  redactAll(compileRules([{ name: "mine", ...input } as RuleInput]), encode(text)).text;

describe("compileRules", () => {
  it.each([
    ["acme_[a-z0-9]{8,}", "x acme_abc12345z y", "x [redacted:mine] y"],
    ["X-Key:\\s*(\\S+)", "X-Key: abc def", "X-Key: [redacted:mine] def"],
    ["(?:foo|barbar)-\\d{3}", "foo-123 barbar-456 foo-12", "[redacted:mine] [redacted:mine] foo-12"],
    ["\\bid\\d{4}\\b", "id1234 xid1234 id12345 id1234", "[redacted:mine] xid1234 id12345 [redacted:mine]"],
    ["\\d{3}-\\d{2}-\\d{4}", "ssn 123-45-6789.", "ssn [redacted:mine]."],
    ["key(?:-[a-f]{2})?=([^&]+)", "key-ab=12&key=3", "key-ab=[redacted:mine]&key=[redacted:mine]"],
    ["g\u00e9h\u00e9im[0-9]+", "le g\u00e9h\u00e9im42!", "le [redacted:mine]!"],
  ])("%s", (pattern, input, output) => {
    expect(redactAll(compileRules([{ name: "mine", pattern }]), encode(input)).text).toBe(
      Array.from(encode(output), (byte) => String.fromCharCode(byte)).join(""),
    );
  });

  it("takes a literal as it is, in any case if asked to", () => {
    expect(redact({ literal: "a.b*c(" }, "a.b*c( aXb*c( A.B*C(")).toBe("[redacted:mine] aXb*c( A.B*C(");
    expect(redact({ literal: "a.b*c(", ignoreCase: true }, "a.b*c( A.B*C(")).toBe("[redacted:mine] [redacted:mine]");
  });

  it.each([
    ["(a+)+bcd", "a group may only have"],
    ["(?:a|ab)*xyzw", "a group may only have"],
    ["[a-z]+[a-z0-9]{4}", "ambiguous"],
    [".*secret", "ambiguous"],
    ["abc?c?cde", "ambiguous"],
    ["ab+?cdef", "lazy"],
    ["abcd(?=ef)", '"\\(\\?=" is not supported'],
    ["abcd\\1", "not supported"],
    ["^abcd", "not supported"],
    ["ab\\ncd", "line break"],
    ["abcd\n", "line break"],
    ["a\\bbcd", "may only stand at"],
    ["abc", "fewer than 4 bytes"],
    ["abcd(x*)", "could be empty"],
    ["(ab)(cd)", "only one group"],
    ["(abcd", "not closed"],
    ["abcd)", "closes nothing"],
    ["[abcd", "not closed"],
    ["abcd{9999}", "over 4096"],
    ["abcd{5,2}", "wrong way round"],
    ["*abcd", "nothing to count"],
    ["\\b+abcd", "nothing to count"],
    ["abcd[\\n]", "matches nothing"],
    ["abcd[z-a]", "wrong way round"],
    ["(a(b))cd", "only one group"],
    ["(a|b)(?:c|d)(?:e|f)(?:g|h)(?:i|j)(?:k|l)(?:m|n)", "multiply"],
    ["x".repeat(1001), "over 1000"],
  ])("refuses %s", (pattern, why) => {
    const error = catchError(() =>
      compileRules([
        { name: "ok", pattern: "fine[0-9]{4}" },
        { name: "bad-one", pattern },
      ]),
    );
    expect(SpillwayError.is(error) && error.code).toBe("bad-policy");
    expect(String(error)).toMatch(/redaction rule "bad-one": /);
    expect(String(error)).toMatch(new RegExp(why));
  });

  it.each(["", "Upper", "two words", "a]b", "a_b", "x".repeat(41)])("refuses the name '%s'", (name) => {
    expect(() => compileRules([{ name, literal: "abcd" }])).toThrow(/redaction rule 1: its name/);
  });

  it("refuses a rule without a pattern, and a literal over a line", () => {
    expect(() => compileRules([{ name: "x" } as RuleInput])).toThrow(/either a pattern or a literal/);
    expect(() => compileRules([{ name: "x", literal: "ab\ncd" }])).toThrow(/line break/);
  });

  const PATTERNS = [
    "ab[0-9]{2,}",
    "a[ab]{3,5}",
    "\\bab{2,}1*c",
    "(?:ab|ba)[01]{2,}-?",
    "[ab]{4}",
    "a.b0",
    "b(?:-a)?1{3}c?",
    "[^0-1]{3}0",
  ];

  it("replaces what the language's own regular expressions match, at every place, in any chunks", () => {
    const rules = new Map(PATTERNS.map((pattern) => [pattern, compileRules([{ name: "r", pattern }])]));
    const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "0", "1", "-", " ", "\n"), maxLength: 60 });
    fc.assert(
      fc.property(fc.constantFrom(...PATTERNS), text, fc.array(fc.nat({ max: 60 })), (pattern, input, ends) => {
        const expected = byOwn(pattern, input);
        expect(redactChunks(rules.get(pattern) ?? [], encode(input), ends).text).toBe(expected);
      }),
      { numRuns: 1500 },
    );
  });
});

/** The same by sticky matches at every place; overlapping ones are one. */
function byOwn(pattern: string, input: string): string {
  // A class never takes a line break here.
  const own = new RegExp(pattern.replace("[^0-1]", "[^0-1\\n]"), "y");
  let output = "";
  let coveredTo = 0;
  for (let at = 0; at < input.length; at++) {
    own.lastIndex = at;
    const match = own.exec(input);
    // A word's border is judged by what stands there once the secret before is replaced.
    const hidden = match === null && at === coveredTo && at > 0 && output.endsWith("]");
    const again = hidden ? new RegExp(own.source, "y").exec(input.slice(at)) : match;
    if (again !== null) {
      if (at >= coveredTo) output += "[redacted:r]";
      coveredTo = Math.max(coveredTo, at + again[0].length);
    }
    if (at >= coveredTo) output += input[at];
  }
  return output;
}

function catchError(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return null;
}
