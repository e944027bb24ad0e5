import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { isBlank, type Line, parseLine, readLines } from "./read-lines.ts";

const folder = mkdtempSync(join(tmpdir(), "spillway-lines-"));
afterAll(() => rmSync(folder, { recursive: true }));

function linesOf(bytes: Uint8Array, maxLineBytes?: number): Line[] {
  const path = join(folder, "file");
  writeFileSync(path, bytes);
  const descriptor = openSync(path, "r");
  try {
    // A line's bytes are only valid until the next one.
    return Array.from(readLines(descriptor, 0, bytes.length, maxLineBytes), (line) => ({
      ...line,
      bytes: line.bytes && Uint8Array.from(line.bytes),
    }));
  } finally {
    closeSync(descriptor);
  }
}

describe("readLines", () => {
  it("gives every byte once, lines longer than what is read at a time included", () => {
    const sizes = [0, 10, 1024 * 1024 - 12, 0, 2_500_000, 1024 * 1024, 1, 700_000];
    for (const end of ["", "\n"]) {
      const texts = sizes.map((size, index) => String(index % 10).repeat(size));
      const lines = linesOf(Buffer.from(texts.join("\n") + end));
      expect(lines.map(({ bytes }) => bytes?.length)).toEqual(sizes);
      expect(lines.map(({ bytes }) => bytes?.[0])).toEqual(texts.map((text) => text.charCodeAt(0) || undefined));
      expect(lines.map(({ from }) => from)).toEqual([0, ...lines.slice(0, -1).map(({ to }) => to)]);
      expect(lines.at(-1)?.hasBreak).toBe(end !== "");
    }
  });

  it("splits as text does", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", "\n", "\r", "é") }), (text) => {
        const lines = linesOf(Buffer.from(text));
        const joined = lines.map(({ bytes, hasBreak }) => Buffer.from(bytes ?? []).toString() + (hasBreak ? "\n" : ""));
        expect(joined.join("")).toBe(text);
        expect(joined.every((line, index) => line.endsWith("\n") || index === joined.length - 1)).toBe(true);
      }),
    );
  });

  it("does not hold a line that is too long, and goes on behind it", () => {
    const lines = linesOf(Buffer.from(`ab\n${"x".repeat(3_000_000)}\ncd\n${"y".repeat(2_000_000)}`), 100);
    expect(lines.map(({ bytes, hasBreak, to, from }) => [bytes?.length ?? null, hasBreak, to - from])).toEqual([
      [2, true, 3],
      [null, true, 3_000_001],
      [2, true, 3],
      [null, false, 2_000_000],
    ]);
    expect(lines.map(parseLine)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it("takes only JSON in valid UTF-8, since anything else would not be written back as it was", () => {
    const [valid, invalid, blank] = linesOf(
      Buffer.concat([Buffer.from('{"a":"é"}\n"'), Buffer.of(0xff), Buffer.from('"\n \t\r')]),
    );
    expect(parseLine(valid as Line)).toEqual({ a: "é" });
    expect(parseLine(invalid as Line)).toBe(undefined);
    expect([valid, invalid, blank].map((line) => isBlank(line as Line))).toEqual([false, false, true]);
  });
});
