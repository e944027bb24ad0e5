import type { Artifact, ArtifactAbout } from "../../contract/store.ts";
import { messageOf } from "../../errors.ts";
import { isArtifact, NOT_REDACTED, type Spilled, type SpillPlace, withSafeName } from "./spill.ts";

/** Saves one whole output before it returns. Never throws: `fault` says what went wrong. */
export function spillNow(place: SpillPlace, about: ArtifactAbout, chunks: Iterable<Uint8Array>): Spilled {
  const { store, breaker } = place;
  if (store === null) return { artifact: null, fault: null };
  if (store.keepNow === undefined) return notSaved("this store cannot save without waiting");
  if (!breaker.allows()) return notSaved("the store failed several times in a row and is not tried for a while");
  try {
    const pieces: Uint8Array[] = [];
    const redactions = redact(place, chunks, pieces);
    if (redactions === null) return notSaved("what takes secrets out is not loaded yet");
    const start = place.loadedRedactor?.() ?? null;
    const artifact = store.keepNow(start === null ? about : withSafeName(about, start), join(pieces), redactions);
    if (!isArtifact(artifact)) throw new Error("the store gave no artifact");
    breaker.succeeded();
    return { artifact, fault: null };
  } catch (error) {
    breaker.failed();
    return notSaved(messageOf(error));
  }
}

/** Returns null if the redactor is not loaded yet. */
function redact(
  { loadRedactor, loadedRedactor }: SpillPlace,
  chunks: Iterable<Uint8Array>,
  pieces: Uint8Array[],
): Artifact["redactions"] | null {
  if (loadRedactor === null) {
    for (const chunk of chunks) pieces.push(new Uint8Array(chunk));
    return NOT_REDACTED;
  }
  // The bytes are valid only during the call.
  const redactor = loadedRedactor?.()?.((bytes) => void pieces.push(new Uint8Array(bytes)));
  if (redactor === undefined) return null;
  for (const chunk of chunks) redactor.add(chunk);
  return redactor.end();
}

function join(pieces: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

function notSaved(reason: string): Spilled {
  return { artifact: null, fault: `spill failed after 0 bytes: ${reason}` };
}
