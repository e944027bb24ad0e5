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
  /** The line for which it was shown, if that looks like a failure. */
  failure: number | null;
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
    if (from <= to) all.push({ isShown: true, from, to, bytes: 0, why: "", failure: null });
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
    all.push({ isShown: false, from, to: toLine, bytes, why: whyCut(from, toLine, again), failure: null });
    next = toLine + 1;
  }
  shown(next, lines);
  const pieces = all.filter(({ isShown }) => isShown);
  for (const piece of pieces) Object.assign(piece, whyShown(piece, pieces, lines, again));
  const last = all.at(-1);
  // A receipt lists so many cuts only.
  if (recorded.moreCuts > 0 && last?.isShown)
    last.why = `with ${recorded.moreCuts} more gaps that the receipt does not list`;
  return all;
}

/** The words of a strategy for what it let go, for people. */
const CUT_WORDS: Record<string, string> = {
  surroundings: "around a line that counts",
  step: "a step of the run",
  frames: "frames of a stack trace",
  repeats: "more of the same",
  "let go early": "more of the same",
};

/** The words of a strategy for what it kept. */
const SHOWN_WORDS: Record<string, string> = {
  failure: "it looks like a failure",
  surroundings: "it stands around a line that counts",
  step: "a step of the run",
  frames: "frames of a stack trace",
};

/** Kinds that say where a piece stands. That is told from its lines. */
const PLACES = new Set(["start", "end", "edge", "let go early"]);

type Explained = NonNullable<Receipt["explained"]>[number];

function whyShown(
  { from, to }: Stretch,
  pieces: readonly Stretch[],
  lines: number,
  again: Receipt | null,
): Pick<Stretch, "why" | "failure"> {
  const isInside = from > 1 && to < lines;
  const blocks = again?.explained?.filter(({ shown, fromLine, toLine }) => shown && fromLine <= to && toLine >= from);
  const near = blocks?.toSorted((one, other) => one.toLine - one.fromLine - (other.toLine - other.fromLine))[0];
  const isNarrow = near !== undefined && near.toLine - near.fromLine <= to - from + 2;
  // A wide block names the best of its lines. At the ends of the output it is not that line that is shown.
  if (near !== undefined && !PLACES.has(near.kind) && (isNarrow || isInside)) {
    const isFailure = near.kind === "failure";
    const failure = isFailure ? Math.max(from, Math.min(to, near.lineNumber ?? from)) : null;
    // Of several pieces in a wide block nobody says which has that line.
    const { fromLine, toLine } = near;
    const others = pieces.filter(
      (each) => each.from > Math.max(1, fromLine - 1) && each.to < Math.min(lines, toLine + 1),
    );
    if (isFailure && !isNarrow && others.length > 1) return { why: "from a part that looks like a failure", failure };
    return { why: (SHOWN_WORDS[near.kind] ?? near.kind) + (isFailure ? signsIn(near) : ""), failure };
  }
  const isSample = [from - 1, to + 1].every((line) => whyCut(line, line, again) === CUT_WORDS["let go early"]);
  const place = from === 1 ? (to === lines ? "all of it" : "the start") : to === lines ? "the end" : "";
  return { why: isInside && isSample ? "a few of many similar lines" : place, failure: null };
}

/** What the features of a line are signs of. */
const SIGNS: Record<string, string> = {
  error: "an error",
  fail: "a failure",
  fatal: "something fatal",
  panic: "a crash",
  exception: "an exception",
  assert: "an assertion",
  missing: "something missing",
  invalid: "something invalid",
  denied: "something denied",
  timeout: "a timeout",
  "file:line": "a place in a file",
};

function signsIn({ features }: Explained): string {
  const names = features.flatMap((each) => /^(\S+).* \+/.exec(each)?.[1] ?? []);
  const signs = [...new Set(names.flatMap((name) => SIGNS[name] ?? []))].slice(0, 3);
  return signs.length === 0 ? "" : `: it names ${signs.join(" and ")}`;
}

function whyCut(from: number, to: number, again: Receipt | null): string {
  const block = again?.explained?.find(({ shown, fromLine, toLine }) => !shown && fromLine <= from && toLine >= to);
  return block === undefined ? "" : (CUT_WORDS[block.kind] ?? block.kind);
}

/** Where one wants to look first. */
export function firstFailure(stretches: readonly Stretch[]): number | null {
  return stretches.find(({ failure }) => failure !== null)?.failure ?? null;
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
