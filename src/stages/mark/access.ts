import type { Hidden } from "../../contract/cut.ts";
import type { Saved } from "../../contract/receipt.ts";
import type { Total } from "../../contract/size.ts";
import { counted, grouped } from "../../values.ts";
import { quotesMarker, tagFor, withTag } from "./texts.ts";

/** How the reader of a marker gets at the rest. */
export type Access =
  | { by: "operator" }
  /** Our recall and search are among its tools, by these names. */
  | { by: "tool"; recall: string; search: string }
  /** It has a shell on this machine; `dir` and `scope` are those that a command does not find by itself. */
  | { by: "shell"; dir?: string; scope?: string }
  /** It has a file tool, and the whole output stands in this file. */
  | { by: "file"; path: string };

/** What became of the whole output, as far as a marker must know. */
export interface SavedCopy {
  saved: Saved;
  savedBytes: number;
  id: string | null;
  access: Access;
  /** Secrets that were replaced in it. */
  redactions?: { count: number } | undefined;
}

/** Says where the whole is, for a reader who misses nothing. Empty if nobody kept it. */
export function keptText({ saved, savedBytes, id, access }: SavedCopy): string {
  if (saved === "no" || id === null) return "";
  if (saved === "partial") return `Only the first ${grouped(savedBytes)} bytes were saved. ${wayTo(id, access, true)}`;
  return wayTo(id, access, false);
}

/** The same of an output that is no text: there are no lines of it to read or to find anything in. */
export function binaryKeptText({ saved, savedBytes, id, access, redactions }: SavedCopy): string {
  if (saved === "no" || id === null) return "";
  const what = saved === "partial" ? `Only the first ${grouped(savedBytes)} bytes were saved,` : "The whole is saved";
  const count = redactions?.count ?? 0;
  // Whoever opens it must know that it is not the same to the byte.
  const secrets = count === 0 ? "" : ` with ${counted(count, "secret")} in it replaced`;
  const where = access.by === "file" ? `in ${access.path} (artifact ${id})` : `as artifact ${id}`;
  const copy = access.by === "shell" ? `; copy it with: spillway recall ${inShell(id, access)} --raw > FILE` : "";
  const who = access.by === "operator" ? ", which the operator can read" : "";
  return `${what}${secrets} ${where}${who}${copy || "."}`;
}

/** Says where the rest is. Only ways that the reader has are named (promise 12). */
export function accessText(copy: SavedCopy): string {
  const { saved, id } = copy;
  if (saved === "no" || id === null)
    return "The rest was not saved: do not guess it. The same call gives the same cut: narrow it to see more.";
  const way = wayTo(id, copy.access, saved === "partial");
  if (saved === "partial")
    return `Only the first ${grouped(copy.savedBytes)} bytes were saved: do not guess the rest; the same call gives the same cut. ${way}`;
  return `Do not guess the rest; the same call gives the same cut. ${way}`;
}

/** The same in the fewest words. */
export function restWords({ saved, id }: SavedCopy): string {
  if (saved === "no" || id === null) return "rest not saved";
  return saved === "partial" ? `part saved as artifact ${id}` : `artifact ${id}`;
}

function wayTo(id: string, access: Access, isPart: boolean): string {
  const read = isPart ? "Read what was saved with" : "Read it with";
  switch (access.by) {
    case "tool":
      return `${read} ${access.recall}({"id":"${id}","lines":[from,to]}) or find in it with ${access.search}({"id":"${id}","pattern":"..."}).`;
    case "shell":
      return `${read}: spillway recall ${inShell(id, access)} --lines FROM-TO   or find in it with: spillway search ${inShell(id, access)} PATTERN`;
    case "file":
      return `${isPart ? "What was saved" : "The whole"} is in ${access.path} (artifact ${id}): read the lines you need.`;
    case "operator":
      return `${isPart ? "That part" : "The whole"} is saved as artifact ${id}, which the operator can read; narrow the call to see more.`;
  }
}

/** Says what a reader will miss in a cut, with the way to it; empty if the reader cannot search. */
export function hiddenText(hidden: readonly Hidden[], { id, saved, access }: SavedCopy): string {
  if (id === null || saved === "no" || access.by === "operator") return "";
  const way = (pattern: string, ignoresCase: boolean) => {
    if (access.by === "file") return `by searching that file for /${pattern}/${ignoresCase ? "i" : ""}.`;
    return access.by === "tool"
      ? `with: ${access.search}(${JSON.stringify({ id, pattern, ...(ignoresCase && { ignore_case: true }) })})`
      : `with: spillway search ${inShell(id, access)} ${ignoresCase ? "-i " : ""}${pattern.startsWith("-") ? "-- " : ""}${shellWord(pattern)}`;
  };
  return hidden
    .map(({ pattern, failures }) =>
      failures === undefined
        ? ` What was asked for stands only in what is omitted; find it ${way(pattern, true)}`
        : ` The output names ${counted(failures.counted, "failure")}, ${grouped(failures.shown)} of them here; find the others ${way(pattern, false)}`,
    )
    .join("");
}

/** One line for a result that is no longer shown whole: where it is. Empty if nobody kept it. */
export function recallLine({ saved, savedBytes, id, access }: SavedCopy): string {
  if (saved === "no" || id === null) return "";
  const part = saved === "partial" ? ` (only its first ${grouped(savedBytes)} bytes)` : "";
  switch (access.by) {
    case "tool":
      return `[Read it again with ${access.recall}({"id":"${id}"})${part}]`;
    case "shell":
      return `[Read it again with: spillway recall ${inShell(id, access)}${part}]`;
    case "file":
      return `[It is in ${access.path}, artifact ${id}${part}]`;
    case "operator":
      return `[Saved as artifact ${id}${part}, which the operator can read]`;
  }
}

function inShell(id: string, { dir, scope }: Extract<Access, { by: "shell" }>): string {
  const named = dir === undefined ? id : `${id} --dir ${shellWord(dir)}`;
  return scope === undefined ? named : `${named} --scope ${shellWord(scope)}`;
}

/** A word that a shell reads back as it is. */
function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Says that a web page is shown as text, and where its HTML is, for a reader who has a way to it. */
export function pageNote(bytes: number, { saved, id, access }: SavedCopy): string {
  const what = `HTML of ${counted(bytes, "byte")} shown as text`;
  if (saved === "no" || id === null) return `[${what}; the HTML was not saved]`;
  if (access.by === "file") return `[${what}; the HTML is in ${access.path}]`;
  return `[${what}; the HTML is artifact ${id}${access.by === "operator" ? ", which the operator can read" : ""}]`;
}

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
