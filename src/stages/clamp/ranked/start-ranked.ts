import type { Cut, Room } from "../../../contract/cut.ts";
import type { Extent, Size, Total } from "../../../contract/size.ts";
import type { Span } from "../../../contract/span.ts";
import type { Cutter, Focus, Sieve, StrategyRequest } from "../../../contract/strategy.ts";
import { NUMBERS } from "../../policy/defaults.ts";
import { EndHolder } from "../account.ts";
import { budgetIn, capacityBytes, decode, measureBytes } from "../fit.ts";
import {
  chooseLines,
  cutLines,
  explainLines,
  fillHoles,
  type RankClass,
  type Take,
  wholeRecords,
} from "./choose-lines.ts";
import {
  type HeldLine,
  type LineHolder,
  LineSplitter,
  RankedLines,
  type SourceLine,
  SpreadLines,
  WantedLines,
} from "./ranked-lines.ts";

/** Says how much each line of an output matters. Made anew for each output. */
export interface LineRanker {
  /** From 0, kept first, to `ranks` - 1. Called for every line in order; the line is without its break and only valid during the call. */
  rank(line: Uint8Array, number: number): number;
  ranks: number;
  /** What the lines of a rank are, in a word or two. */
  name(rank: number): string;
  /** The last rank has all lines, so that what is shown of it has no holes. */
  lastHasAll?: boolean;
  /** True if lines of a rank that is shown in part come from all over the output, not from its ends. */
  isSpread?(rank: number): boolean;
  /** Holds lines of a rank that can be told only at the end, and gives the most telling first; it is given every line. */
  late?: { rank: number; holder(mostBytes: number): LineHolder };
  /** The line ranked last is not the end of its record, as where a quoted value has a break in it. */
  isInside?(): boolean;
  /** Ranks up to this one stand even before what a call is after. */
  headerRanks?: number;
  /** Of the room, what lines up to this rank may take; all of it where not said. */
  share?(rank: number): number;
  /** Only lines that a call is after make a difference: without any both ends are kept plainly. */
  isForWanted?: boolean;
  /** Of a rank that is shown in part, how much is its start. */
  headShare: number;
}

/** Of the room, what lines may take that a call seems to be for. */
const INTENT_SHARE = 0.4;
const MOST_HELD_BYTES = 4 * 1024 * 1024;
/** Held of each rank for each byte of room: short lines cost more than their bytes, and either end may fill the room. */
const HELD_FOR_ROOM = 4;

/** Keeps whole lines by rank. Where not even one has room, both ends are kept plainly. */
export function startRanked(request: StrategyRequest, ranker: LineRanker): Sieve {
  const capacity = Math.min(capacityBytes(request.limits, request.counter), MOST_HELD_BYTES);
  const scanBytes = NUMBERS.kindScanBytes.default;
  const { focus } = request;
  const { ranks, late, headerRanks = 0 } = ranker;
  const heldBytes = Math.min(HELD_FOR_ROOM * capacity, MOST_HELD_BYTES) / (focus === undefined ? 1 : 2);
  const wanted = focus === undefined ? null : new WantedLines(heldBytes, focus);
  const classes = Array.from({ length: ranks }, (_, rank): LineHolder => {
    if (rank === late?.rank) return late.holder(MOST_HELD_BYTES);
    if (ranker.isSpread?.(rank)) return new SpreadLines(heldBytes);
    const isAround = focus !== undefined && ranker.lastHasAll && rank === ranks - 1;
    return new RankedLines(isAround ? Math.max(heldBytes, AROUND_BYTES) : heldBytes);
  });
  let continues = false;
  const take = (source: SourceLine): void => {
    if (source.bytes === null) return;
    const text = withoutBreak(source.bytes);
    const own = Math.min(ranker.rank(text, source.line), ranks - 1);
    const goesOn = ranker.isInside?.() ?? false;
    const words = own < headerRanks ? 0 : (focus?.find(text) ?? 0);
    if (isDropped(words, focus)) return;
    const line: HeldLine = { ...source, bytes: source.bytes, continues, goesOn, words, rank: own };
    continues = goesOn;
    wanted?.add(line);
    classes[own]?.add(line);
    if (ranker.lastHasAll && own < ranks - 1) classes.at(-1)?.add(line);
    if (late !== undefined) classes[late.rank]?.add(line);
  };
  const splitter = new LineSplitter(capacity, take);
  // Past what is looked at, only the end is held.
  let rest: EndHolder | null = null;
  return {
    add(span: Span): void {
      const left = Math.max(0, scanBytes - splitter.at);
      if (left > 0) splitter.add(span.bytes.subarray(0, left));
      if (span.bytes.length <= left) return;
      rest ??= new EndHolder(capacity);
      const from = span.from + left;
      rest.add({ ...span, bytes: span.bytes.subarray(left), from });
    },
    end(total: Total, _exitCode?: number, plain?: Cutter): Cutter {
      if (rest === null) splitter.end();
      const { headShare } = ranker;
      const takeOf = (rank: number): Take =>
        rank === late?.rank ? "first" : ranker.isSpread?.(rank) ? "spread" : "ends";
      const own = classes.map(
        (lines, rank): RankClass => ({
          name: ranker.name(rank),
          lines: lines.lines(),
          share: ranker.share?.(rank) ?? 1,
          headShare,
          take: takeOf(rank),
        }),
      );
      // What a call is after comes first, but for headers: the lines with the rarest words before others.
      const tiers = (wanted?.tiers() ?? []).map(
        (lines): RankClass => ({
          name: "focus",
          lines,
          share: focus?.isSoft ? INTENT_SHARE : 1,
          headShare,
          take: "ends",
        }),
      );
      if (ranker.isForWanted && tiers.length === 0 && plain !== undefined) return plain;
      const around = ranker.lastHasAll && !ranker.isForWanted ? aroundLines(tiers, own.at(-1)?.lines ?? []) : [];
      const near: RankClass = {
        name: "around the focus",
        lines: around,
        share: AROUND_SHARE,
        headShare,
        take: "first",
      };
      const ranked = [...own.slice(0, headerRanks), ...tiers, near, ...own.slice(headerRanks)];
      const unscanned = rest === null ? null : addRest(ranked, rest.region().bytes, total, splitter, focus);
      return {
        cut: (room) => {
          const cut = cutRanked(request, ranked, total, plain, room);
          return unscanned === null ? cut : { ...cut, unscanned };
        },
        explain: (cut) => explainLines(cut, ranked),
      };
    },
  };
}

