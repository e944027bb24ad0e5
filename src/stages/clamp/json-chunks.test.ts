import fc from "fast-check";
import { expect, it } from "vitest";
import { jsonChunks } from "./json-chunks.ts";

const join = (value: unknown) => [...jsonChunks(value)].join("");

it("writes JSON values as JSON.stringify does, but for white space", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(join(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

it("never throws and always gives JSON", () => {
  fc.assert(
    fc.property(
      fc.anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withSet: true,
        withSparseArray: true,
        withTypedArray: true,
      }),
      (value) => void JSON.parse(join(value)),
    ),
  );
  const cyclic: Record<string, unknown> = { a: 1 };
  cyclic.self = cyclic;
  expect(join(cyclic)).toBe('{\n "a": 1,\n "self": "[circular]"\n}');
});

it("gives the start of an endless value without the rest", () => {
  const endless = new Proxy([], { get: (_, key) => (key === "length" ? 2 ** 40 : 7) });
  const chunks = jsonChunks(endless);
  for (let i = 0; i < 10; i++) expect(chunks.next().done).toBe(false);
});
