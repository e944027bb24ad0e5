import { readFileSync } from "node:fs";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { compileWat } from "../../../scripts/compile-wat.mjs";
import { newScan, scanBytes, scannedChars, scannedLines, scanText, strangeBytes, useNativeScan } from "./scan.ts";

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

  it("counts strange bytes as a second implementation does", () => {
    useNativeScan(wanted);
    fc.assert(
      fc.property(bytes, (input) => {
        const controls = input.filter((byte) => byte < 32 && (byte < 7 || (byte > 13 && byte !== 27))).length;
        // A sample may end inside a character. That is not strange.
        const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(input, { stream: true });
        const replaced = text.split("\ufffd").length - 1;
        const genuine = new TextDecoder("latin1").decode(input).split("\xef\xbf\xbd").length - 1;
        expect(strangeBytes(input)).toBe(controls + replaced - genuine);
      }),
      { numRuns: 1000 },
    );
  });

  it("counts a text as its bytes", () => {
    useNativeScan(wanted);
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        const [ofText, ofBytes] = [newScan(), newScan()];
        expect(scanText(ofText, text)).toBe(wanted ? strangeBytes(new TextEncoder().encode(text)) : null);
        scanBytes(ofBytes, new TextEncoder().encode(text));
        if (wanted) expect(ofText).toEqual(ofBytes);
      }),
    );
  });

  it("counts inputs larger than the native memory", () => {
    useNativeScan(wanted);
    const scan = newScan();
    scanBytes(scan, new TextEncoder().encode("0123456789é\n".repeat(50_000)));
    expect([scan.breaks, scannedChars(scan)]).toEqual([50_000, 600_000]);
  });
});

it("scan.ts has scan.wat compiled", async () => {
  expect(readFileSync(new URL("./scan.ts", import.meta.url), "utf8")).toContain(
    `"${await compileWat("measure/scan")}"`,
  );
});
