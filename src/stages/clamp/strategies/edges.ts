import type { Cut, Gap, Room } from "../../../contract/cut.ts";
import type { Unit } from "../../../contract/limits.ts";
import type { Size, Total } from "../../../contract/size.ts";
import type { Span } from "../../../contract/span.ts";
import type { Cutter, Sieve, Strategy, StrategyRequest } from "../../../contract/strategy.ts";
import { newScan, scanBytes } from "../../measure/scan.ts";
import { Accounts, EndHolder, type HeldSpan, type Region, type Shown, StartHolder } from "../account.ts";
import {
  alignEnd,
  alignStart,
  type Budget,
  budgetIn,
  capacityBytes,
  decode,
  fitEnd,
  fitStart,
  measureBytes,
  nextCharacter,
  shareOf,
  spend,
  UNITS,
} from "../fit.ts";
import type { KindSample, KindStrategy } from "./kind.ts";

/** A character that stands half outside what is held must still be seen whole. */
const LONGEST_CHARACTER = 4;

/** Keeps the start, the end, or both: `share` of the room goes to the start, and what one side leaves the other gets. */
export function startEdges(request: StrategyRequest, share: number): Sieve {
  const capacity = capacityBytes(request.limits, request.counter) + LONGEST_CHARACTER;
  const start = share > 0 ? new StartHolder(capacity) : null;
  const end = share < 1 ? new EndHolder(capacity) : null;
  let renderedBytes = 0;
  return {
    add(span: Span): void {
      renderedBytes += span.bytes.length;
      start?.add(span);
      end?.add(span);
    },
    end(total: Total): Cutter {
      const nothing: Region = { bytes: new Uint8Array(0), at: renderedBytes, spans: [] };
      const regions = { start: start?.region() ?? { ...nothing, at: 0 }, end: end?.region() ?? nothing };
      return { cut: (room) => cutEdges({ ...request, ...regions, share, renderedBytes, total }, room) };
    },
  };
}

interface Edges extends StrategyRequest {
  start: Region;
  end: Region;
  share: number;
  renderedBytes: number;
  total: Total;
}

function cutEdges(edges: Edges, room: Room): Cut {
  const { start, end, total, renderedBytes, counter } = edges;
  const budget = budgetIn(edges.limits, room);
  const whole = edges.share < 1 && end.at === 0 ? end : start;
  if (
    whole.bytes.length === renderedBytes &&
    fitStart(whole.bytes, 0, renderedBytes, budget, counter).at === renderedBytes
  ) {
    const all = { region: whole, from: 0, to: renderedBytes, firstLine: 1, isEnd: true };
    return joinShown(total, [new Accounts(total).add(all)], null, null);
  }
  const { startTo, endFrom, stoppedBy } = chooseEdges(edges, spend(budget, room.gap));
  const accounts = new Accounts(total);
  const first =
    startTo > 0
      ? accounts.add({ region: start, from: 0, to: startTo, firstLine: 1, isEnd: startTo === renderedBytes })
      : null;
  const firstLine = total.breaks + 1 - sourceBreaks(end, endFrom);
  const last =
    endFrom < end.bytes.length
      ? accounts.add({ region: end, from: endFrom, to: end.bytes.length, firstLine, isEnd: true })
      : null;
  return joinShown(total, [first, last], gapBetween(total, first, last), stoppedBy);
}

interface Choice {
  /** Where the kept start stops, in the start region. */
  startTo: number;
  /** Where the kept end begins, in the end region. */
  endFrom: number;
  stoppedBy: Unit | null;
}

function chooseEdges(edges: Edges, budget: Budget): Choice {
  const { start, end, share, renderedBytes, counter } = edges;
  const stops: (Unit | null)[] = [];
  const fitFirst = (within: Budget): number => {
    const fit = fitStart(start.bytes, 0, start.bytes.length, within, counter);
    stops.push(fit.stoppedBy);
    return outsideNotes(start, alignEnd(start.bytes, 0, fit.at, fit.at === renderedBytes), "before");
  };
  const sync = end.at === 0 ? 0 : nextCharacter(end.bytes, 0, end.bytes.length);
  const fitLast = (startTo: number, within: Budget): number => {
    const lowest = Math.max(sync, startTo - end.at);
    const fit = fitEnd(end.bytes, lowest, end.bytes.length, within, counter);
    stops.push(fit.stoppedBy);
    const at = outsideNotes(end, alignStart(end.bytes, fit.at, end.bytes.length, fit.at + end.at === 0), "after");
    return at + end.at === startTo ? at : pastRepeats(end, at);
  };
  if (share >= 1) return { startTo: fitFirst(budget), endFrom: end.bytes.length, stoppedBy: firstOf(stops) };
  let startTo = share > 0 ? fitFirst(shareOf(budget, share)) : 0;
  stops.length = 0;
  const endFrom = fitLast(startTo, spend(budget, sizeOf(start, 0, startTo, edges)));
  if (share > 0) {
    const left = spend(budget, sizeOf(end, endFrom, end.bytes.length, edges));
    const further = fitFirst(left);
    if (further > startTo && further <= end.at + endFrom) startTo = further;
  }
  return { startTo, endFrom, stoppedBy: firstOf(stops) };
}

