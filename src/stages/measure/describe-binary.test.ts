import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { describeBinary } from "./scan.ts";

const latin1 = (text: string) => Buffer.from(text, "latin1");

it("takes text in Latin-1 for text, short or long", () => {
  for (const text of ["D\xe9j\xe0 vu\n", "\xe9t\xe9", "\xa9", "\xc0 la fa\xe7ade, d\xe9sol\xe9\n".repeat(500)])
    expect(describeBinary(latin1(text))).toBeNull();
});

it("takes what has control characters, or little else than what is not UTF-8, for binary", () => {
  expect(describeBinary(latin1("\xe9\x01\xe0\x00"))).toBe("binary data");
  expect(describeBinary(latin1("\xe9".repeat(20)))).toBe("binary data");
  expect(describeBinary(randomBytes(500))).toBe("binary data");
  expect(describeBinary(gzipSync("text").subarray(2))).toBe("binary data");
  expect(describeBinary(gzipSync("text"))).toBe("gzip data");
});