/** Of the room, what lines that a call is after may take with those around them. */
const AROUND_SHARE = 0.75;
/** So much is held to show it: a source file of the usual size. */
const AROUND_BYTES = 512 * 1024;
const BEFORE = 4;
const BEHIND = 8;
const MOST_WANTED = 40;

/** Lines around those that a call is after, the nearest to the most wanted first. */
function aroundLines(tiers: readonly RankClass[], all: readonly HeldLine[]): HeldLine[] {
  const byNumber = new Map(all.map((line) => [line.line, line]));
  const around = new Set<HeldLine>();
  for (const { line } of tiers.flatMap(({ lines }) => lines).slice(0, MOST_WANTED)) {
    for (let step = 0; step <= BEHIND; step++) {
      for (const at of step > BEFORE ? [line + step] : [line + step, line - step]) {
        const near = byNumber.get(at);
        if (near !== undefined) around.add(near);
      }
    }
  }
  return [...around];
}

/** Adds the lines of an output's end that were not looked at: as good as the least. Gives what is between. */
function addRest(
  ranked: RankClass[],
  bytes: Uint8Array,
  total: Total,
  { line, from }: LineSplitter,
  focus: Focus | undefined,
): Extent {
  const first = bytes.indexOf(10);
  if (first === -1) return { bytes: total.bytes - from, lines: total.lines - line + 1 };
  const tail = bytes.subarray(first + 1);
  const size = measureBytes(tail, 0, tail.length);
  const breaks = size.lines - (tail.at(-1) === 10 || tail.length === 0 ? 0 : 1);
  const lines: HeldLine[] = [];
  const splitter = new LineSplitter(tail.length, (line) => {
    const held = line.bytes as Uint8Array;
    if (focus?.drops && isDropped(focus.find(withoutBreak(held)), focus)) return;
    lines.push({
      ...line,
      bytes: new Uint8Array(held),
      line: line.line + total.breaks - breaks,
      from: line.from + total.bytes - tail.length,
      to: line.to + total.bytes - tail.length,
      charsBefore: line.charsBefore + total.chars - size.chars,
    });
  });
  splitter.add(tail);
  splitter.end();
  const least = ranked.at(-1);
  if (least !== undefined) least.lines = [...least.lines, ...lines];
  return { bytes: total.bytes - tail.length - from, lines: total.breaks - breaks - line + 1 };
}

/** True for a line that a policy drops and does not keep. */
function isDropped(words: number, { drops = 0, keeps = 0 }: Partial<Focus> = {}): boolean {
  return (words & drops) !== 0 && (words & keeps) === 0;
}

function withoutBreak(line: Uint8Array): Uint8Array {
  const end = line.length - 1;
  if (line[end] !== 10) return line;
  return line.subarray(0, line[end - 1] === 13 ? end - 1 : end);
}

function cutRanked(
  request: StrategyRequest,
  ranked: RankClass[],
  total: Total,
  plain: Cutter | undefined,
  room: Room,
): Cut {
  const budget = budgetIn(request.limits, room);
  const { counter, limits } = request;
  const sizes = new Map<HeldLine, Size>();
  const measure = (line: HeldLine): Size => {
    let size = sizes.get(line);
    if (size === undefined) {
      size = measureBytes(line.bytes, 0, line.bytes.length);
      if (limits.maxTokens !== undefined) size.tokens = counter.count(decode(line.bytes));
      sizes.set(line, size);
    }
    return size;
  };
  const { lines, stoppedBy } = chooseLines(ranked, budget, room.gap, total.lines, measure);
  if (lines.length === 0 && plain !== undefined) return plain.cut(room);
  const all = new Map(ranked.flatMap((one) => one.lines.map((line) => [line.line, line])));
  const shown = wholeRecords(fillHoles(lines, (line) => all.get(line), room.gap, measure));
  if (shown.length === 0 && plain !== undefined) return plain.cut(room);
  return cutLines(shown, total, stoppedBy);
}
