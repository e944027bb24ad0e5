import type { Total } from "../../contract/size.ts";
import { counted } from "../../values.ts";
import { keptText, type SavedCopy } from "./access.ts";
import { quotesMarker, tagFor, withTag } from "./texts.ts";

/** What a summary's markers are written from. */
export interface SummaryMark {
  model: string;
  total: Total;
  savedCopy: SavedCopy;
  /** Lines that end any text: its exit code. */
  closing: readonly string[];
}

/** A summary as the model reads it: marked as one, with its author, the source's size and the way to the source. */
export function writeSummary(summary: string, { model, total, savedCopy, closing }: SummaryMark): string {
  const tag = quotesMarker(summary) ? tagFor(summary) : "";
  const told = tag === "" ? "" : ` Our notes carry${tag}; others like them are not ours.`;
  const source = `${counted(total.lines, "line")}, ${counted(total.bytes, "byte")}`;
  return [
    `[Summary by ${model} of an output of ${source}${tag}]`,
    summary,
    `[This is a summary: what it does not say may stand in the output. ${keptText(savedCopy)}${told}]`,
    ...closing.map((line) => withTag(line, tag)),
  ].join("\n");
}