/** Chooses the limit that is named if several stopped a side. */
function firstOf(stops: (Unit | null)[]): Unit | null {
  return UNITS.find((unit) => stops.includes(unit)) ?? null;
}

function sizeOf(region: Region, from: number, to: number, { counter, limits }: Edges): Size {
  const size = measureBytes(region.bytes, from, to);
  if (limits.maxTokens !== undefined) size.tokens = counter.count(decode(region.bytes.subarray(from, to)));
  return size;
}

/** A note is shown whole or not at all. */
function outsideNotes(region: Region, at: number, side: "before" | "after"): number {
  const position = region.at + at;
  const note = region.spans.find(
    (span) => span.kind === "note" && span.at < position && position < span.at + span.length,
  );
  if (note === undefined) return at;
  return side === "before" ? Math.max(0, note.at - region.at) : note.at + note.length - region.at;
}

const BREAK = 10;

/** Behind a note on repeats that stands there, or behind a part of a line: it speaks of a line that is shown whole. */
function pastRepeats(region: Region, at: number): number {
  const { bytes } = region;
  const isInside = region.at + at > 0 && bytes[at - 1] !== BREAK;
  const lineEnd = isInside ? bytes.indexOf(BREAK, at) + 1 : 0;
  const places = lineEnd > 0 ? [at, lineEnd] : [at];
  const note = region.spans.find((span) => span.counts === "folded" && places.includes(span.at - region.at));
  return note === undefined ? at : note.at - region.at + note.length;
}

/** Source line breaks from region byte `from` to the region's end. */
function sourceBreaks(region: Region, from: number): number {
  return region.spans.reduce((breaks, span) => breaks + breaksIn(region, span, from), 0);
}

function breaksIn(region: Region, span: HeldSpan, from: number): number {
  const start = span.at - region.at;
  if (start + span.length <= from && !(span.length === 0 && start >= from)) return 0;
  if (span.kind !== "source" && start >= from) return span.breaks;
  const scan = newScan();
  scanBytes(scan, region.bytes.subarray(Math.max(0, start, from), Math.max(0, start + span.length)));
  return scan.breaks;
}

function gapBetween(total: Total, first: Shown | null, last: Shown | null): Gap {
  const fromLine = 1 + (first?.consumed.breaks ?? 0);
  const toLine = last === null ? total.lines : last.piece.lines[0] - (last.piece.startsInside ? 0 : 1);
  const parts = (first?.piece.endsInside ? 1 : 0) + (last?.piece.startsInside ? 1 : 0);
  return {
    fromLine,
    toLine,
    lines: Math.max(0, toLine - fromLine + 1 - parts),
    bytes: total.bytes - (first?.consumed.bytes ?? 0) - (last?.consumed.bytes ?? 0),
    chars: Math.max(0, total.chars - (first?.consumed.chars ?? 0) - (last?.consumed.chars ?? 0)),
  };
}

function joinShown(total: Total, shown: (Shown | null)[], gap: Gap | null, stoppedBy: Unit | null): Cut {
  const cut: Cut = {
    parts: [],
    total,
    kept: { bytes: 0, lines: 0 },
    folded: { bytes: 0, lines: 0 },
    omitted: { bytes: 0, lines: 0 },
    cutBy: stoppedBy,
  };
  const omit = (omitted: Gap) => {
    cut.parts.push(omitted);
    cut.omitted.bytes += omitted.bytes;
    cut.omitted.lines += omitted.lines;
  };
  shown.forEach((part, index) => {
    if (index === 1 && gap !== null && gap.bytes > 0) omit(gap);
    if (part === null) return;
    part.piece.source = sourceRange(part, index, total);
    cut.parts.push(part.piece);
    part.noted.forEach(omit);
    cut.kept.bytes += part.kept.bytes;
    cut.kept.lines += part.kept.lines;
    cut.folded.bytes += part.folded.bytes;
    cut.folded.lines += part.folded.lines;
  });
  const [first, last] = shown;
  if (
    first &&
    last &&
    first.piece.endsInside &&
    last.piece.startsInside &&
    first.piece.lines[1] === last.piece.lines[0]
  ) {
    cut.kept.lines--;
  }
  return cut;
}

function sourceRange(shown: Shown, index: number, total: Total): [number, number] {
  const { bytes } = shown.consumed;
  return index === 0 ? [0, bytes] : [total.bytes - bytes, total.bytes];
}

/** Keeps the start. */
export const head: Strategy = { name: "head", start: (request) => startEdges(request, 1) };

/** Keeps the end. */
export const tail: Strategy = { name: "tail", start: (request) => startEdges(request, 0) };

const PAGE = /^(?:<!--(?:(?!-->)[^])*-->|<\?xml[^>]*>|\s)*<(?:!doctype html|html|head|body)\b/i;

/** Keeps both ends. */
export const headTail: KindStrategy = {
  name: "head-tail",
  kinds: [{ name: "html", order: 30, is: isPage }],
  start: (request) => startEdges(request, request.headShare),
};

/** A web page. */
export function isPage({ lines }: KindSample): boolean {
  return PAGE.test(lines.slice(0, 20).join("\n").slice(0, 2000));
}
