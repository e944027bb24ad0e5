import fc from "fast-check";
import { expect, it } from "vitest";
import type { Strategy } from "../contract/strategy.ts";
import { headTail } from "../stages/clamp/strategies/edges.ts";
import { strategies } from "../stages/clamp/strategies/index.ts";
import { estimateCounter, measureText } from "../stages/measure/estimate-tokens.ts";
import { admitWhole, startAdmission, writeEnded } from "./admission.ts";
import { clampText, requestFor } from "./clamp-text.ts";

const lines = Array.from({ length: 60 }, (_, n) => `line ${n} of some words`).join("\n");
const OUTPUTS = [lines, `${lines}\n`, lines.replaceAll("words", "w\u00f6rter \u{1f30a}"), `${"x".repeat(900)}\ny`];

const auto = strategies[0] as Strategy;

const CASES = [
  ["bytes", "maxBytes"],
  ["chars", "maxChars"],
  ["lines", "maxLines"],
  ["tokens", "maxTokens"],
] as const;

it.each(CASES)("an output of just as many %s as it may have passes whole, and one over is cut", (unit, name) => {
  for (const output of OUTPUTS) {
    const limit = measureText(output, estimateCounter)[unit];
    const request = (most: number, strategy: Strategy = auto) => requestFor({ [name]: most }, { strategy });
    // auto looks at some of an output before it begins; a plain strategy begins as soon as one limit is passed.
    for (const [chunkBytes, strategy] of [7, 100_000].flatMap((bytes) =>
      [auto, headTail].map((one) => [bytes, one] as const),
    )) {
      const admit = (most: number) => {
        const admission = startAdmission(request(most, strategy));
        const bytes = new TextEncoder().encode(output);
        for (let at = 0; at < bytes.length; at += chunkBytes) admission.add(bytes.subarray(at, at + chunkBytes));
        return { over: admission.over, ...writeEnded(admission.end()) };
      };
      const whole = { text: output, over: false, receipt: { cutBy: null, omitted: { bytes: 0 } } };
      expect(admit(limit)).toMatchObject(whole);
      const { text, receipt } = admit(limit - 1);
      expect(receipt.cutBy).toBe(unit);
      expect(measureText(text, estimateCounter)[unit]).toBeLessThan(limit);
    }
    expect(admitWhole(output, request(limit))?.text).toBe(output);
    expect(admitWhole(output, request(limit - 1))).toBeNull();
  }
});

it.each([
  ["without a final break", lines],
  ["with one, to which none is added", `${lines}\n`],
])("how a command ended counts: what leaves it no room is cut, %s", (_, output) => {
  const admit = (maxChars: number) => {
    const admission = startAdmission(requestFor({ maxChars }, { exitCode: 3, strategy: auto }));
    admission.add(new TextEncoder().encode(output));
    return writeEnded(admission.end());
  };
  const whole = `${lines}\n[exit code 3]`;
  expect(admit(whole.length)).toMatchObject({ text: whole, receipt: { cutBy: null } });
  expect(admit(whole.length - 1).receipt.cutBy).toBe("chars");
});

it("how a command ended is said once, also of a text that comes a second time", () => {
  const line = fc.constantFrom("", "ok", "error: disk full", "[exit code 1]", "the same line\n".repeat(9).trimEnd());
  const property = fc.property(
    fc.array(line, { minLength: 1, maxLength: 30 }),
    fc.constantFrom("", "\n"),
    fc.record({ maxLines: fc.integer({ min: 1, max: 40 }), maxChars: fc.integer({ min: 10, max: 900 }) }),
    fc.constantFrom(0, 1, 137),
    fc.boolean(),
    (all, end, limits, exitCode, fold) => {
      const options = { exitCode, fold };
      const { text } = clampText(all.join("\n") + end, limits, options);
      expect(clampText(text, limits, options).text).toBe(text);
    },
  );
  fc.assert(property, { numRuns: 300 });
});

it("what bound is a limit that the output is over, not one that only our markers are over", () => {
  const limits = { maxChars: 54, maxTokens: 13 };
  const { receipt } = clampText("diff --git a/src/f0.ts b/src/f0.ts\n--- a/src/f0.ts\n", limits);
  expect(receipt.omitted.bytes).toBeGreaterThan(0);
  expect(receipt.cutBy).toBe("tokens");
});
