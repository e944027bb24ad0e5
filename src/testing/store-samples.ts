import assert from "node:assert/strict";
import fc from "fast-check";
import type { Artifact, ArtifactAbout, Store } from "../contract/store.ts";
import { arbitraryOutput, lent } from "./arbitrary.ts";

// What testStore asks of stores, and how it compares.

/** What an artifact is about where that does not matter. */
export const ABOUT: ArtifactAbout = { scope: "local", session: "s1", tool: "run_command", call: "c1" };

/** Ids that no store gave: other forms, other places, other queries. */
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

/** A pattern, and how long it is to be repeated: small to print, whatever its size. */
export interface Sample {
  pattern: Uint8Array;
  bytes: number | null;
}

/** Most are as tools write them; some are over the sizes at which a store changes its ways. */
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

/** The whole of a sample. */
export function outputOf({ pattern, bytes }: Sample): Uint8Array {
  return bytes === null || pattern.length === 0 ? pattern : large(pattern, bytes);
}

/** A text's bytes. */
export function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

/** A pattern repeated until it is over the size at which stores change their ways. */
export function large(pattern: Uint8Array, bytes = 300_001): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_none, at) => pattern[at % pattern.length] ?? 0);
}

/** Keeps chunks, each of which is overwritten when the writer has taken it. */
export async function keep(store: Store, chunks: Uint8Array[], about: ArtifactAbout = ABOUT): Promise<Artifact> {
  const writer = await store.begin(about);
  for (const chunk of lent(chunks)) await writer.add(chunk);
  return writer.end();
}

/** The ids of a list. */
export async function ids(store: Store, query: Parameters<Store["list"]>[0]): Promise<string[]> {
  return (await store.list(query)).map(({ id }) => id);
}

/** A reader in this scope learns nothing about this id. */
export async function assertUnknown(store: Store, id: string, scope: string): Promise<void> {
  assert.equal(await store.find(id, scope), null, `found ${JSON.stringify(id.slice(0, 40))}`);
  assert.equal((await store.hold?.(id, scope)) ?? null, null);
  assert.equal(await store.read(id, scope, { from: 0, to: 10 }), null);
  assert.equal(await store.locate(id, scope, [1, 2]), null);
  assert.equal(await store.file(id, scope), null);
  assert.equal(await store.remove(id, scope), false);
}

/** Compared as bytes first: a difference in a large array takes minutes to print. */
export function assertBytes(found: Uint8Array | null, truth: Uint8Array): void {
  assert.ok(found !== null, "no bytes");
  assert.equal(found.length, truth.length);
  const at = found.findIndex((byte, index) => byte !== truth[index]);
  assert.equal(at, -1, `first difference at byte ${at}`);
}

/** Where each line begins, byte by byte. */
export function lineStarts(bytes: Uint8Array): number[] {
  const starts: number[] = [];
  let isStart = true;
  for (const [at, byte] of bytes.entries()) {
    if (isStart) starts.push(at);
    isStart = byte === 10;
  }
  return starts;
}
