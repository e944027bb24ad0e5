import { readFileSync } from "node:fs";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { compileScan } from "../../../scripts/compile-scan.mjs";
import { newScan, scanBytes, scannedChars, scannedLines, useNativeScan } from "./scan.ts";

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.string({ unit: "binary", maxLength: 200 }).map((text) => new TextEncoder().encode(text)),
  fc
    .array(
      fc.constantFrom(
        0x0a,
        0x0d,
        0x41,
        0x80,
        0x8f,
        0x90,
        0x9f,
        0xa0,
        0xbf,
        0xc1,
        0xc2,
        0xe0,
        0xe2,
        0xed,
        0xf0,
        0xf1,
        0xf4,
        0xf5,
      ),
      {
        maxLength: 200,
      },
    )
    .map((list) => Uint8Array.from(list)),
);

afterEach(() => void useNativeScan(true));

describe.each([true, false])("scan, native %s", (wanted) => {
  it("counts what the decoder gives, however the bytes are chunked", () => {
    expect(useNativeScan(wanted)).toBe(wanted);
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(200)), (input, cuts) => {
        const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(input);
        const scan = newScan();
        const borders = [0, ...cuts.map((cut) => Math.min(cut, input.length)).sort((a, b) => a - b), input.length];
        for (let i = 1; i < borders.length; i++) scanBytes(scan, input.subarray(borders[i - 1], borders[i]));
        expect(scannedChars(scan)).toBe(text.length);
        expect(scan.bytes).toBe(input.length);
        expect(scannedLines(scan)).toBe(text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0));
      }),
      { numRuns: 1000 },
    );
  });

  it("counts inputs larger than the native memory", () => {
    useNativeScan(wanted);
    const scan = newScan();
    scanBytes(scan, new TextEncoder().encode("0123456789é\n".repeat(50_000)));
    expect([scan.breaks, scannedChars(scan)]).toEqual([50_000, 600_000]);
  });
});

it("scan-binary.ts is scan.wat compiled", async () => {
  expect(readFileSync(new URL("./scan-binary.ts", import.meta.url), "utf8")).toBe(await compileScan());
});
