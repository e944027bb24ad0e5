import type { Cut, ExplainedBlock, Gap, Piece, Room } from "../../../contract/cut.ts";
import type { Unit } from "../../../contract/limits.ts";
import type { Size, Total } from "../../../contract/size.ts";
import type { Span } from "../../../contract/span.ts";
import type { Cutter, Sieve, StrategyRequest } from "../../../contract/strategy.ts";
import { measureText } from "../../measure/measure-text.ts";
import { NUMBERS } from "../../policy/defaults.ts";
import { type Budget, budgetIn, capacityBytes, overBudget, spend } from "../fit.ts";
import { JsonBuilder } from "../json/build-json.ts";
import type { JsonNode } from "../json/json-node.ts";
import { JsonLexer } from "../json/lex-json.ts";
import { planJson } from "../json/plan-json.ts";
import { type WrittenJson, writeJson } from "../json/write-json.ts";
import type { KindSample, KindStrategy } from "./kind.ts";

/** Held of a document, for each byte that may be shown: a short value costs many times its bytes. With no limit on bytes, this much in all. */
const HELD_SHARE = 24;
const MOST_HELD_BYTES = 4 * 1024 * 1024;
const LEAST_HELD_BYTES = 16 * 1024;

/** Keeps JSON valid: every key, first, last and unusual elements, both ends of long strings. If it is not JSON, both ends are kept. */
export const json: KindStrategy = {
  name: "json",
  exact: true,
  kinds: [{ name: "json", order: 10, is: isJson }],
  start: startJson,
};

const UNHEARD = { open() {}, close() {}, key() {}, text() {}, scalar() {} };

/** JSON, or JSON values one after another: an object or an array that is right as far as the sample goes. */
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
  /** What is said of each gap of the last cut. */
  notes: Map<Piece | Gap, string>;
}

function explainPart(part: Piece | Gap, note: string): ExplainedBlock {
  const shown = "text" in part;
  const [fromLine, toLine] = shown ? part.lines : [part.fromLine, part.toLine];
  return { fromLine, toLine, shown, kind: shown ? "excerpt" : "left out", score: 0, features: [], line: note };
}

/** Tries until what is written takes most of the room. */
const TRIES = 12;
const ENOUGH_SHARE = 0.97;

function cutJson({ request, root, total, notes }: Document, room: Room): Cut {
  const budget = spend(budgetIn(request.limits, room), room.gap);
  const tag = room.tag ?? "";
  const write = (bytes: number) => writeJson(planJson(root, bytes), total.lines > 1, tag);
  const most = Math.min(
    budget.bytes,
    budget.chars * 3,
    capacityBytes(request.limits, request.counter),
    MOST_HELD_BYTES,
  );
  const found = largestWithin(write, most, budget, (text) => sizeOf(text, request));
  notes.clear();
  found.written.gaps.forEach((gap, index) => notes.set(gap, found.written.notes[index] as string));
  return accounted(found.written, total, found.stoppedBy);
}

/** The document itself, where it is one value. */
function outermost(root: JsonNode): JsonNode {
  if (root.kind !== "lines") return root;
  const [entry] = root.entries;
  return root.count === 1 && entry !== undefined && "node" in entry ? entry.node : root;
}

interface Found {
  written: WrittenJson;
  stoppedBy: Unit | null;
}

/** Nothing of a document has room. */
const NOTHING: WrittenJson = { text: "", keptBytes: 0, keptLines: 0, gaps: [], notes: [], isQuoting: false };

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
    // The last try is the least that can be said of a document.
    bytes = tries === TRIES - 2 && best === NOTHING ? 0 : (fits + fails) >> 1;
  }
  return { written: best, stoppedBy };
}

/** True if a unit is used up but for little. */
function isNearly(size: Size, budget: Budget): boolean {
  return (["bytes", "chars", "lines", "tokens"] as const).some((unit) => size[unit] >= budget[unit] * ENOUGH_SHARE);
}

function sizeOf(text: string, { counter, limits }: StrategyRequest): Size {
  return measureText(text, limits.maxTokens === undefined ? { ...counter, count: () => 0 } : counter);
}

function accounted(
  { text, keptBytes, keptLines, gaps, isQuoting }: WrittenJson,
  total: Total,
  stoppedBy: Unit | null,
): Cut {
  if (text === "") return nothingOf(total, stoppedBy);
  const omitted = gaps.reduce((sum, gap) => sum + gap.bytes, 0);
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
    folds: "space",
    ...(isQuoting && { isQuoting }),
  };
}

function nothingOf(total: Total, cutBy: Unit | null): Cut {
  const none = { bytes: 0, lines: 0 };
  const { bytes, lines, chars } = total;
  const gap = { fromLine: 1, toLine: lines, lines, bytes, chars };
  return { parts: [gap], total, kept: none, folded: none, omitted: { bytes, lines }, cutBy };
}
