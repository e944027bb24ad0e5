import type { Cut, ExplainedBlock, Gap, Piece, Room } from "../../../contract/cut.ts";
import type { Unit } from "../../../contract/limits.ts";
import type { Size, Total } from "../../../contract/size.ts";
import type { Span } from "../../../contract/span.ts";
import type { Cutter, Sieve, StrategyRequest } from "../../../contract/strategy.ts";
import { measureText } from "../../measure/estimate-tokens.ts";
import { NUMBERS } from "../../policy/defaults.ts";
import { type Budget, budgetIn, capacityBytes, overBudget, spend } from "../fit.ts";
import { JsonBuilder } from "../json/build-json.ts";
import type { JsonNode } from "../json/json-node.ts";
import { JsonLexer } from "../json/lex-json.ts";
import { planJson } from "../json/plan-json.ts";
import { type WrittenJson, writeJson } from "../json/write-json.ts";
import type { KindSample, KindStrategy } from "./kind.ts";

/** So many bytes of a document are held for each byte that may be shown, because a short value takes many times its bytes. */
const HELD_SHARE = 24;
const MOST_HELD_BYTES = 4 * 1024 * 1024;
const LEAST_HELD_BYTES = 16 * 1024;

/** Keeps valid JSON: all of it with repeated keys once, if that fits. Otherwise every key, the first, last and unusual elements, and both ends of long strings. If an output is not JSON, keeps both ends of it. */
export const json: KindStrategy = {
  name: "json",
  exact: true,
  kinds: [{ name: "json", order: 10, is: isJson }],
  start: startJson,
};

const UNHEARD = { open() {}, close() {}, key() {}, text() {}, scalar() {} };

/** Returns true if the sample is the start of an object or an array, or of several one after another. */
function isJson({ bytes }: KindSample): boolean {
  const lexer = new JsonLexer(UNHEARD, 64);
  lexer.add(bytes);
  return !lexer.failed && (lexer.depth > 0 || lexer.values > 0);
}

function startJson(request: StrategyRequest): Sieve {
  const capacity = capacityBytes(request.limits, request.counter);
  const mostBytes = Math.max(LEAST_HELD_BYTES, Math.min(capacity * HELD_SHARE, MOST_HELD_BYTES));
  const builder = new JsonBuilder(mostBytes, NUMBERS.kindScanBytes.default, request.focus);
  const lexer = new JsonLexer(builder, mostBytes >> 3);
  return {
    add(span: Span): void {
      if (!lexer.failed) lexer.add(span.bytes);
    },
    end(total: Total, _exitCode?: number, plain?: Cutter): Cutter {
      if (!lexer.end()) return plain ?? { cut: () => nothingOf(total, null) };
      const root = outermost(builder.root);
      const { unscanned } = builder;
      const notes = new Map<Piece | Gap, string>();
      return {
        cut: (room) => {
          const cut = cutJson({ request, root, total, notes }, room);
          return unscanned.bytes === 0 ? cut : { ...cut, unscanned };
        },
        explain: (cut) => cut.parts.map((part) => explainPart(part, notes.get(part) ?? "")),
      };
    },
  };
}

interface Document {
  request: StrategyRequest;
  root: JsonNode;
  total: Total;
  /** The note of each gap of the last cut. */
  notes: Map<Piece | Gap, string>;
}

function explainPart(part: Piece | Gap, note: string): ExplainedBlock {
  const shown = "text" in part;
  const [fromLine, toLine] = shown ? part.lines : [part.fromLine, part.toLine];
  return { fromLine, toLine, shown, kind: shown ? "excerpt" : "left out", score: 0, features: [], line: note };
}

/** With fewer lines than this a document is written on one: its values need them all. */
const FEW_LINES = 8;

/** Tries until what is written takes most of the room. */
const TRIES = 12;
const ENOUGH_SHARE = 0.97;

