import type { PruningPolicy } from "../../contract/policy.ts";
import { argumentCleared, argumentTrimmed, quotesMarker, resultTrimmed, tagFor, withTag } from "../mark/texts.ts";
import { splitsPair } from "../measure/scan.ts";

/** Several texts of one result, as pruning reads them. */
export function joinTexts(texts: readonly string[]): string {
  return texts.length === 1 ? (texts[0] as string) : texts.join("\n");
}

type SoftTrim = PruningPolicy["softTrim"];

/** Start and end of a long result and a note with its size; null if it is not long enough to be trimmed. */
export function trimText(
  text: string,
  { maxChars, headChars, tailChars }: SoftTrim,
  note = resultTrimmed,
): string | null {
  const { length } = text;
  if (length <= maxChars || headChars + tailChars >= length) return null;
  const headEnd = splitsPair(text, headChars) ? headChars - 1 : headChars;
  const tailStart = splitsPair(text, length - tailChars) ? length - tailChars + 1 : length - tailChars;
  const head = text.slice(0, headEnd);
  const tail = text.slice(tailStart);
  const shown = `${head}\n...\n${tail}`;
  const tag = quotesMarker(shown) ? tagFor(shown) : "";
  return `${shown}\n\n${withTag(note(head.length, tail.length, length), tag)}`;
}

/** How many characters `trimText` gives, give or take a split pair; null if it gives nothing. */
export function trimmedChars(
  length: number,
  { maxChars, headChars, tailChars }: SoftTrim,
  note = resultTrimmed,
): number | null {
  if (length <= maxChars || headChars + tailChars >= length) return null;
  return headChars + 5 + tailChars + 2 + note(headChars, tailChars, length).length;
}

/**
 * The long strings of a call, each shorter. `line` says where they are saved, and stands in the first that is changed. Null
 * if nothing changes.
 */
export function shortenTexts(
  texts: readonly string[],
  to: "trimmed" | "cleared",
  softTrim: SoftTrim,
  line: string,
): string[] | null {
  let isNamed = line === "";
  const shortened = texts.map((text) => {
    const short = to === "cleared" ? argumentCleared(text.length) : trimText(text, softTrim, argumentTrimmed);
    if (short === null) return text;
    const said = isNamed ? short : `${short}\n${line}`;
    if (said.length >= text.length) return text;
    isNamed = true;
    return said;
  });
  return isNamed && shortened.some((text, at) => text !== texts[at]) ? shortened : null;
}

/** How many characters `shortenTexts` gives for texts of these lengths, without the line, give or take split pairs. */
export function shortenedChars(lengths: readonly number[], to: "trimmed" | "cleared", softTrim: SoftTrim): number {
  return lengths.reduce((sum, length) => {
    const short = to === "cleared" ? argumentCleared(length).length : trimmedChars(length, softTrim, argumentTrimmed);
    return sum + Math.min(length, short ?? length);
  }, 0);
}
