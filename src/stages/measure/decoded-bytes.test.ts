import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodedBytes } from "./media-bytes.ts";

const bytes = fc.uint8Array({ maxLength: 200 });

/** Breaks base64 into lines, as mail and PEM files do. */
const wrapped = (text: string, every: number) => text.replace(new RegExp(`.{${every}}`, "g"), "$&\r\n");

describe("decodedBytes", () => {
  it("tells the true size for either alphabet, with or without padding, line breaks and a data: URL around it", () => {
    fc.assert(
      fc.property(bytes, fc.integer({ min: 1, max: 80 }), (given, every) => {
        const base64 = Buffer.from(given).toString("base64");
        const forms = [
          base64,
          base64.replace(/=+$/, ""),
          Buffer.from(given).toString("base64url"),
          wrapped(base64, every),
          ` ${base64}\n`,
          `data:image/png;base64,${base64}`,
          `DATA:image/svg+xml;charset=utf-8;Base64,${wrapped(base64, every)}`,
          `data:;base64,${encodeURIComponent(base64)}`,
        ];
        for (const form of forms) expect(decodedBytes(form)).toBe(given.length);
      }),
    );
  });

  it("tells the true size of a data: URL that is not base64", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "%", "=", ",", " ", "\u00e9", "\u65e5", "\u{1f600}") }),
        (text) => {
          const size = Buffer.byteLength(text);
          expect(decodedBytes(`data:text/plain,${encodeURIComponent(text)}`)).toBe(size);
          if (!text.includes("%")) expect(decodedBytes(`data:text/plain,${text}`)).toBe(size);
        },
      ),
    );
  });

  it("is 0 for nothing, and for a data: URL without data", () => {
    expect(["", "=", "data:image/png;base64,", "data:image/png"].map(decodedBytes)).toStrictEqual([0, 0, 0, 0]);
  });
});
