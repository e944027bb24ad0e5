import type { Gap, Piece } from "../../contract/cut.ts";
import type { Limits } from "../../contract/limits.ts";
import type { Extent, Total } from "../../contract/size.ts";
import { counted, grouped } from "../../values.ts";

// Every text that a model reads at the tool boundary. ASCII only; docs/guide/markers.md shows each in its place.

/** What stands for an output that had no content. */
export const NO_OUTPUT = "[no output]";

/** What stands for the result of a call that never got one. */
export const LOST_RESULT = "[result lost: this call has no result in the history; this error was put in its place]";

/** The last line of a command's result. */
export function exitLine(exitCode: number): string {
  return `[exit code ${exitCode}]`;
}

/** Stands before the kept start: how many lines of it are shown, and how many were folded among them. */
export function firstLines({ lines: [from, to], endsInside, foldedLines }: Piece, total: Extent, tag: string): string {
  const count = to - from + 1;
  if (endsInside && count === 1) return `[Start of line ${grouped(to)} of ${grouped(total.lines)}${tag}]`;
  return `[First ${ofLines(count, total, foldedLines)}${endsInside ? ", the last in part" : ""}${tag}]`;
}

/** Stands before the kept end: as above. */
export function lastLines({ lines: [from, to], startsInside, foldedLines }: Piece, total: Extent, tag: string): string {
  const count = to - from + 1;
  if (startsInside && count === 1) return `[End of line ${grouped(from)} of ${grouped(total.lines)}${tag}]`;
  return `[Last ${ofLines(count, total, foldedLines)}${startsInside ? ", the first in part" : ""}${tag}]`;
}

function ofLines(count: number, total: Extent, folded = 0): string {
  const shown = `${counted(count - folded, "line")} of ${grouped(total.lines)}`;
  return folded === 0 ? shown : `${shown}, ${grouped(folded)} more folded`;
}

/** Between kept pieces: which lines are missing and how much they are. */
export function gapLine(gap: Gap, tag: string): string {
  const { fromLine, toLine, lines, bytes, chars } = gap;
  const size = `${counted(bytes, "byte")}, ${counted(chars, "character")}`;
  const where = fromLine === toLine ? `line ${fromLine}` : `lines ${fromLine}-${toLine}`;
  if (lines === 0) return `[... part of ${where} omitted (${size})${tag} ...]`;
  const whole = counted(lines, lines === toLine - fromLine + 1 ? "line" : "whole line");
  return `[... ${where} omitted (${whole}, ${size})${tag} ...]`;
}

/** One of several gaps: where to recall it from; the footer says how much is missing in all. */
export function briefGap({ fromLine, toLine, lines }: Gap, tag: string): string {
  const where = fromLine === toLine ? `line ${fromLine}` : `lines ${fromLine}-${toLine}`;
  return `[... ${lines === 0 ? "part of " : ""}${where} omitted${tag} ...]`;
}

/** The shortest gap marker that still gives numbers. */
export function shortGap({ lines, bytes }: Extent, tag: string): string {
  return `[... ${lines === 0 ? counted(bytes, "byte") : counted(lines, "line")} cut${tag} ...]`;
}

/** Blocks named in a note; the others are between them. */
const NAMED_BLOCKS = 9;

/** Many blocks are shown and kept as one text: in which of its lines some of them begin, the first and the last included. */
export function joinedBlocks(starts: readonly number[]): string {
  const last = starts.length - 1;
  const named = Array.from({ length: NAMED_BLOCKS }, (_, at) => Math.round((at * last) / (NAMED_BLOCKS - 1)));
  const places = [...new Set(named)].map((index) => `${index + 1} at ${starts[index]}`);
  return `[${grouped(starts.length)} blocks as one text, each from a line of its own: block ${places.join(", ")}]`;
}

/** When no piece of the output has room. */
export function notShown(total: Extent, exitCode: number | null): string {
  const exit = exitCode === null ? "" : `; exit code ${exitCode}`;
  return `[${counted(total.lines, "line")}, ${counted(total.bytes, "byte")} not shown${exit}]`;
}

/** The output's source failed: what came before is shown. */
export function endedEarly(reason: string): string {
  return `[output ended early: ${reason}]`;
}

/** What stands for binary. */
export function binaryNote(kind: string, total: Total): string {
  return `[binary output not shown: ${kind}, ${counted(total.bytes, "byte")}]`;
}

/** What stands for images, audio and files that were left out of one request. */
export function mediaLeftOut({ count, bytes }: { count: number; bytes: number }): string {
  const what = count === 1 ? "an image, sound or file" : `${grouped(count)} images, sounds or files`;
  return `[${what} of ${counted(bytes, "byte")} left out: the request was too large]`;
}

/** The suffix that says only that the text was cut, with the limits in force. */
export function truncatedSuffix(limits: Limits): string {
  const said = [
    limits.maxBytes === undefined ? null : bytesLimit(limits.maxBytes),
    limits.maxChars === undefined ? null : `${limits.maxChars} characters`,
    limits.maxLines === undefined ? null : `${limits.maxLines} lines`,
    limits.maxTokens === undefined ? null : `${limits.maxTokens} tokens`,
  ].filter((text) => text !== null);
  const exceeded = said.length === 0 ? "limits" : said.join(" or ");
  return `[tool output truncated: exceeded ${exceeded}; request smaller chunks (offset/limit) or specific sections]`;
}

function bytesLimit(maxBytes: number): string {
  return maxBytes > 0 && maxBytes % 1024 === 0 ? `${maxBytes / 1024}KB` : `${maxBytes} bytes`;
}