function cutJson({ request, root, total, notes }: Document, room: Room): Cut {
  const budget = spend(budgetIn(request.limits, room), room.gap);
  const tag = room.tag ?? "";
  // Lines of JSON stay lines.
  const isMultiline = total.lines > 1 && (budget.lines >= FEW_LINES || root.kind === "lines");
  const write = (bytes: number) => writeJson(planJson(root, bytes), { isMultiline, tag });
  const most = Math.min(
    budget.bytes,
    budget.chars * 3,
    capacityBytes(request.limits, request.counter),
    MOST_HELD_BYTES,
  );
  let found = largestWithin(write, most, budget, (text) => sizeOf(text, request));
  if (omittedBytes(found.written) > 0) {
    // Without the keys that each object repeats, all of it may fit. Of a very large document not all is held.
    const written = writeJson(root, { isMultiline, tag, withRows: true });
    const isWhole = omittedBytes(written) === 0 && overBudget(sizeOf(written.text, request), budget) === null;
    if (isWhole) found = { ...found, written };
  }
  notes.clear();
  found.written.gaps.forEach((gap, index) => notes.set(gap, found.written.notes[index] as string));
  return accounted(found.written, total, found.stoppedBy);
}

/** Returns the document itself if it is one value. */
function outermost(root: JsonNode): JsonNode {
  if (root.kind !== "lines") return root;
  const [entry] = root.entries;
  return root.count === 1 && entry !== undefined && "node" in entry ? entry.node : root;
}

interface Found {
  written: WrittenJson;
  stoppedBy: Unit | null;
}

/** Stands for a document of which nothing has room. */
const NOTHING: WrittenJson = {
  text: "",
  keptBytes: 0,
  keptLines: 0,
  gaps: [],
  notes: [],
  isQuoting: false,
  hasRows: false,
};

function largestWithin(
  write: (bytes: number) => WrittenJson,
  most: number,
  budget: Budget,
  measure: (text: string) => Size,
): Found {
  let fits = -1;
  let fails = most + 1;
  let best = NOTHING;
  let stoppedBy: Unit | null = null;
  for (let bytes = most, tries = 0; tries < TRIES && bytes > fits; tries++) {
    const written = write(bytes);
    const size = measure(written.text);
    const over = overBudget(size, budget);
    if (over === null) {
      if (written.keptBytes >= best.keptBytes) best = written;
      fits = bytes;
      if (written.gaps.length === 0 || isNearly(size, budget)) break;
    } else {
      fails = bytes;
      stoppedBy = over;
    }
    // The last try is the shortest form that a document has.
    bytes = tries === TRIES - 2 && best === NOTHING ? 0 : (fits + fails) >> 1;
  }
  return { written: best, stoppedBy };
}

/** Returns true if one unit is almost used up. */
function isNearly(size: Size, budget: Budget): boolean {
  return (["bytes", "chars", "lines", "tokens"] as const).some((unit) => size[unit] >= budget[unit] * ENOUGH_SHARE);
}

function sizeOf(text: string, { counter, limits }: StrategyRequest): Size {
  return measureText(text, limits.maxTokens === undefined ? { ...counter, count: () => 0 } : counter);
}

function omittedBytes({ text, gaps }: WrittenJson): number {
  return text === "" ? Number.POSITIVE_INFINITY : gaps.reduce((sum, gap) => sum + gap.bytes, 0);
}

function accounted(written: WrittenJson, total: Total, stoppedBy: Unit | null): Cut {
  const { text, keptBytes, keptLines, gaps, isQuoting } = written;
  if (text === "") return nothingOf(total, stoppedBy);
  const omitted = omittedBytes(written);
  const restLines = total.lines - keptLines;
  return {
    parts: [
      { text, source: [0, total.bytes], lines: [1, total.lines], startsInside: false, endsInside: false },
      ...gaps,
    ],
    total,
    kept: { bytes: keptBytes, lines: keptLines },
    folded: { bytes: total.bytes - keptBytes - omitted, lines: omitted === 0 ? restLines : 0 },
    omitted: { bytes: omitted, lines: omitted === 0 ? 0 : restLines },
    cutBy: omitted === 0 ? null : stoppedBy,
    folds: written.hasRows ? "keys" : "space",
    ...(isQuoting && { isQuoting }),
  };
}

function nothingOf(total: Total, cutBy: Unit | null): Cut {
  const none = { bytes: 0, lines: 0 };
  const { bytes, lines, chars } = total;
  const gap = { fromLine: 1, toLine: lines, lines, bytes, chars };
  return { parts: [gap], total, kept: none, folded: none, omitted: { bytes, lines }, cutBy };
}
