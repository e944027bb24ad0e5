import assert from "node:assert/strict";
import type { Artifact, Store } from "../contract/store.ts";
import { lent } from "./arbitrary.ts";
import { ABOUT, assertBytes, keep, large, text } from "./store-samples.ts";

/** Checks that `keepNow` saves the same as a writer does. */
export async function checkKeepNow(store: Store): Promise<void> {
  for (const bytes of store.keepNow === undefined ? [] : [text("now\n"), large(text("now, large\n"))]) {
    let kept: Artifact | undefined;
    for (const given of lent([bytes])) kept = store.keepNow?.(ABOUT, given, { count: 1, bytes: 3 });
    assertBytes(await store.read(kept?.id ?? "", "local", { from: 0, to: bytes.length }), bytes);
    assert.equal((await keep(store, [bytes])).id, kept?.id);
  }
}

/** Checks that a reader may change the bytes that it read without changing what is saved. */
export async function checkOwnBytes(store: Store): Promise<void> {
  for (const bytes of [text("small\n"), large(text("large\n"))]) {
    const { id } = await keep(store, [bytes]);
    const range = { from: 0, to: bytes.length };
    (await store.read(id, "local", range))?.fill(0);
    assertBytes(await store.read(id, "local", range), bytes);
    const held = (await store.hold?.(id, "local")) ?? null;
    (await held?.read(range))?.fill(0);
    if (held !== null) assertBytes(await held.read(range), bytes);
    await held?.close();
  }
}

/** Checks that a store names a plain file only if it holds exactly the artifact's bytes. */
export async function checkPlainFile(store: Store): Promise<void> {
  const { readFile } = await import("node:fs/promises");
  for (const bytes of [text("small\n"), large(text("line\n"))]) {
    const { id } = await keep(store, [bytes]);
    const path = await store.file(id, "local");
    if (path !== null) assertBytes(await readFile(path), bytes);
    assert.equal(await store.file(id, "other"), null);
  }
}
