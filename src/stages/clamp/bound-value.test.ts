import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundValue } from "./bound-value.ts";

const encoder = new TextEncoder();
const jsonBytes = (value: unknown) => (value === undefined ? 0 : encoder.encode(JSON.stringify(value)).length);

const anything = fc.anything({
  maxDepth: 5,
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withNullPrototype: true,
  withObjectString: true,
  withSparseArray: true,
  withTypedArray: true,
  withUnicodeString: true,
});
const troublesome = fc.constantFrom<unknown>(
  "x".repeat(3000),
  '"\\\n\u0001'.repeat(300),
  "\ud800a\udc00".repeat(200),
  "\u{1f600}\u65e5\u00e9".repeat(200),
  Array.from({ length: 400 }, (_, index) => ({ row: index })),
  Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`key ${index}`, index])),
  { ["k".repeat(900)]: 1, ["k".repeat(901)]: 2 },
  { "\ud800": 1, "\ud801": 2, "\ufffd": 3, "\ufffd (2)": 4 },
  { "[cut]": "mine", "[omitted]": "mine too", text: "y".repeat(900) },
  JSON.parse('{"__proto__":{"polluted":true},"constructor":1}'),
  new Error("it broke", { cause: "a string" }),
  Symbol("s"),
  () => 1,
  [undefined, () => 1, Symbol("s"), Number.NaN, -0, Infinity],
);
const keyUnit = fc.constantFrom("a", "_", "1", '"', "\n", "\u65e5", "\u{1f600}", "\ud800", "\udc00");
const value = fc.oneof(
  anything,
  troublesome,
  fc.array(fc.oneof(anything, troublesome), { maxLength: 6 }),
  fc.dictionary(fc.string({ unit: keyUnit }), fc.oneof(anything, troublesome), { maxKeys: 8 }),
);
const limit = fc.oneof(fc.nat(40), fc.nat(300), fc.nat(9000));

function deepFreeze(root: unknown): unknown {
  if (typeof root === "object" && root !== null && !ArrayBuffer.isView(root) && !Object.isFrozen(root)) {
    Object.freeze(root);
    for (const key of Reflect.ownKeys(root)) deepFreeze((root as Record<PropertyKey, unknown>)[key]);
  }
  return root;
}

