import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Span } from "../../contract/span.ts";
import { lent } from "../../testing/arbitrary.ts";
import { startFold } from "./fold.ts";

const encoder = new TextEncoder();
const decode = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

function join(parts: Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function* chunksOf(source: Uint8Array, sizes: number[]): Generator<Uint8Array> {
  for (let from = 0, index = 0; from < source.length; index++) {
    const size = sizes[index % sizes.length]!;
    yield source.subarray(from, from + size);
    from += size;
  }
}

/** Folds with chunks of the given sizes, over and over. */
function fold(source: Uint8Array, sizes: number[]): Span[] {
  const spans: Span[] = [];
  const folding = startFold((span) => spans.push({ ...span, bytes: new Uint8Array(span.bytes) }));
  let from = 0;
  let line = 1;
  for (const chunk of lent(chunksOf(source, sizes))) {
    folding.add(chunk, from, line);
    for (const byte of chunk) if (byte === 10) line++;
    from += chunk.length;
  }
  folding.end();
  return spans;
}

function mergeSources(spans: Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    if (last?.kind === "source" && span.kind === "source") {
      last.bytes = join([last.bytes, span.bytes]);
      last.to = span.to;
    } else {
      merged.push({ ...span });
    }
  }
  return merged;
}

const shown = (spans: Span[]) => join(spans.map((span) => span.bytes));

it("finds in short lines, many at once, what it finds in them one by one", () => {
  const line = fc.constantFrom("a", "b", "1", "12", "", "x 7", "0", "\u00e9");
  const lines = fc.array(fc.tuple(line, fc.constantFrom(1, 1, 1, 1, 2, 8, 25, 60)), { minLength: 20, maxLength: 120 });
  fc.assert(
    fc.property(lines, (runs) => {
      const source = encoder.encode(`${runs.flatMap(([text, times]) => Array<string>(times).fill(text)).join("\n")}\n`);
      // A chunk of one byte holds no two lines.
      expect(mergeSources(fold(source, [source.length]))).toEqual(mergeSources(fold(source, [1])));
    }),
    { numRuns: 200 },
  );
});

const word = fc.constantFrom(
  ..."build ok done file error failed: 0 errors 2 12 7 100% 50% 3/10 1.5s 300ms 0xbeef12 deadbeef12 alpha".split(" "),
  "你好",
  "🙂",
  "é",
  "[=>  ]",
  "  ",
  "\t",
);
const code = fc.constantFrom(
  ..."\x1b[31m|\x1b[0m|\x1b[K|\x1b[1K|\x1b[2K|\x1b[3D|\x1b[2C|\x1b[9G|\x1b[G|\x1b[2P|\x1b[2@|\x1b[3X|\x1b[A|\x1b[2J|\x1b[J|\x1b[?25l|\x1b(B|\x1b7|\x1bM|\x1b]0;t\x07|\x1b]8;;u\x1b\\|\x1b]|\x1bP|\x1b[|\x1b|\x1b\x1b|\x07|\b|\b\b|\r|\r|\r\r|\0|\x0f".split(
    "|",
  ),
);
const text = fc.array(fc.oneof({ weight: 3, arbitrary: word }, { weight: 2, arbitrary: code }), { maxLength: 8 });
const ending = fc.constantFrom("\n", "\n", "\n", "\r\n", "\r\r\n", "");
const line = fc.tuple(text, ending).map(([parts, end]) => encoder.encode(parts.join(" ") + end));
const tight = fc.tuple(text, ending).map(([parts, end]) => encoder.encode(parts.join("") + end));
const bytes = fc.uint8Array({ maxLength: 20 });
const repeated = fc
  .tuple(fc.oneof(line, tight), fc.integer({ min: 1, max: 60 }))
  .map(([part, count]) => join(Array.from({ length: count }, () => part)));
const counted = fc
  .tuple(word, fc.integer({ min: 0, max: 30 }), fc.boolean())
  .map(([name, count, coloured]) =>
    encoder.encode(
      Array.from(
        { length: count },
        (_, index) => `${coloured && index % 2 ? "\x1b[1m" : ""}step ${index} ${name}\n`,
      ).join(""),
    ),
  );
const source = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: line },
      { weight: 3, arbitrary: tight },
      { weight: 1, arbitrary: bytes },
      { weight: 2, arbitrary: repeated },
      { weight: 2, arbitrary: counted },
    ),
    { maxLength: 12 },
  )
  .map(join);
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 });

const RUNS = 400;
const whole = [Number.MAX_SAFE_INTEGER];

