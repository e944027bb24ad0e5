import type { Artifact, Store } from "../contract/store.ts";
import { within } from "../deadline.ts";
import type { Access } from "../stages/mark/access.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { setNewest } from "../values.ts";
import { type AdmitPlan, type Ended, NOT_SAVED, type SpilledOutput, startAdmission } from "./admission.ts";
import type { Named, Reader } from "./reader.ts";

/** What we know of a text of ours. */
export interface KnownText extends SpilledOutput {
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
export class KnownTexts {
  readonly #texts = new Map<string, KnownText>();

  remember(text: string, known: KnownText): void {
    if (known.id !== null) setNewest(this.#texts, `${known.id}:${fingerprint(text)}`, known, MAX_TEXTS);
  }

  find(text: string): KnownText | null {
    const named = text.slice(-FOOTER_CHARS).match(ID);
    if (named === null) return null;
    const print = fingerprint(text);
    for (const id of named) {
      const known = this.#texts.get(`${id}:${print}`);
      if (known !== undefined) return known;
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

/** Says how a reader gets at an artifact. A file is named only once `copyOut` has made it. */
export function newAccessTo(
  reader: Reader,
  copyOut: ((artifact: Named) => Promise<string | null>) | undefined,
  safeName: (name: string) => string | Promise<string>,
): (artifact: Named) => Promise<Access> {
  return async (artifact) => {
    if (reader.by !== "file") return { ...reader };
    // The tool's name is part of the file's.
    const copying = (async () => copyOut?.({ ...artifact, tool: await safeName(artifact.tool) }) ?? null)();
    const path = await within(copying, NUMBERS.spillDeadlineMs.default, "copying").catch(() => null);
    return path === null ? { by: "operator" } : { by: "file", path };
  };
}

/** What to remember of a text whose whole became this artifact. */
export async function knownText(
  artifact: Artifact | null,
  access: (artifact: Artifact) => Access | Promise<Access>,
  exitCode: number | null,
): Promise<KnownText> {
  return knownTextNow(artifact, artifact === null ? NOT_SAVED.access : await access(artifact), exitCode);
}

/** The same where the way to it is known. */
export function knownTextNow(artifact: Artifact | null, access: Access, exitCode: number | null): KnownText {
  if (artifact === null) return { ...NOT_SAVED, exitCode };
  const { id, bytes, saved, sha256, redactions } = artifact;
  return { saved, savedBytes: bytes, id, access, redactions, sha256, exitCode };
}

/** Read at a time from an artifact. */
const READ_BYTES = 1024 * 1024;

/** Cuts a text of ours anew from its artifact. Returns null if the artifact is gone, or not whole. */
export async function cutAnew(plan: AdmitPlan, known: KnownText, store: Store | null): Promise<Ended | null> {
  const { id, saved } = known;
  if (store === null || id === null || (saved !== "yes" && saved !== "local")) return null;
  const wait = <T>(promise: Promise<T>) => within(promise, NUMBERS.spillDeadlineMs.default, "reading an artifact");
  try {
    const artifact = await wait(store.find(id, plan.scope));
    if (artifact === null) return null;
    const exitCode = plan.exitCode ?? known.exitCode;
    // What is stored is what it is cut from now.
    const admission = startAdmission({ ...plan, note: known.note, exitCode, source: undefined });
    for (let from = 0; from < artifact.bytes; from += READ_BYTES) {
      const bytes = await wait(store.read(id, plan.scope, { from, to: from + READ_BYTES }));
      if (!(bytes instanceof Uint8Array) || bytes.length === 0) return null;
      admission.add(bytes);
    }
    return admission.end();
  } catch {
    return null; // the store is out of reach: the text we have serves
  }
}