describe("boundValue", () => {
  it("stays within the limit, is plain JSON data, tells its bytes and gives the same twice", () => {
    fc.assert(
      fc.property(value, limit, (given, maxBytes) => {
        deepFreeze(given);
        const bounded = boundValue(given, maxBytes);
        expect(jsonBytes(bounded.value)).toBe(bounded.bytes);
        expect(bounded.bytes).toBeLessThanOrEqual(maxBytes);
        if (bounded.value !== undefined) {
          const json = JSON.stringify(bounded.value);
          expect(json.isWellFormed()).toBe(true);
          expect(json).not.toMatch(/\\ud[89a-f]/);
          expect(JSON.parse(json)).toStrictEqual(bounded.value);
        }
        expect(boundValue(given, maxBytes)).toStrictEqual(bounded);
        expect(boundValue(bounded.value, maxBytes)).toStrictEqual({ ...bounded, cut: false });
      }),
      { numRuns: 600 },
    );
  });

  it("leaves plain JSON data that fits as it is, and cuts it one byte below", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (given) => {
        const json = JSON.stringify(given);
        fc.pre(json.isWellFormed() && !/\\ud[89a-f]/.test(json));
        const bytes = jsonBytes(given);
        const plain: unknown = JSON.parse(json);
        expect(boundValue(given, bytes)).toStrictEqual({ value: plain, bytes, cut: false });
        expect(boundValue(given, bytes - 1).cut).toBe(true);
      }),
    );
  });

  it("never changes what it is given", () => {
    fc.assert(
      fc.property(fc.jsonValue(), limit, (given, maxBytes) => {
        const before = structuredClone(given);
        boundValue(given, maxBytes);
        expect(given).toStrictEqual(before);
      }),
    );
  });

  it("writes what JSON has no form for", () => {
    const given = {
      bigint: 12345678901234567890n,
      hugeInteger: 1n << 100_000n,
      gone: undefined,
      call: () => 1,
      [Symbol("s")]: 1,
      list: [undefined, () => 1, Symbol("s"), Number.NaN, Infinity, -0],
      bytes: new Uint8Array(7),
      buffer: Buffer.from("abc"),
      arrayBuffer: new ArrayBuffer(5),
      view: new DataView(new ArrayBuffer(4)),
      blob: new Blob(["four"]),
      map: new Map<unknown, unknown>([
        ["a", 1],
        [2, new Set([1, "b"])],
        [{}, 3],
        [[], 4],
      ]),
      date: new Date(0),
      noDate: new Date(Number.NaN),
      url: new URL("https://example.com/a?b"),
      error: Object.assign(new TypeError("no"), { code: "E_NO" }),
      boxed: [Object(1), Object("s"), Object(false), Object(2n)],
      lone: "a\ud800b",
      sparse: Object.assign([], { 0: 1, 2: 3 }),
      bare: Object.assign(Object.create(null), { x: 1 }),
    };
    const { value: written, cut } = boundValue(given, 8192);
    expect(cut).toBe(false);
    expect(written).toStrictEqual({
      bigint: "12345678901234567890",
      hugeInteger: "[integer of more than 4096 bits]",
      list: [null, null, null, null, null, 0],
      bytes: { type: "bytes", bytes: 7 },
      buffer: { type: "bytes", bytes: 3 },
      arrayBuffer: { type: "bytes", bytes: 5 },
      view: { type: "bytes", bytes: 4 },
      blob: { type: "bytes", bytes: 4 },
      map: { a: 1, 2: [1, "b"], "[object]": 3, "[object] (2)": 4 },
      date: "1970-01-01T00:00:00.000Z",
      noDate: null,
      url: "https://example.com/a?b",
      error: { name: "TypeError", message: "no", code: "E_NO" },
      boxed: [1, "s", false, "2"],
      lone: "a\ufffdb",
      sparse: [1, null, 3],
      bare: { x: 1 },
    });
  });

  it("gives undefined for what JSON has nothing for", () => {
    for (const given of [undefined, () => 1, Symbol("s")]) {
      expect(boundValue(given, 100)).toStrictEqual({ value: undefined, bytes: 0, cut: false });
    }
  });

  it("keeps an own __proto__ key as data", () => {
    const { value: kept } = boundValue(JSON.parse('{"__proto__":{"polluted":true},"a":1}'), 100);
    expect(JSON.stringify(kept)).toBe('{"__proto__":{"polluted":true},"a":1}');
    expect(Object.getPrototypeOf(kept)).toBe(Object.prototype);
    expect((kept as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("names circles, but not what is only met twice", () => {
    const shared = { s: 1 };
    const given: Record<string, unknown> = { first: shared, second: shared };
    given.self = given;
    given.list = [given];
    expect(boundValue(given, 1000)).toMatchObject({
      value: { first: { s: 1 }, second: { s: 1 }, self: "[circular]", list: ["[circular]"] },
      cut: false,
    });
  });

  it("keeps 64 levels and says that more were too deep", () => {
    let given: unknown = "bottom";
    for (let level = 0; level < 64; level++) given = [given];
    expect(boundValue(given, 1000)).toStrictEqual({ value: given, bytes: jsonBytes(given), cut: false });
    const { value: cutValue, cut } = boundValue([given], 1000);
    expect(cut).toBe(true);
    expect(JSON.stringify(cutValue)).toContain("[too deep]");
    let deep: unknown = {};
    for (let level = 0; level < 100_000; level++) deep = { deep };
    expect(jsonBytes(boundValue(deep, 8192).value)).toBeLessThanOrEqual(8192);
  });

  it("tells what cannot be read", () => {
    const refuses = () => {
      throw new Error("no");
    };
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const given = {
      get bad() {
        return refuses();
      },
      good: 1,
      revoked: revoked.proxy,
      noKeys: new Proxy({}, { ownKeys: refuses }),
      noGet: new Proxy({ a: 1 }, { get: refuses }),
      noDescriptor: new Proxy({ a: 1 }, { getOwnPropertyDescriptor: refuses }),
      noPrototype: new Proxy({ a: 1 }, { getPrototypeOf: refuses }),
      fakeDate: { [Symbol.toStringTag]: "Date", a: 1 },
      fakeMap: Object.assign(Object.create({ [Symbol.toStringTag]: "Map" }), { a: 1 }),
      badTag: Object.create({
        get [Symbol.toStringTag]() {
          return refuses();
        },
      }),
      toJSON: refuses,
    };
    expect(boundValue(given, 8192).value).toStrictEqual({
      bad: "[unreadable]",
      good: 1,
      revoked: "[unreadable]",
      noKeys: "[unreadable]",
      noGet: { a: "[unreadable]" },
      noDescriptor: { a: "[unreadable]" },
      noPrototype: { a: 1 },
      fakeDate: { a: 1 },
      fakeMap: { a: 1 },
      badTag: {},
    });
  });

  it("does not starve a small late field", () => {
    const given = { log: "x".repeat(1_000_000), rows: Array.from({ length: 10_000 }, (_, row) => row), exitCode: 3 };
    const { value: shown, bytes } = boundValue(given, 2048);
    const { log, rows, exitCode } = shown as typeof given;
    expect(exitCode).toBe(3);
    expect(log).toMatch(/^x+\.\.\. \[[\d,]+ characters omitted\] \.\.\.x+$/);
    expect(log.length).toBeGreaterThan(700);
    expect(rows.length).toBeGreaterThan(100);
    expect(bytes).toBeGreaterThan(1900);
    expect(shown).toHaveProperty("[cut]", "shortened to 2,048 bytes");
  });

  it("keeps the first and the last elements of a list and counts the others", () => {
    const { value: shown } = boundValue(
      Array.from({ length: 1000 }, (_, row) => row),
      200,
    );
    const elements = shown as (number | string)[];
    const note = elements.findIndex((element) => typeof element === "string");
    expect(elements.slice(0, 3)).toStrictEqual([0, 1, 2]);
    expect(elements.at(-1)).toBe(999);
    expect(elements[note]).toBe(`... [${1001 - elements.length} elements omitted]`);
  });

  it("counts the characters it leaves out of a text", () => {
    for (const maxBytes of [60, 400]) {
      const text = boundValue("0123456789".repeat(1000), maxBytes).value as string;
      const note = /\.\.\. \[([\d,]+) characters omitted\](?: \.\.\.)?/.exec(text) as RegExpExecArray;
      expect(Number(note[1]?.replace(",", ""))).toBe(10_000 - (text.length - note[0].length));
    }
  });

  it("keeps every key while keys have room, then counts the others", () => {
    const given = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`key${index}`, "v".repeat(500)]));
    expect(Object.keys(boundValue(given, 2048).value as object)).toStrictEqual([...Object.keys(given), "[cut]"]);
    const few = boundValue(given, 300).value as Record<string, string>;
    const shown = Object.keys(few).filter((key) => key.startsWith("key"));
    expect(few["[omitted]"]).toBe(`${50 - shown.length} more keys`);
  });

  it("puts its notes beside keys of the same name", () => {
    const given = { "[cut]": "mine", "[omitted]": "mine", text: "t".repeat(5000) };
    expect(boundValue(given, 300).value).toMatchObject({
      "[cut]": "mine",
      "[omitted]": "mine",
      "[cut] (2)": "shortened to 300 bytes",
    });
  });

  it("becomes a note, dots, an empty text and then nothing as the limit shrinks", () => {
    const given = { a: "text", b: 2 };
    const shrunk = [11, 10, 5, 4, 2, 1, 0].map((maxBytes) => boundValue(given, maxBytes).value);
    expect(shrunk).toStrictEqual(["[2 keys]", "[2 keys]", "...", "", "", undefined, undefined]);
    for (const maxBytes of [Number.NaN, -1, "many" as unknown as number]) {
      expect(boundValue(given, maxBytes)).toStrictEqual({ value: undefined, bytes: 0, cut: true });
    }
    expect(boundValue(given, Infinity)).toStrictEqual({ value: given, bytes: 18, cut: false });
  });
});
