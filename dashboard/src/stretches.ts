import type { Receipt } from "./api.ts";

/** Lines that belong together: shown to the model, or not. */
export interface Stretch {
  isShown: boolean;
  from: number;
  to: number;
  /** Of what is not shown. */
  bytes: number;
  /** Why, in a few words; empty where nobody says. */
  why: string;
}

/**
 * Which lines of an output the model saw. `again` is the receipt of the text made again, which says why; both list the
 * same cuts. The lines of a cut may be partly shown only where the cut begins or ends inside a line.
 */
export function stretchesOf(recorded: Receipt, lines: number, block: number | null, again: Receipt | null): Stretch[] {
  const cuts = recorded.cuts.filter((cut) => block === null || cut.block === undefined || cut.block === block);
  const all: Stretch[] = [];
  let next = 1;
  const shown = (from: number, to: number) => {
    if (from <= to) all.push({ isShown: true, from, to, bytes: 0, why: whyShown(from, to, lines, again) });
  };
  for (const { fromLine, toLine, bytes } of cuts) {
    const from = Math.max(next, fromLine);
    if (from > toLine) {
      // Two cuts in one line.
      const last = all.at(-1);
      if (last !== undefined && !last.isShown) last.bytes += bytes;
      continue;
    }
    shown(next, from - 1);
    all.push({ isShown: false, from, to: toLine, bytes, why: whyCut(from, toLine, again) });
    next = toLine + 1;
  }
  shown(next, lines);
  const last = all.at(-1);
  // A receipt lists so many cuts only.
  if (recorded.moreCuts > 0 && last?.isShown)
    last.why = `with ${recorded.moreCuts} more gaps that the receipt does not list`;
  return all;
}

/** The words of a strategy for what it kept, for people. */
const KINDS: Record<string, string> = {
  failure: "looks like a failure",
  surroundings: "around a line that counts",
  edge: "start or end",
  start: "the start",
  end: "the end",
  step: "a step of the run",
  frames: "frames of a stack trace",
  repeats: "more of the same",
  "let go early": "more of the same",
};

function whyShown(from: number, to: number, lines: number, again: Receipt | null): string {
  const blocks = again?.explained?.filter(({ shown, fromLine, toLine }) => shown && fromLine <= to && toLine >= from);
  const near = blocks?.toSorted((one, other) => one.toLine - one.fromLine - (other.toLine - other.fromLine))[0];
  // A wide block names the best of its lines. At the ends of the output it is not that line that is shown.
  if (near !== undefined && (near.toLine - near.fromLine <= to - from + 2 || (from > 1 && to < lines))) {
    const features = near.features.filter((each) => each.includes("+")).map((each) => each.replace(/ \+[\d.]+$/, ""));
    return [KINDS[near.kind] ?? near.kind, features.slice(0, 3).join(", ")].filter(Boolean).join(": ");
  }
  if (from === 1) return to === lines ? "all of it" : "the start";
  if (to === lines) return "the end";
  return "";
}

function whyCut(from: number, to: number, again: Receipt | null): string {
  const block = again?.explained?.find(({ shown, fromLine, toLine }) => !shown && fromLine <= from && toLine >= to);
  return block === undefined ? "" : (KINDS[block.kind] ?? block.kind);
}

/** The stretch in which a line is. */
export function stretchAt(stretches: readonly Stretch[], line: number): Stretch | undefined {
  let [low, high] = [0, stretches.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((stretches[middle]?.to ?? 0) < line) low = middle + 1;
    else high = middle;
  }
  return stretches[low];
}
