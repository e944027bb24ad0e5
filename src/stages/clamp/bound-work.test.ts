import { describe, expect, it } from "vitest";
import { boundValue } from "./bound-value.ts";

// Work is counted, not timed: what is read of a value must not grow with the value.

const MAX_BYTES = 8192;
const MOST_READS = 64 * MAX_BYTES + 65_536;

/** Counts every way in which a value can be read. */
function counting<Target extends object>(target: Target, traps: ProxyHandler<Target> = {}) {
  const count = { reads: 0 };
  const handler: ProxyHandler<Target> = {};
  for (const trap of ["get", "has", "ownKeys", "getOwnPropertyDescriptor", "getPrototypeOf"] as const) {
    const act = (traps[trap] ?? Reflect[trap]) as (...given: unknown[]) => unknown;
    Object.assign(handler, {
      [trap]: (...given: unknown[]) => {
        count.reads++;
        return act(...given);
      },
    });
  }
  return { count, value: new Proxy(target, handler) };
}

describe("the work of boundValue", () => {
  it("reads a bounded part of a list of a billion elements", () => {
    const { value, count } = counting([] as unknown[], {
      get: (target, key) => (key === "length" ? 1e9 : typeof key === "string" ? key : Reflect.get(target, key)),
    });
    const bounded = boundValue(value, MAX_BYTES);
    expect(JSON.stringify(bounded.value)).toMatch(/"999999999"\]$/);
    expect(count.reads).toBeLessThan(4 * MAX_BYTES);
  });

  it("reads a bounded part of an object with very many keys", () => {
    const names = Array.from({ length: 300_000 }, (_, index) => `k${index}`);
    const { value, count } = counting({} as object, {
      ownKeys: () => names,
      getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }),
      get: () => 1,
    });
    const { value: shown } = boundValue(value, MAX_BYTES);
    expect(shown).toHaveProperty(["[omitted]"], expect.stringMatching(/^29\d,\d{3} more keys$/));
    expect(count.reads).toBeLessThan(8 * MAX_BYTES);
  });

  it("ends in a maze where every field opens another object", () => {
    let reads = 0;
    const maze = (): object =>
      new Proxy(
        {},
        {
          ownKeys: () => ["left", "right", "dead"],
          getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }),
          get: (_, key) => {
            reads++;
            return key === "dead" ? undefined : maze();
          },
        },
      );
    const { bytes } = boundValue(maze(), MAX_BYTES);
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
    expect(reads).toBeLessThan(2 * MOST_READS);
  });

  it("reads a bounded number of fields that JSON drops", () => {
    let reads = 0;
    const hole = () => {
      reads++;
      return undefined;
    };
    const dropped: object = {};
    for (let index = 0; index < 100_000; index++)
      Object.defineProperty(dropped, `k${index}`, { get: hole, enumerable: true });
    const { bytes } = boundValue(
      Array.from({ length: 5000 }, () => dropped),
      1024,
    );
    expect(bytes).toBeLessThanOrEqual(1024);
    expect(reads).toBeLessThan(64 * 1024 + 65_536);
  });

  it("does not unfold what refers to itself many times over", () => {
    let given: unknown = "bottom";
    for (let level = 0; level < 60; level++) given = { a: given, b: given, c: given };
    expect(boundValue(given, MAX_BYTES).bytes).toBeLessThanOrEqual(MAX_BYTES);
  });

  it("takes very large parts as it takes large ones", () => {
    const text = "x".repeat(50_000_000);
    const given = {
      text,
      list: new Array(10_000_000).fill(0),
      sparse: new Array(4_000_000_000),
      set: new Set(Array.from({ length: 100_000 }, (_, index) => index)),
      map: new Map(Array.from({ length: 100_000 }, (_, index) => [index, index])),
      bytes: new Uint8Array(64 * 1024 * 1024),
      [text]: text,
      last: true,
    };
    const { value: shown, bytes } = boundValue(given, MAX_BYTES);
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
    expect(bytes).toBeGreaterThan(MAX_BYTES * 0.9);
    expect(shown).toMatchObject({ last: true, bytes: { type: "bytes", bytes: 64 * 1024 * 1024 } });
    expect(Object.keys(shown as object)).toHaveLength(9);
  });
});
