import type { Receipt } from "../contract/receipt.ts";
import { messageOf } from "../errors.ts";

/** A receipt that tells these faults too. */
export function withFaults(receipt: Receipt, faults: readonly string[]): Receipt {
  return faults.length === 0 ? receipt : { ...receipt, faults: [...(receipt.faults ?? []), ...faults] };
}

const MAX_FAULT_CHARS = 200;

/** Why a stream failed, on one short line: it is told to the model. */
export function firstLine(error: unknown): string {
  const [line = ""] = messageOf(error)
    .toWellFormed()
    .split(/[\r\n]/, 1);
  return line.length > MAX_FAULT_CHARS
    ? `${line.slice(0, MAX_FAULT_CHARS).toWellFormed()}...`
    : line || "unknown error";
}
