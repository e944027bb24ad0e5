import type { WireMessage } from "../../contract/wire.ts";
import { inputText } from "./input-text.ts";

/** Addresses, paths, ids, hashes, tickets and versions: what a summary gets wrong and an agent cannot guess. */
const IDENTIFIER = new RegExp(
  [
    String.raw`https?:\/\/[^\s"'<>()\[\]{}\\]{4,160}`,
    String.raw`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`,
    String.raw`(?:[A-Za-z]:|~|\.{1,2})?(?:[\w.@+-]{0,64}[\/\\])(?:[\w.@+-]{1,64}[\/\\]){0,15}[\w@+-]{1,64}(?:\.\w{1,8}){1,3}\b`,
    String.raw`\b[A-Z][A-Z0-9]{1,9}-\d{1,7}\b`,
    String.raw`\b(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40}\b`,
    String.raw`\b[A-Za-z]{1,12}_[A-Za-z0-9]{10,64}\b`,
  ].join("|"),
  "g",
);

const MAX_TEXT_CHARS = 20_000;
const MAX_FOUND = 5000;
const TRAILING = /[.,;:!?]+$/;

interface Found {
  score: number;
  last: number;
}

/**
 * The identifiers that matter most in messages: those that user and agent wrote count more than those a tool printed,
 * and of equals the later ones.
 */
export function findIdentifiers(views: readonly WireMessage[], max: number): string[] {
  const found = new Map<string, Found>();
  views.forEach((view, at) => {
    const written = view.text === null ? [] : [view.text, ...(view.moreTexts ?? [])];
    const weight = view.role === "user" ? 4 : 2;
    for (const text of written) add(found, text, weight, at);
    for (const call of view.calls) add(found, inputText(call), 3, at);
    for (const { texts } of view.results) for (const text of texts) add(found, text, 1, at);
  });
  return [...found]
    .toSorted(([, one], [, other]) => other.score - one.score || other.last - one.last)
    .slice(0, max)
    .map(([identifier]) => identifier);
}

function add(found: Map<string, Found>, text: string, weight: number, at: number): void {
  const seen = new Set<string>();
  // Both ends of a long text: the middle of an output is rarely spoken of.
  const half = MAX_TEXT_CHARS / 2;
  const parts = text.length <= MAX_TEXT_CHARS ? [text] : [text.slice(0, half), text.slice(-half)];
  for (const part of parts) {
    for (const [match] of part.matchAll(IDENTIFIER)) {
      const identifier = match.replace(TRAILING, "");
      if (seen.has(identifier) || (!found.has(identifier) && found.size >= MAX_FOUND)) continue;
      seen.add(identifier);
      const before = found.get(identifier)?.score ?? 0;
      found.set(identifier, { score: before + weight, last: at });
    }
  }
}
