import type { Receipt } from "../contract/receipt.ts";

/** A receipt that tells these faults too. */
export function withFaults(receipt: Receipt, faults: readonly string[]): Receipt {
  return faults.length === 0 ? receipt : { ...receipt, faults: [...(receipt.faults ?? []), ...faults] };
}
