import { counted } from "../../values.ts";
import type { SavedCopy } from "./access.ts";

/** Says that a web page is shown as text, and where its HTML is, for a reader who has a way to it. */
export function pageNote(bytes: number, { saved, id, access }: SavedCopy): string {
  const what = `HTML of ${counted(bytes, "byte")} shown as text`;
  if (saved === "no" || id === null) return `[${what}; the HTML was not saved]`;
  if (access.by === "file") return `[${what}; the HTML is in ${access.path}]`;
  return `[${what}; the HTML is artifact ${id}${access.by === "operator" ? ", which the operator can read" : ""}]`;
}
