import type { Receipt } from "../../contract/receipt.ts";
import type { Extent } from "../../contract/size.ts";
import { counted, grouped } from "../../values.ts";
import { sizeText } from "./amounts.ts";

/** A receipt on one line, for people. */
export function summarize(receipt: Receipt): string {
  const { total, shown, omitted, folded, cutBy, binary, artifact, faults = [] } = receipt;
  const size = sizeOf(total);
  const early = faults.length === 0 ? "" : ` (${faults.join("; ")})`;
  if (binary !== undefined) return `spillway: ${binary}, ${sizeText(total.bytes)}: described, not shown${early}`;
  // An output within its limits is saved only if it shows U+FFFD for bytes that are not UTF-8.
  const saved = artifact === null ? "" : `; not all of it is UTF-8: saved as ${artifact}`;
  if (omitted.bytes === 0 && folded.bytes === 0) return `spillway: within its limits: ${size}${saved}${early}`;
  const left = omitted.bytes === 0 ? "folded" : `cut by ${cutBy}`;
  const estimate = receipt.estimated.includes("tokens") ? "about " : "";
  return `spillway: ${left}: ${size} -> ${sizeOf(shown)}, ${estimate}${grouped(shown.tokens)} tokens${early}`;
}

/** The receipt of an output that was passed on whole: says what was saved. */
export function summarizeKept({ total, artifact, saved, savedBytes, faults = [] }: Receipt): string {
  const early = faults.length === 0 ? "" : ` (${faults.join("; ")})`;
  if (artifact === null)
    return `spillway: passed ${sizeOf(total)}: ${total.bytes === 0 ? "nothing to save" : "not saved"}${early}`;
  const part = saved === "partial" ? `, the first ${sizeText(savedBytes)} only` : "";
  return `spillway: passed ${sizeOf(total)}: saved as ${artifact}${part}${early}`;
}

function sizeOf({ lines, bytes }: Extent): string {
  return `${counted(lines, "line")}, ${sizeText(bytes)}`;
}
