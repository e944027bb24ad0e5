import type { Saved } from "../../contract/receipt.ts";
import { grouped } from "./texts.ts";

/** How the reader of a marker gets at the rest. */
export type Access =
  | { by: "operator" }
  /** Our recall and search are among its tools, by these names. */
  | { by: "tool"; recall: string; search: string }
  /** It has a shell on this machine; `dir` is the folder where that is not the one a command finds by itself. */
  | { by: "shell"; dir?: string }
  /** It has a file tool, and the whole output stands in this file. */
  | { by: "file"; path: string };

/** What became of the whole output, as far as a marker must know. */
export interface Keeping {
  saved: Saved;
  savedBytes: number;
  id: string | null;
  access: Access;
  /** Secrets replaced in what is stored. */
  redactions: { count: number; bytes: number };
}

/** Says where the whole is, for a reader who misses nothing. Empty if nobody kept it. */
export function keptText({ saved, id, access }: Keeping): string {
  return saved === "no" || id === null ? "" : wayTo(id, access);
}

/** Says where the rest is. Only ways that the reader has are named (promise 12). */
export function accessText(keeping: Keeping): string {
  const { saved, id } = keeping;
  if (saved === "no" || id === null) return "The rest was not saved: do not guess it, narrow the call to see more.";
  const way = wayTo(id, keeping.access);
  if (saved === "partial")
    return `Only the first ${grouped(keeping.savedBytes)} bytes were saved: do not guess the rest. ${way}`;
  return `Do not guess the rest. ${way}`;
}

function wayTo(id: string, access: Access): string {
  switch (access.by) {
    case "tool":
      return `Read it with ${access.recall}({"id":"${id}","lines":[from,to]}) or find in it with ${access.search}({"id":"${id}","pattern":"..."}).`;
    case "shell": {
      const dir = access.dir === undefined ? "" : ` --dir ${shellWord(access.dir)}`;
      return `Read it with: spillway recall ${id}${dir} --lines FROM-TO   or find in it with: spillway search ${id}${dir} PATTERN`;
    }
    case "file":
      return `The whole is in ${access.path} (artifact ${id}): read the lines you need.`;
    case "operator":
      return `The whole is saved as artifact ${id}, which the operator can read; narrow the call to see more.`;
  }
}

/** A word that a shell reads back as it is. */
function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
