import fc from "fast-check";
import { expect, it } from "vitest";
import { CharCounter } from "./line.ts";

it("counts what TextDecoder gives, for any bytes cut anywhere", () => {
  const byte = fc.oneof(
    fc.constantFrom(0xc2, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0x41),
    fc.integer({ min: 0, max: 255 }),
  );
  const counter = new CharCounter();
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 40 }), fc.integer({ min: 0, max: 40 }), (values, cut) => {
      const bytes = Uint8Array.from(values);
      const middle = Math.min(cut, bytes.length);
      counter.add(bytes, 0, middle, false);
      counter.add(bytes, middle, bytes.length, false);
      expect(counter.end()).toBe(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).length);
    }),
    { numRuns: 2000 },
  );
});
