import type { PruningPolicy } from "../../contract/policy.ts";
import { quotesMarker, tagFor, withTag } from "../mark/texts.ts";
import { splitsPair } from "../measure/scan.ts";

/** Several texts of one result, as pruning reads them. */
export function joinTexts(texts: readonly string[]): string {
  return texts.length === 1 ? (texts[0] as string) : texts.join("\n");
}

/** Start and end of a long result and a note with its size; null if it is not long enough to be trimmed. */
export function trimText(text: string, { maxChars, headChars, tailChars }: PruningPolicy["softTrim"]): string | null {
  const { length } = text;
  if (length <= maxChars || headChars + tailChars >= length) return null;
  const headEnd = splitsPair(text, headChars) ? headChars - 1 : headChars;
  const tailStart = splitsPair(text, length - tailChars) ? length - tailChars + 1 : length - tailChars;
  const head = text.slice(0, headEnd);
  const tail = text.slice(tailStart);
  const shown = `${head}\n...\n${tail}`;
  const tag = quotesMarker(shown) ? tagFor(shown) : "";
  return `${shown}\n\n${withTag(trimNote(head.length, tail.length, length), tag)}`;
}

/** How many characters `trimText` gives, give or take a split pair; null if it gives nothing. */
export function trimmedChars(
  length: number,
  { maxChars, headChars, tailChars }: PruningPolicy["softTrim"],
): number | null {
  if (length <= maxChars || headChars + tailChars >= length) return null;
  return headChars + 5 + tailChars + 2 + trimNote(headChars, tailChars, length).length;
}

function trimNote(head: number, tail: number, total: number): string {
  return `[Tool result trimmed: kept first ${head} chars and last ${tail} chars of ${total} chars.]`;
}
