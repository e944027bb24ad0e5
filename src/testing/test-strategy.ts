import assert from "node:assert/strict";
import fc from "fast-check";
import { type Admitted, startAdmission, writeEnded } from "../admit/admission.ts";
import type { Limits, Unit } from "../contract/limits.ts";
import type { Strategy } from "../contract/strategy.ts";
import { estimateCounter, measureText } from "../stages/measure/estimate-tokens.ts";
import { arbitraryLimits, arbitraryOutput, arbitraryRepeats, chunked, lent } from "./arbitrary.ts";

/** The two functions of a test runner that a suite needs. Those of vitest and node:test fit. */
export interface Runner {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => void | Promise<void>): void;
}

/** Options of a suite. */
export interface SuiteOptions {
  /** How many random outputs are tried for each promise. */
  numRuns?: number;
}

/** Runs the promises that every strategy keeps, on random outputs under random limits. A failure prints its seed. */
export function testStrategy(strategy: Strategy, { describe, it }: Runner, { numRuns = 300 }: SuiteOptions = {}): void {
  const admit = (
    chunks: Iterable<Uint8Array>,
    limits: Limits,
    fold: boolean,
    exitCode: number | null = null,
  ): Admitted => {
    const admission = startAdmission({
      scope: "local",
      tool: "test",
      session: null,
      call: null,
      limits,
      strategy,
      headShare: 0.3,
      fold,
      counter: estimateCounter,
      exitCode,
    });
    for (const chunk of chunks) admission.add(chunk);
    const admitted = writeEnded(admission.end());
    // If a strategy fails, a plain clamp replaces it. Here the failure must show.
    assert.equal(admitted.receipt.faults, undefined);
    return admitted;
  };
  const anyOutput = fc.oneof({ weight: 4, arbitrary: arbitraryOutput }, arbitraryRepeats);
  const exitCodes = fc.constantFrom(null, null, 0, 1, 137);
  const check = (body: (output: Uint8Array, limits: Limits, fold: boolean, exitCode: number | null) => void) =>
    fc.assert(fc.property(anyOutput, arbitraryLimits, fc.boolean(), exitCodes, body), { numRuns });
  const sizeOf = (value: string) => measureText(value, estimateCounter);
  const isWithin = (value: string, limits: Limits) => overs(sizeOf(value), limits).length === 0;

  describe(`strategy ${strategy.name}`, () => {
    it("promise 1, within limits: nothing shown exceeds any limit, markers and exit line included", () => {
      check((output, limits, fold, exitCode) => {
        const { text, receipt } = admit(lent([output]), limits, fold, exitCode);
        assert.deepEqual(overs(sizeOf(text), limits), [], `over its limits: ${JSON.stringify(text)}`);
        assert.deepEqual(receipt.shown, sizeOf(text));
      });
    });

    it("promise 2, exact accounting: kept + folded + redacted + omitted = total, in bytes and in lines", () => {
      check((output, limits, fold, exitCode) => {
        const { receipt } = admit(lent([output]), limits, fold, exitCode);
        const truth = { bytes: output.length, lines: linesOf(output) };
        assert.deepEqual(receipt.total, truth);
        for (const unit of ["bytes", "lines"] as const) {
          const parts = [receipt.kept, receipt.folded, receipt.redacted, receipt.omitted].map((extent) => extent[unit]);
          assert.ok(
            parts.every((part) => part >= 0),
            `negative ${unit}: ${parts}`,
          );
          assert.equal(
            parts.reduce((sum, part) => sum + part),
            truth[unit],
            `${unit}: ${JSON.stringify(receipt)}`,
          );
        }
        if (receipt.binary === undefined) {
          assert.equal(
            receipt.cuts.reduce((sum, cut) => sum + cut.bytes, 0),
            receipt.omitted.bytes,
            JSON.stringify(receipt),
          );
        }
        assert.equal(
          receipt.cutBy === null,
          receipt.omitted.bytes === 0 || (receipt.binary !== undefined && receipt.cutBy === null),
        );
      });
    });

    it("promise 4, well-formed text: no half character, no lone surrogate", () => {
      check((output, limits, fold) => {
        const { text } = admit(lent([output]), limits, fold);
        assert.ok(text.isWellFormed());
        const source = new TextDecoder("utf-8", { ignoreBOM: true }).decode(output);
        if (!source.includes("\ufffd"))
          assert.ok(!text.includes("\ufffd"), `half a character: ${JSON.stringify(text)}`);
      });
    });

    it("promise 5, never empty: an output with content is shown, or said to be cut", () => {
      check((output, limits, fold, exitCode) => {
        const { maxBytes = 8, maxChars = 8, maxLines = 1, maxTokens = 3 } = limits;
        fc.pre(output.length > 0 && maxBytes >= 8 && maxChars >= 8 && maxLines >= 1 && maxTokens >= 3);
        const { text, receipt } = admit(lent([output]), limits, fold, exitCode);
        assert.notEqual(text, "");
        if (receipt.omitted.bytes > 0) assert.match(text, /omitted|cut|truncated|not shown/);
      });
    });

    it("promise 6, same in, same out: however the output was chunked, from memory that is used again", () => {
      fc.assert(
        fc.property(
          arbitraryOutput,
          arbitraryLimits,
          fc.boolean(),
          fc.array(fc.nat(), { maxLength: 12 }),
          (output, limits, fold, cuts) => {
            assert.deepEqual(admit(lent(chunked(output, cuts)), limits, fold), admit([output], limits, fold));
          },
        ),
        { numRuns },
      );
    });

    it("promise 6, clamping twice equals clamping once", () => {
      check((output, limits, fold, exitCode) => {
        const once = admit(lent([output]), limits, fold, exitCode).text;
        assert.equal(admit(lent([new TextEncoder().encode(once)]), limits, fold, exitCode).text, once);
      });
    });

    it("promise 6, within its limits an output passes byte for byte", () => {
      check((output, limits, fold) => {
        const source = new TextDecoder("utf-8", { ignoreBOM: true }).decode(output);
        const { text, receipt } = admit(lent([output]), limits, fold);
        fc.pre(receipt.binary === undefined && isWithin(source, limits));
        assert.equal(text, source);
        assert.equal(receipt.cutBy, null);
        // If U+FFFD is shown for a byte, the output must be saved, or the byte is lost.
        const isExact = Buffer.from(source).equals(output);
        assert.equal(receipt.saved, isExact ? null : "no");
      });
    });

    it("shows no more than what came: markers do not make an output longer", () => {
      check((output, limits, fold, exitCode) => {
        const { text, receipt } = admit(lent([output]), limits, fold, exitCode);
        fc.pre(receipt.binary === undefined && output.length > 0);
        const source = new TextDecoder("utf-8", { ignoreBOM: true }).decode(output);
        const exitLine = exitCode === null || exitCode === 0 ? "" : `\n[exit code ${exitCode}]`;
        if (!/^(?:cut|\[cut(?:; exit code \d+)?\])$/.test(text))
          assert.ok(text.length <= source.length + exitLine.length, `longer than what came: ${JSON.stringify(text)}`);
      });
    });

    it("names the limit that bound: one that the output is over, and of those the one that is used most", () => {
      check((output, limits, fold) => {
        const { receipt } = admit(lent([output]), limits, fold);
        fc.pre(receipt.cutBy !== null && receipt.binary === undefined && receipt.kept.bytes > 0);
        const came = sizeOf(new TextDecoder("utf-8", { ignoreBOM: true }).decode(output));
        const { shown, cutBy } = receipt;
        const limitOf = { ...NO_LIMITS, ...limits };
        const use = (unit: Unit) => shown[unit] / limitOf[LIMIT_OF[unit]];
        const isPassed = (unit: Unit) => came[unit] > limitOf[LIMIT_OF[unit]];
        assert.ok(isPassed(cutBy as Unit) || cutBy === "tokens", `${cutBy} did not bind: ${JSON.stringify(receipt)}`);
        for (const unit of ["lines", "bytes", "chars"] as const)
          if (isPassed(unit)) assert.ok(use(unit) <= use(cutBy as Unit), `${unit} bound: ${JSON.stringify(receipt)}`);
      });
    });

    it("says only what is so: a note on repeats stands behind its line, a header counts the lines under it", () => {
      const limits = fc.record({
        maxLines: fc.integer({ min: 2, max: 40 }),
        maxChars: fc.integer({ min: 90, max: 4000 }),
      });
      const body = (output: Uint8Array, within: Limits) => {
        const { text } = admit(lent([output]), within, true);
        const lines = text.split("\n");
        for (const [at, line] of lines.entries()) {
          if (line.startsWith("[previous line repeated")) assert.match(lines[at - 1] ?? "[", /^(?!\[)/, text);
          const count = /^\[(?:First|Last) ([\d,]+) lines? of/.exec(line)?.[1];
          if (count === undefined) continue;
          const after = lines.slice(at + 1);
          // An empty line stands before the suffix.
          const isSuffix = (one = "") => one.startsWith("[tool output truncated");
          const end = after.findIndex(
            (one, index) => /^\[(?:\.\.\. |Output cut)/.test(one) || isSuffix(after[index + 1]),
          );
          const shown = after.slice(0, end).filter((one) => !/^\[(?:previous line|\d+ lines like)/.test(one));
          assert.equal(shown.length, Number(count.replaceAll(",", "")), text);
        }
      };
      fc.assert(fc.property(arbitraryRepeats, limits, body), { numRuns });
    });

    it("shows only what was there: every kept line stands in the output", () => {
      check((output, limits) => {
        const source = new TextDecoder("utf-8", { ignoreBOM: true }).decode(output);
        const { text, receipt } = admit(lent([output]), limits, false);
        fc.pre(receipt.binary === undefined && receipt.omitted.bytes > 0 && !/^\[/m.test(source));
        for (const line of text.split("\n")) {
          if (!/^\[.*\]$/.test(line) && line !== "cut")
            assert.ok(source.includes(line), `not in the output: ${JSON.stringify(line)}`);
        }
      });
    });
  });
}

const LIMIT_OF = { bytes: "maxBytes", chars: "maxChars", lines: "maxLines", tokens: "maxTokens" } as const;
const NONE = Number.POSITIVE_INFINITY;
const NO_LIMITS: Required<Limits> = { maxBytes: NONE, maxChars: NONE, maxLines: NONE, maxTokens: NONE };

function overs(size: ReturnType<typeof measureText>, limits: Limits): string[] {
  const over = (value: number, limit: number | undefined, unit: string) =>
    limit !== undefined && value > limit ? [`${value} > ${limit} ${unit}`] : [];
  return [
    ...over(size.bytes, limits.maxBytes, "bytes"),
    ...over(size.chars, limits.maxChars, "chars"),
    ...over(size.lines, limits.maxLines, "lines"),
    ...over(size.tokens, limits.maxTokens, "tokens"),
  ];
}

/** Counts lines in a second implementation. */
function linesOf(bytes: Uint8Array): number {
  const breaks = bytes.reduce((count, byte) => count + (byte === 10 ? 1 : 0), 0);
  return breaks + (bytes.length > 0 && bytes.at(-1) !== 10 ? 1 : 0);
}