describe("fold", () => {
  it("does not depend on how the source was cut into chunks", () => {
    fc.assert(
      fc.property(source, sizes, (input, cuts) => {
        expect(mergeSources(fold(input, cuts))).toEqual(mergeSources(fold(input, whole)));
      }),
      { numRuns: RUNS },
    );
  });

  it("covers the source without a hole, in order, with true figures", () => {
    fc.assert(
      fc.property(source, sizes, (input, cuts) => {
        let at = 0;
        for (const span of fold(input, cuts)) {
          expect(span.from).toBe(at);
          expect(span.to).toBeGreaterThan(at);
          const before = input.subarray(0, at);
          const range = input.slice(span.from, span.to);
          expect(span.line).toBe(1 + before.filter((byte) => byte === 10).length);
          if (span.kind === "source") {
            expect(span.bytes).toEqual(range);
            expect([span.breaks, span.chars]).toEqual([-1, -1]);
          } else {
            expect(at === 0 || input[at - 1] === 10).toBe(true);
            expect(span.to === input.length || input[span.to - 1] === 10).toBe(true);
            expect(span.breaks).toBe(range.filter((byte) => byte === 10).length);
            expect(span.chars).toBe(decode(range).length);
          }
          if (span.kind === "note") {
            expect(decode(span.bytes)).toMatch(/^\[[ -~]+\]\n$/);
            expect(span.bytes.length).toBeLessThan(range.length);
            expect(span.counts).toBeDefined();
          }
          at = span.to;
        }
        expect(at).toBe(input.length);
      }),
      { numRuns: RUNS },
    );
  });

  it("shows nothing in a rewritten line that the source did not have there", () => {
    fc.assert(
      fc.property(source, (input) => {
        for (const span of fold(input, whole)) {
          if (span.kind !== "rewritten") continue;
          const left = new Map<number, number>();
          for (const byte of input.subarray(span.from, span.to)) left.set(byte, (left.get(byte) ?? 0) + 1);
          for (const byte of span.bytes) left.set(byte, (left.get(byte) ?? 0) - 1);
          expect([...left.values()].every((count) => count >= 0)).toBe(true);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("leaves no control codes, and nothing to rewrite when run again", () => {
    fc.assert(
      fc.property(source, (input) => {
        const once = shown(fold(input, whole));
        expect([...once].some((byte) => byte < 0x1c && ![0, 9, 10, 11, 12, 13].includes(byte))).toBe(false);
        expect(fold(once, whole).filter((span) => span.kind === "rewritten")).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it("leaves text without control codes and runs alone, whatever its bytes", () => {
    const distinct = fc.array(
      fc.uint8Array({ maxLength: 30 }).map((part) => part.map((byte) => (byte < 0x20 ? 0x61 : byte))),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(distinct, sizes, (lines, cuts) => {
        const input = join(
          lines.map((each, index) => join([encoder.encode("xyz"[index % 3]!), each, encoder.encode("\n")])),
        );
        const spans = mergeSources(fold(input, cuts));
        expect(spans.every((span) => span.kind === "source")).toBe(true);
        expect(shown(spans)).toEqual(input);
      }),
      { numRuns: 100 },
    );
  });

  it("never leaves out a line with a failure word, other than as a repeat", () => {
    const plain = fc.integer({ min: 10, max: 99 }).map((count) => `step ${count} passed well`);
    const failure = fc
      .tuple(fc.constantFrom("error", "FAILED", "panic", "Timed out", "warning"), fc.integer({ min: 10, max: 99 }))
      .map(([name, count]) => `step ${count} ${name}`);
    const lines = fc.array(fc.oneof({ weight: 12, arbitrary: plain }, { weight: 1, arbitrary: failure }), {
      minLength: 20,
      maxLength: 120,
    });
    fc.assert(
      fc.property(lines, (input) => {
        const output = decode(shown(fold(encoder.encode(`${input.join("\n")}\n`), whole))).split("\n");
        for (const each of input) if (!each.endsWith("well")) expect(output).toContain(each);
      }),
      { numRuns: 100 },
    );
  });

  it("takes lines of any length, cut anywhere, the same way", () => {
    const piece = fc
      .tuple(
        fc.constantFrom("abc ", "1%\r", "\x1b[1m", "你", "alpha\rbeta\r", "\b"),
        fc.constantFrom(1, 3, 9000, 16384, 65533),
      )
      .map(([part, count]) => part.repeat(count));
    const long = fc.array(fc.oneof(piece, fc.constantFrom("\n", "\r\n", "x\n")), { maxLength: 6 });
    fc.assert(
      fc.property(long, fc.integer({ min: 3000, max: 70_000 }), (parts, size) => {
        const input = encoder.encode(parts.join(""));
        const spans = mergeSources(fold(input, [size]));
        const asText = (span: Span) => ({ ...span, bytes: decode(span.bytes) });
        expect(spans.map(asText)).toEqual(mergeSources(fold(input, whole)).map(asText));
        expect(spans.reduce((at, span) => (span.from === at ? span.to : -1), 0)).toBe(input.length);
      }),
      { numRuns: 20 },
    );
  });
});
