import type { Artifact } from "../contract/store.ts";
import type { Access, Keeping } from "../stages/mark/access.ts";
import { NOT_KEPT } from "./admission.ts";

/** What we know of a text of ours. */
export interface OwnText {
  keeping: Keeping;
  sha256: string | null;
  exitCode: number | null;
  /** What it says of the page that it was made of. */
  note?: string;
}

/** Texts remembered; an agent rarely sends more results than this. */
const MAX_TEXTS = 10_000;
/** Our footer stands at a text's end. */
const FOOTER_CHARS = 1000;
const ID = /\b[a-z2-7]{12}\b/g;

/**
 * The texts we gave out, known by their artifact's id and only if not one character of them changed. One that comes
 * back to be made smaller is cut anew from its artifact: its markers are not cut, and its counts stay true.
 */
export class OwnTexts {
  readonly #texts = new Map<string, OwnText>();

  remember(text: string, own: OwnText): void {
    const { id } = own.keeping;
    if (id === null) return;
    const key = `${id}:${fingerprint(text)}`;
    this.#texts.delete(key);
    this.#texts.set(key, own);
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size <= MAX_TEXTS) return;
      this.#texts.delete(oldest);
    }
  }

  find(text: string): OwnText | null {
    const named = text.slice(-FOOTER_CHARS).match(ID);
    if (named === null) return null;
    const print = fingerprint(text);
    for (const id of named) {
      const own = this.#texts.get(`${id}:${print}`);
      if (own !== undefined) return own;
    }
    return null;
  }
}

/** Two sums of different primes and the length: enough to tell a text from its changed copy. */
function fingerprint(text: string): string {
  let one = 0x811c9dc5;
  let two = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x01000193);
    two = (Math.imul(two, 31) + unit) | 0;
  }
  return `${text.length}:${one}:${two}`;
}

/** What to remember of a text whose whole became this artifact. */
export async function ownText(
  artifact: Artifact | null,
  access: (artifact: Artifact) => Access | Promise<Access>,
  exitCode: number | null,
): Promise<OwnText> {
  return ownTextNow(artifact, artifact === null ? NOT_KEPT.keeping.access : await access(artifact), exitCode);
}

/** The same where the way to it is known. */
export function ownTextNow(artifact: Artifact | null, access: Access, exitCode: number | null): OwnText {
  if (artifact === null) return { ...NOT_KEPT, exitCode };
  const { id, bytes, saved, sha256, redactions } = artifact;
  return { keeping: { saved, savedBytes: bytes, id, access, redactions }, sha256, exitCode };
}
