import type { Receipt } from "../../contract/receipt.ts";
import { grouped } from "../../stages/mark/texts.ts";

/** A receipt on one line, for people. */
export function summarize(receipt: Receipt): string {
  const { total, shown, omitted, folded, cutBy, binary, faults = [] } = receipt;
  const size = `${grouped(total.lines)} lines, ${grouped(total.bytes)} bytes`;
  const early = faults.length === 0 ? "" : ` (${faults.join("; ")})`;
  if (binary !== undefined) return `spillway: ${binary}, ${grouped(total.bytes)} bytes: described, not shown${early}`;
  if (omitted.bytes === 0 && folded.bytes === 0) return `spillway: within its limits: ${size}${early}`;
  const left = omitted.bytes === 0 ? "folded" : `cut by ${cutBy}`;
  const estimate = receipt.estimated.includes("tokens") ? "about " : "";
  return `spillway: ${left}: ${size} -> ${grouped(shown.lines)} lines, ${grouped(shown.bytes)} bytes, ${estimate}${grouped(shown.tokens)} tokens${early}`;
}
