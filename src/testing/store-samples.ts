import assert from "node:assert/strict";
import fc from "fast-check";
import type { Artifact, ArtifactAbout, Store } from "../contract/store.ts";
import { arbitraryOutput, lent } from "./arbitrary.ts";

// The samples and comparisons of testStore.

/** The facts of an artifact for tests in which they do not matter. */
export const ABOUT: ArtifactAbout = {
  scope: "local",
  session: "s1",
  tool: "run_command",
  call: "c1",
  command: "npm test",
  folder: "/home/me/project",
};

/** Ids that no store gave: other forms, other paths, other queries. */
export const HOSTILE_IDS = [
  "",
  "aaaaaaaaaaaa",
  "aaaaaa",
  "AAAAAAAAAAAA",
  "aaaaaaaaaaaaa",
  "aaaaaaaaaaa%",
  "____________",
  "../../secret",
  "/etc/passwd",
  "..\\..\\secret",
  "aaaaaaaaaaa\0",
  "aaaaaaaaaaaa\n",
  "' or 1=1 --",
  "%2e%2e%2f",
  "\ud800",
  "a".repeat(100_000),
];

/** A pattern, and the size to which it is repeated. It is short to print, whatever the size. */
export interface Sample {
  pattern: Uint8Array;
  bytes: number | null;
}

/**
 * Generates samples. Most are like the outputs of tools. Some are over the sizes at which a store keeps artifacts in
 * another way.
 */
export const sample: fc.Arbitrary<Sample> = fc.record({
  pattern: fc.oneof(
    { weight: 5, arbitrary: arbitraryOutput },
    { weight: 1, arbitrary: fc.constantFrom("", "\n", "\r\n", "x", "\n\n\n", "a\r\nb\rc\n").map(text) },
  ),
  bytes: fc.oneof(
    { weight: 2, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom(65_535, 65_536, 65_537, 131_072, 262_143, 262_145, 400_000) },
  ),
});

/** Returns the whole output of a sample. */
export function outputOf({ pattern, bytes }: Sample): Uint8Array {
  return bytes === null || pattern.length === 0 ? pattern : large(pattern, bytes);
}

/** Returns the bytes of a text. */
export function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

/** Repeats a pattern until it is over the size at which stores keep artifacts in another way. */
export function large(pattern: Uint8Array, bytes = 300_001): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_none, at) => pattern[at % pattern.length] ?? 0);
}

/** Saves chunks as one artifact. Overwrites each chunk after the writer has taken it. */
export async function keep(store: Store, chunks: Uint8Array[], about: ArtifactAbout = ABOUT): Promise<Artifact> {
  const writer = await store.begin(about);
  for (const chunk of lent(chunks)) await writer.add(chunk);
  return writer.end();
}

/** Returns the ids of a list. */
export async function ids(store: Store, query: Parameters<Store["list"]>[0]): Promise<string[]> {
  return (await store.list(query)).map(({ id }) => id);
}

/** Asserts that a reader in this scope learns nothing about this id. */
export async function assertUnknown(store: Store, id: string, scope: string): Promise<void> {
  assert.equal(await store.find(id, scope), null, `found ${JSON.stringify(id.slice(0, 40))}`);
  assert.equal((await store.hold?.(id, scope)) ?? null, null);
  assert.equal(await store.read(id, scope, { from: 0, to: 10 }), null);
  assert.equal(await store.locate(id, scope, [1, 2]), null);
  assert.equal(await store.file(id, scope), null);
  assert.equal(await store.remove(id, scope), false);
}

/** Compares bytes without assert's own comparison, because a difference in a large array takes minutes to print. */
export function assertBytes(found: Uint8Array | null, truth: Uint8Array): void {
  assert.ok(found !== null, "no bytes");
  assert.equal(found.length, truth.length);
  const at = found.findIndex((byte, index) => byte !== truth[index]);
  assert.equal(at, -1, `first difference at byte ${at}`);
}

/** Returns where each line begins. Reads byte by byte. */
export function lineStarts(bytes: Uint8Array): number[] {
  const starts: number[] = [];
  let isStart = true;
  for (const [at, byte] of bytes.entries()) {
    if (isStart) starts.push(at);
    isStart = byte === 10;
  }
  return starts;
}
