import fc from "fast-check";
import { expect, test } from "vitest";
import { GrowingBytes, LastBytes } from "./held-bytes.ts";

const pieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 });

test("gathered bytes are all that came, without those that were dropped or cleared", () => {
  fc.assert(
    fc.property(pieces, fc.nat(100), pieces, (first, dropped, second) => {
      const gathered = new GrowingBytes();
      for (const piece of first) gathered.add(piece);
      gathered.drop(Math.min(dropped, gathered.length));
      for (const piece of second) gathered.add(piece);
      const all = [...Buffer.concat(first).subarray(dropped), ...Buffer.concat(second)];
      expect([...gathered.bytes]).toEqual(all);
      expect(gathered.length).toBe(all.length);
      gathered.clear();
      gathered.add(Uint8Array.of(1, 2, 3, 4), 1, 3);
      expect([...gathered.bytes]).toEqual([2, 3]);
    }),
  );
});

test("the last bytes are those at the end, however they came", () => {
  fc.assert(
    fc.property(fc.nat(60), pieces, (most, all) => {
      const last = new LastBytes(most);
      for (let round = 0; round < 2; round++) {
        for (const piece of all) last.add(piece);
        const joined = Buffer.concat(all);
        const at = Math.max(0, joined.length - most);
        expect([...last.bytes]).toEqual([...joined.subarray(at)]);
        expect(last.at).toBe(at);
        last.clear();
      }
    }),
  );
});
