import fc from "fast-check";
import type { Limits } from "../contract/limits.ts";

const encoder = new TextEncoder();

/** Generates text as tools write it, and every kind of text that has caused trouble in a clamp. */
const fragment = fc.oneof(
  { weight: 6, arbitrary: fc.lorem({ maxCount: 8 }) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
  fc.constantFrom(
    "日本語のテキスト",
    "한국어 텍스트",
    "Привет мир",
    "مرحبا",
    "👩‍👩‍👧‍👦🏳️‍🌈",
    "e\u0301\u0302\u0303",
    "\u0301\u0302",
    "\ufeff",
    "\ufffd",
  ),
  fc.constantFrom("\x1b[31mred\x1b[0m", "10%\r20%\r100%", "a\b\bb", "\x1b]0;title\x07", "\0\0", "\t"),
  fc.constantFrom(
    "[exit code 0]",
    "[... lines 3-9 omitted (7 lines, 70 bytes, 70 characters) ...]",
    "[First 3 lines of 9]",
    "[cut]",
  ),
  fc.integer({ min: 1, max: 400 }).map((length) => "x".repeat(length)),
  fc.integer({ min: 1, max: 999 }).map((value) => `step ${value} of 999: ok`),
);

const text = fc
  .tuple(
    fc.array(
      fc.tuple(fragment, fc.constantFrom("\n", "\n", "\n", "\r\n", "", "\n\n\n"), fc.integer({ min: 1, max: 12 })),
      { maxLength: 40 },
    ),
    fc.boolean(),
  )
  .map(([parts, endsOpen]) => {
    const value = parts.map(([line, end, times]) => (line + end).repeat(times > 9 ? times : 1)).join("");
    return endsOpen ? value.replace(/\n$/, "") : value;
  });

/** Generates outputs in bytes: text of every kind, text with invalid bytes in it, and sometimes noise. */
export const arbitraryOutput: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 8, arbitrary: text.map((value) => encoder.encode(value)) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(text, fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0x80, max: 0xff })), { maxLength: 5 }))
      .map(([value, bad]) => {
        const bytes = encoder.encode(value);
        for (const [at, byte] of bad) if (bytes.length > 0) bytes[at % bytes.length] = byte;
        return bytes;
      }),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 600 }) },
);

/** Generates what folding is for: lines that come again, lines that differ in their numbers, a last one without its break. */
export const arbitraryRepeats: fc.Arbitrary<Uint8Array> = fc
  .tuple(
    fc.array(
      fc.tuple(
        fc.oneof(
          fc.lorem({ maxCount: 6 }),
          fc.constantFrom("waiting for the lock", "ERROR: connection refused", "  at run (main.js:3:7)", ""),
          fc.integer({ min: 1, max: 9999 }).map((value) => `answered in ${value} ms`),
        ),
        fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 30 })),
      ),
      { minLength: 2, maxLength: 40 },
    ),
    fc.constantFrom("\n", ""),
  )
  .map(([parts, end]) => encoder.encode(parts.flatMap(([line, times]) => Array(times).fill(line)).join("\n") + end));

const limit = fc.oneof(fc.nat(12), fc.nat(200), fc.nat(3000));

/** Generates limits in any combination, down to 0. */
export const arbitraryLimits: fc.Arbitrary<Limits> = fc.record(
  { maxBytes: limit, maxChars: limit, maxLines: fc.oneof(fc.nat(5), fc.nat(60)), maxTokens: limit },
  { requiredKeys: [] },
);

/** Cuts bytes into chunks at the given places. */
export function chunked(bytes: Uint8Array, cuts: number[]): Uint8Array[] {
  const borders = [...new Set(cuts.map((cut) => (bytes.length === 0 ? 0 : cut % bytes.length)))].sort((a, b) => a - b);
  return [0, ...borders].map((from, index) => bytes.slice(from, borders[index] ?? bytes.length));
}

/** Cuts bytes into chunks of one size. */
export function chunksOf(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

/** The byte that surrounds each lent chunk, and that overwrites the chunk afterwards. */
const OTHER = "X".charCodeAt(0);
const MARGIN = 8;

/**
 * Lends chunks as a pipe does that reads into the same memory again and again. Each chunk is a view on larger memory,
 * by turns a Buffer and a plain array. It is overwritten when the next chunk or the end is requested.
 */
export function* lent(chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  let isBuffer = true;
  for (const chunk of chunks) {
    const memory = new Uint8Array(chunk.length + 2 * MARGIN).fill(OTHER);
    memory.set(chunk, MARGIN);
    yield isBuffer ? Buffer.from(memory.buffer, MARGIN, chunk.length) : memory.subarray(MARGIN, MARGIN + chunk.length);
    memory.fill(OTHER);
    isBuffer = !isBuffer;
  }
}

/** Lends the same chunks as a stream. */
export async function* lentStream(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* lent(chunks);
}
