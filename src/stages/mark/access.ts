import type { Saved } from "../../contract/receipt.ts";
import { grouped } from "./texts.ts";

/** What became of the whole output, as far as a marker must know. */
export interface Keeping {
  saved: Saved;
  savedBytes: number;
  id: string | null;
}

/** Says where the whole is, for a reader who misses nothing. Empty if nobody kept it. */
export function keptText({ saved, id }: Keeping): string {
  return saved === "no" || id === null ? "" : `The whole is saved as artifact ${id}, which the operator can read.`;
}

/** Says where the rest is. Only ways that the reader has are named (promise 12). */
export function accessText(keeping: Keeping): string {
  const { saved, id } = keeping;
  if (saved === "no" || id === null) return "The rest was not saved: do not guess it, narrow the call to see more.";
  if (saved === "partial") {
    return `Only the first ${grouped(keeping.savedBytes)} bytes were saved, as artifact ${id}, which the operator can read: do not guess the rest.`;
  }
  return `The whole is saved as artifact ${id}, which the operator can read: do not guess the rest, narrow the call to see more.`;
}
