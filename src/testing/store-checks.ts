import assert from "node:assert/strict";
import type { Store } from "../contract/store.ts";
import { ABOUT, assertBytes, keep, large, text } from "./store-samples.ts";

/** What a store keeps without waiting is what it keeps by waiting. */
export async function checkKeepNow(store: Store): Promise<void> {
  for (const bytes of store.keepNow === undefined ? [] : [text("now\n"), large(text("now, large\n"))]) {
    const kept = store.keepNow?.(ABOUT, bytes, { count: 1, bytes: 3 });
    assertBytes(await store.read(kept?.id ?? "", "local", { from: 0, to: bytes.length }), bytes);
    assert.equal((await keep(store, [bytes])).id, kept?.id);
  }
}

/** A plain file is named only if it holds exactly the artifact's bytes. */
export async function checkPlainFile(store: Store): Promise<void> {
  const { readFile } = await import("node:fs/promises");
  for (const bytes of [text("small\n"), large(text("line\n"))]) {
    const { id } = await keep(store, [bytes]);
    const path = await store.file(id, "local");
    if (path !== null) assertBytes(await readFile(path), bytes);
    assert.equal(await store.file(id, "other"), null);
  }
}
