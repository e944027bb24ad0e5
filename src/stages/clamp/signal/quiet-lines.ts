import type { Span } from "../../../contract/span.ts";
import { mayTell } from "./quick-look.ts";

/** A run of whole lines: where it ends and how many line breaks it has. */
export interface LineRun {
  end: number;
  breaks: number;
}

/** The run of whole lines from `start` on, which begins a line, that hold no failure word and are not over `longest`. */
export function quietLines(bytes: Uint8Array, start: number, longest: number): LineRun {
  return wholeLines(bytes, start, bytes.length, (from, to) => to - from <= longest && !mayTell(bytes, from, to));
}

/** The run of whole lines of a span from `start` on, which begins line `line`, that end within `most` bytes. */
export function passedLines(span: Span, start: number, line: number, most: number, longest: number): LineRun {
  const { bytes } = span;
  // Where the breaks of the whole span were counted before, nothing need be read.
  if (most >= bytes.length - start && span.breaks !== -1 && hasShortLines(bytes, start, longest)) {
    const breaks = span.breaks - (line - span.line);
    return { end: breaks === 0 ? start : bytes.lastIndexOf(10) + 1, breaks };
  }
  return wholeLines(bytes, start, Math.min(bytes.length, start + most), (from, to) => to - from <= longest);
}

/** True if a few looks tell that no line is longer than `longest`. */
function hasShortLines(bytes: Uint8Array, start: number, longest: number): boolean {
  const step = longest >> 1;
  for (let at = start; at + step <= bytes.length; at += step) {
    const next = bytes.indexOf(10, at);
    if (next === -1 || next >= at + step) return false;
  }
  return true;
}

/** The lines from `start` on, breaks included, up to the first that ends after `to` or is not wanted. */
function wholeLines(
  bytes: Uint8Array,
  start: number,
  to: number,
  isWanted: (from: number, to: number) => boolean,
): LineRun {
  const run = { end: start, breaks: 0 };
  for (;;) {
    const end = bytes.indexOf(10, run.end) + 1;
    if (end === 0 || end > to || !isWanted(run.end, end)) return run;
    run.end = end;
    run.breaks++;
  }
}
