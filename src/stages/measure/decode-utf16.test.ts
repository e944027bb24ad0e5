import { readdirSync, readFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { seededRandom, tokenSamples } from "../../../test/token-samples.ts";
import { startUtf16, utf16Of } from "./decode-utf16.ts";

function decoded(bytes: Uint8Array, cuts: readonly number[]): string {
  const decoder = startUtf16();
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const cut of [...cuts.map((each) => each % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]) {
    parts.push(decoder.add(bytes.subarray(from, cut)).slice());
    from = cut;
  }
  parts.push(decoder.end());
  return Buffer.concat(parts).toString("latin1");
}

function utf16(text: string, isBigEndian: boolean): Buffer {
  const bytes = Buffer.from(`\ufeff${text}`, "utf16le");
  return isBigEndian ? bytes.swap16() : bytes;
}

test("UTF-16 of either order becomes UTF-8 without its mark, however it is cut", () => {
  const anyText = fc.string({ unit: "binary" });
  fc.assert(
    fc.property(anyText, fc.boolean(), fc.array(fc.nat(), { maxLength: 6 }), (text, isBigEndian, cuts) => {
      fc.pre(!text.startsWith("\0"));
      expect(decoded(utf16(text, isBigEndian), cuts)).toBe(Buffer.from(text.toWellFormed()).toString("latin1"));
    }),
  );
});

test("other bytes pass as they are, however they are cut", () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.array(fc.nat(), { maxLength: 6 }), (bytes, cuts) => {
      fc.pre(utf16Of(bytes) === null);
      expect(decoded(bytes, cuts)).toBe(Buffer.from(bytes).toString("latin1"));
    }),
  );
});

test("UTF-16 without a mark is known by plain text, however it is cut", () => {
  const text = "Windows Subsystem for Linux\r\nÜbung 世界\r\n";
  const bytes = Buffer.from(text, "utf16le");
  for (const ordered of [bytes, Buffer.from(bytes).swap16()])
    for (let cut = 0; cut <= bytes.length; cut++)
      expect(decoded(ordered, [cut])).toBe(Buffer.from(text).toString("latin1"));
  for (const other of [
    "a",
    "seven..",
    "\0a\0b\0c",
    "\0a\0b\0cc\0d\0e\0f\0g\0h",
    "\0".repeat(40),
    "a\0b\0\0c\0d\0e\0f\0g\0h",
  ])
    expect(utf16Of(Buffer.from(other, "latin1"))).toBeNull();
  expect(utf16Of(Buffer.from("short", "utf16le"))).toBeNull();
});

test("UTF-16 without a mark is known by letters of other scripts, however it is cut", () => {
  const kinds = "russian greek hebrew arabic hindi chinese japanese korean vietnamese".split(" ");
  const samples = tokenSamples(3, 600);
  for (const kind of kinds) {
    const text = samples[kind] ?? "";
    const bytes = Buffer.from(text, "utf16le");
    for (const ordered of [bytes, Buffer.from(bytes).swap16()]) {
      for (const cut of [0, 1, 15, 16, 17, 31, 127, 128, 129])
        expect(decoded(ordered, [cut]), kind).toBe(Buffer.from(text).toString("latin1"));
    }
  }
  expect(utf16Of(Buffer.from("构建在九分钟后失败，因为有两个测试", "utf16le"))).toBe("utf-16le");
});

test("binary is not taken for UTF-16 without a mark", () => {
  const random = seededRandom(11);
  const isMarked = ([first, second]: Uint8Array) => (first ?? 0) + (second ?? 0) === 0xff + 0xfe;
  const shapes: Record<string, (at: number) => number> = {
    "any bytes": () => random() * 256,
    "grey pixels": () => 0x4e + random() * 0x51,
    "measured values": (at) => (at % 2 === 0 ? random() * 256 : 4 + random() * 9),
    "one value again and again": (at) => (at % 2 === 0 ? 0xba : 0x4e),
    "small numbers": (at) => (at % 4 === 0 ? random() * 256 : 0),
    "quiet sound": (at) => (at % 2 === 0 ? random() * 256 : random() < 0.5 ? 0 : 255),
  };
  for (const [name, byte] of Object.entries(shapes))
    for (let index = 0; index < 3000; index++) {
      const bytes = Uint8Array.from({ length: 128 }, (_, at) => byte(at));
      if (!isMarked(bytes)) expect(utf16Of(bytes), name).toBeNull();
    }
  const text = "a row with words in it, and another one\n".repeat(100);
  for (const binary of [
    readFileSync(process.execPath).subarray(0, 4096),
    gzipSync(text),
    brotliCompressSync(text),
    Buffer.from("89504e470d0a1a0a0000000d49484452000004000000030008060000009a2d5b", "hex"),
    ...readdirSync("node_modules/@vscode/tree-sitter-wasm/wasm", { withFileTypes: true })
      .filter(({ name }) => name.endsWith(".wasm"))
      .map(({ parentPath, name }) => readFileSync(`${parentPath}/${name}`).subarray(0, 8192)),
  ])
    expect(utf16Of(binary)).toBeNull();
});

test("plain text behind UTF-16 stays as it is, however it is cut", () => {
  const rest =
    "make: *** [all] Error 2, and so on with words that a compiler writes to a terminal, line after line\n".repeat(3);
  const bytes = Buffer.concat([Buffer.from("  NAME      STATE\r\n", "utf16le"), Buffer.from(rest)]);
  for (let cut = 0; cut <= bytes.length; cut++)
    expect(decoded(bytes, [cut])).toBe(Buffer.from(`  NAME      STATE\r\n${rest}`).toString("latin1"));
});

test("an odd byte at the end is told, and UTF-32 is no UTF-16", () => {
  expect(decoded(Buffer.from([0xff, 0xfe, 0x61, 0, 0x62]), [])).toBe(Buffer.from("a\ufffd").toString("latin1"));
  expect(utf16Of(Buffer.from([0xff, 0xfe, 0, 0]))).toBeNull();
  expect(utf16Of(Buffer.from([0xff, 0xfe]))).toBe("utf-16le");
});

test("letters of other scripts are waited for up to 128 bytes, and no longer", () => {
  const text = Buffer.from("系统找不到指定的文件。请检查名称，然后再试一次。".repeat(4), "utf16le");
  const decoder = startUtf16();
  expect(decoder.add(text.subarray(0, 127))).toHaveLength(0);
  expect(decoder.add(text.subarray(127, 128))).not.toHaveLength(0);
  expect(decoder.isUtf16).toBe(true);
});

test("what follows the first 128 bytes does not decide whether they are text", () => {
  const text = Buffer.from("系统找不到指定的文件。请检查名称，然后再试一次。".repeat(4), "utf16le").subarray(0, 128);
  const strange = Buffer.from("\ue000\uffff".repeat(40), "utf16le");
  expect(utf16Of(Buffer.concat([text, strange]))).toBe("utf-16le");
  expect(utf16Of(Buffer.concat([text.subarray(0, 126), strange]))).toBeNull();
});
