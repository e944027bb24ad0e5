import { expect, it } from "vitest";
import { anthropicTokens, decoded, geminiTokens, imageSize, mostTokens, openaiTokens, readMedium } from "./media.ts";

const png = (width: number, height: number) => {
  const head = Buffer.alloc(64);
  head.write("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1");
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return head;
};
const gif = Buffer.from(`GIF89a\x40\x01\xc8\x00${"\0".repeat(40)}`, "latin1");
const jpeg = (exif: number) =>
  Buffer.concat([
    Buffer.from([0xff, 0xd8, 0xff, 0xe1, exif >> 8, exif & 255]),
    Buffer.alloc(exif - 2),
    Buffer.from([0xff, 0xc4, 0, 4, 1, 2, 0xff, 0xc2, 0, 17, 8, 0x04, 0x38, 0x07, 0x80, 3]),
    Buffer.alloc(20),
  ]);
const webp = (kind: string, rest: number[]) =>
  Buffer.concat([Buffer.from(`RIFF\0\0\0\0WEBP${kind}`, "latin1"), Buffer.from(rest), Buffer.alloc(40)]);

it.each([
  ["png", png(1280, 800), { width: 1280, height: 800 }],
  ["gif", gif, { width: 320, height: 200 }],
  ["jpeg", jpeg(100), { width: 1920, height: 1080 }],
  ["jpeg behind much of a camera's", jpeg(60_000), { width: 1920, height: 1080 }],
  ["webp", webp("VP8 ", [0, 0, 0, 0, 0, 0, 0, 0x9d, 0x01, 0x2a, 0x00, 0x05, 0x20, 0x03]), { width: 1280, height: 800 }],
  ["webp, extended", webp("VP8X", [10, 0, 0, 0, 0, 0, 0, 0, 0xff, 4, 0, 0x1f, 3, 0]), { width: 1280, height: 800 }],
  ["webp, lossless", webp("VP8L", [9, 0, 0, 0, 0x2f, 0xff, 0xc4, 0xc7, 0]), { width: 1280, height: 800 }],
  ["nothing known", Buffer.from("%PDF-1.7 ".repeat(20)), null],
  ["a broken png", png(0, 0), null],
])("size of an image: %s", (_name, bytes, size) => {
  expect(imageSize(bytes)).toEqual(size);
  expect(imageSize(new Uint8Array(bytes))).toEqual(size);
  expect(imageSize(bytes.toString("base64"))).toEqual(size);
  expect(imageSize(`data:image/png;base64,${bytes.toString("base64")}`)).toEqual(size);
});

it.each([
  [{ width: 1280, height: 800 }, 46 * 29, 1200, 192],
  [{ width: 200, height: 200 }, 64, 59, 59],
  [{ width: 1920, height: 1080 }, 69 * 39, 2448, 173],
  [{ width: 4000, height: 3000 }, 4784, 12_000, 231],
])("tokens of %j by each provider's rule", (size, anthropic, openai, low) => {
  const counts = [anthropicTokens, openaiTokens, geminiTokens].map((rule) => rule(size, undefined));
  expect(counts).toEqual([anthropic, openai, 1120]);
  expect(mostTokens(size, undefined)).toBe(Math.max(...counts));
  expect(openaiTokens(size, "high")).toBe(Math.min(openai, 3000));
  expect(openaiTokens(size, "low")).toBe(low);
});

it("finds the data in what holds it, and counts what it cannot measure as a common picture", () => {
  const base64 = png(1280, 800).toString("base64");
  const wide = readMedium({ url: `data:image/png;base64,${base64}`, detail: "low" }, openaiTokens);
  expect([wide.tokens, wide.data]).toEqual([192, `data:image/png;base64,${base64}`]);
  expect(readMedium({ type: "base64", data: base64 }, anthropicTokens).tokens).toBe(46 * 29);
  expect(readMedium("https://example.com/a.png", openaiTokens).tokens).toBe(1600);
  expect(readMedium({ file_id: "file_1" }, openaiTokens)).toMatchObject({ tokens: 1600, data: { file_id: "file_1" } });
});

it("decodes base64 of either alphabet, and nothing else", () => {
  expect([...(decoded("-_8=") ?? [])]).toEqual([0xfb, 0xff]);
  expect(decoded("data:image/png;base64,AAEC")).toEqual(Uint8Array.of(0, 1, 2));
  expect([decoded("https://example.com/a.png"), decoded("data:text/plain,x"), decoded("no base64!")]).toEqual([
    null,
    null,
    null,
  ]);
});
