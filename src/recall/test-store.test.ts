import fc from "fast-check";
import { expect, it } from "vitest";
import type { Artifact, Store } from "../contract/store.ts";

/** The id of the artifact in `storeOf`. */
export const ID = "mzxw6ytboi2a";

/** Returns the offsets at which lines begin. */
export function lineStarts(bytes: Uint8Array): number[] {
  const starts = bytes.length > 0 ? [0] : [];
  bytes.forEach((byte, at) => {
    if (byte === 10 && at + 1 < bytes.length) starts.push(at + 1);
  });
  return starts;
}

/** Makes a store with one artifact in scope "local". */
export function storeOf(content: string | Uint8Array, file: string | null = null): Store {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const starts = lineStarts(bytes);
  const has = (id: string, scope: string) => id === ID && scope === "local";
  const refuse = () => Promise.reject(new Error("not asked"));
  return {
    name: "one",
    find: async (id, scope) =>
      has(id, scope) ? ({ id, bytes: bytes.length, lines: starts.length } as Artifact) : null,
    read: async (id, scope, { from, to }) => (has(id, scope) ? bytes.slice(from, to) : null),
    locate: async (id, scope, [from, to]) =>
      has(id, scope) ? { from: starts[from - 1] ?? bytes.length, to: starts[to] ?? bytes.length } : null,
    file: async (id, scope) => (has(id, scope) ? file : null),
    begin: refuse,
    list: refuse,
    remove: refuse,
    close: async () => {},
  };
}

/** Generates texts with every kind of line break and character width, and bytes that are not text. */
export const artifactText: fc.Arbitrary<Uint8Array> = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom("\n", "\r\n", "a", "ab c", "\r", "é", "中", "😀", "\n\n", "\ufeff") },
      { weight: 1, arbitrary: fc.constantFrom("long ".repeat(40), "中文".repeat(50), "😀".repeat(30)) },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 4 }) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(Uint8Array.of(0xe2, 0x82), Uint8Array.of(0x80), Uint8Array.of(0xf0, 0x9f, 0x98)),
      },
    ),
    { maxLength: 40 },
  )
  .map((parts) => Buffer.concat(parts.map((part) => Buffer.from(part as string))));

it("has lines as the design counts them", () => {
  expect(lineStarts(new TextEncoder().encode("a\n\r\nb"))).toEqual([0, 2, 4]);
  expect(lineStarts(new TextEncoder().encode("a\n"))).toEqual([0]);
  expect(lineStarts(new Uint8Array(0))).toEqual([]);
});
