import * as zlib from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lent } from "../../testing/arbitrary.ts";
import { locateLines, plainCrc32, readLineIndex, startLineIndex } from "./line-index.ts";

const bytesWithBreaks = fc
  .uint8Array({ maxLength: 3000 })
  .map((bytes) => bytes.map((byte) => (byte % 5 === 0 ? 10 : byte)));

function indexOf(bytes: Uint8Array) {
  const builder = startLineIndex();
  builder.add(bytes);
  return builder.end();
}

describe("counting", () => {
  it("finds every break and line, however the bytes are chunked", () => {
    fc.assert(
      fc.property(bytesWithBreaks, fc.nat(3000), (bytes, at) => {
        const builder = startLineIndex();
        for (const chunk of lent([bytes.subarray(0, at), bytes.subarray(at)])) builder.add(chunk);
        const breaks = bytes.filter((byte) => byte === 10).length;
        const lines = breaks + (bytes.length === 0 || bytes.at(-1) === 10 ? 0 : 1);
        expect(builder.end()).toMatchObject({ bytes: bytes.length, breaks, lines });
      }),
    );
  });
});

describe("finding lines", () => {
  it.each([10, 3000, 65_536, 200_000])(
    "that go on for %d bytes, wherever the blocks of the index end",
    async (length) => {
      const ends: number[] = [0];
      const lines = Array.from({ length: 9 }, (_none, at) => `${"x".repeat(at % 2 === 0 ? length : at)}\n`);
      for (const line of lines) ends.push((ends.at(-1) as number) + line.length);
      const bytes = Buffer.from(lines.join(""));
      const opened = {
        index: indexOf(bytes),
        bytes: { read: async (from: number, to: number) => bytes.subarray(from, to) },
      };
      for (let line = 1; line <= lines.length; line++)
        expect(await locateLines(opened, [line, line])).toEqual({ from: ends[line - 1], to: ends[line] });
    },
  );
});

describe("a stored line index", () => {
  const bytes = new Uint8Array(200_000).map((_zero, at) => (at % 71 === 0 ? 10 : 65));
  const index = indexOf(bytes);

  it("gives back what was written", () => {
    expect(readLineIndex(index.data, index)).toEqual(index);
  });

  it("is refused when any byte of it is another, when it is short, and for another artifact", () => {
    fc.assert(
      fc.property(fc.nat(index.data.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const damaged = Uint8Array.from(index.data);
        damaged[at] = (damaged[at] ?? 0) ^ change;
        expect(readLineIndex(damaged, index)).toBeNull();
        expect(readLineIndex(index.data.subarray(0, at), index)).toBeNull();
      }),
    );
    expect(readLineIndex(index.data, { ...index, bytes: index.bytes + 1 })).toBeNull();
  });
});

describe("the checksum", () => {
  it("is that of zlib, in one piece or in several, where Node has none too", () => {
    expect(plainCrc32(Buffer.from("123456789"))).toBe(0xcbf43926);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(300), (bytes, at) => {
        const whole = plainCrc32(bytes);
        expect(plainCrc32(bytes.subarray(at), plainCrc32(bytes.subarray(0, at)))).toBe(whole);
        const { crc32 } = zlib as { crc32?: (bytes: Uint8Array) => number };
        expect(crc32?.(bytes) ?? whole).toBe(whole);
      }),
    );
  });
});
