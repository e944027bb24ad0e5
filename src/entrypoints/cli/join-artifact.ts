import type { RecordedEvent } from "../../contract/event.ts";
import type { Store } from "../../contract/store.ts";
import { SCOPE } from "./open-place.ts";

/** An event with the text of its artifact; null if there is none, or not any more. */
export interface FullEvent extends RecordedEvent {
  text: string | null;
}

/** A string cannot be much longer than this. */
const MAX_TEXT_BYTES = 256 * 1024 * 1024;

/** Reads the artifact that an event names. */
export async function joinArtifact(store: Store, event: RecordedEvent): Promise<FullEvent> {
  const { artifact } = event;
  const found = artifact === null ? null : await store.find(artifact, SCOPE);
  if (found === null) return { ...event, text: null };
  // One that is gone, damaged or too long leaves its event as it is.
  const bytes = await store
    .read(found.id, SCOPE, { from: 0, to: Math.min(found.bytes, MAX_TEXT_BYTES) })
    .catch(() => null);
  return { ...event, text: bytes && new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) };
}
