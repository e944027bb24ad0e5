import type { Cut, Hidden, Room } from "../../../contract/cut.ts";
import type { Size, Total } from "../../../contract/size.ts";
import type { Span } from "../../../contract/span.ts";
import type { Cutter, Sieve, StrategyRequest } from "../../../contract/strategy.ts";
import { NUMBERS } from "../../policy/defaults.ts";
import { type Budget, budgetIn, budgetOf, UNITS } from "../fit.ts";
import { type FailureNames, missingIn } from "../signal/hidden.ts";
import { type Judged, judge } from "../signal/judge.ts";
import {
  fitsPinned,
  intendedRows,
  MOST_TELLING,
  messageRows,
  oddRows,
  pinEdges,
  pinFirm,
  pinFocus,
  pinIntent,
  pinKept,
  pinMessages,
  pinNames,
  pinOdd,
  pinSigns,
  tellingRows,
} from "../signal/pin-rows.ts";
import { selectRows, UnitCosts } from "../signal/select-rows.ts";
import { SignalReader } from "../signal/signal-reader.ts";
import { explainCut, writeCut } from "../signal/write-cut.ts";
import { startEdges } from "./edges.ts";
import { type KindSample, type KindStrategy, shareOfLines } from "./kind.ts";

/** Room for less than this is too little for choosing: both ends are shown. */
const LEAST: Budget = { bytes: 600, chars: 600, lines: 8, tokens: 200 };

/** What somebody is after, and the few lines that tell of a failure, are wanted before both ends. */
const LEAST_WITH_AIM: Budget = { bytes: 160, chars: 160, lines: 3, tokens: 50 };

const FEWEST_LINES = 3;

/** More characters than so many times the budget surely do not fit: some may be counted by their bytes, three at most. */
const MAY_FIT = 3;

/** Keeps what tells why something failed, and the end; if nothing failed, both ends. */
export const signal: KindStrategy = {
  name: "signal",
  kinds: [
    { name: "log", order: 50, is: isLog },
    // If a command that did something wrote it and it is nothing else, it is most likely a log.
    { name: "log", order: 100, is: ({ hasRun, lines }) => hasRun && lines.length > 0 },
  ],
  start: startSignal,
};

/** A sieve that can tell whether the output itself speaks of a failure, and whether lines stand out from the others. */
export function startSignal(request: StrategyRequest): Sieve & { tellsFailure(): boolean; hasOdd(): boolean } {
  const reader = new SignalReader({
    roomChars: roomChars(request),
    fullBytes: NUMBERS.signalFullBytes.default,
    focus: request.focus,
    known: request.known,
  });
  const edges = startEdges(request, request.headShare);
  return {
    add(span: Span): void {
      edges.add(span);
      reader.add(span);
    },
    tellsFailure: () =>
      reader.tellsFailure ||
      tellingRows(reader.store, reader.shapes).rows.length > 0 ||
      messageRows(reader.store).length > 0,
    hasOdd: () => oddRows(reader.store, reader).length > 0,
    end(total: Total, exitCode = request.exitCode): Cutter {
      const plain = edges.end(total);
      const whole = reader.end();
      const isFailure = exitCode === undefined ? reader.tellsFailure : exitCode !== 0;
      const judged = judge(reader.store, whole, isFailure, request.focus);
      const costs = new UnitCosts(reader.store, request.counter, request.limits.maxTokens !== undefined);
      const unscanned = reader.unscanned.bytes > 0 ? { unscanned: { ...reader.unscanned } } : {};
      return {
        cut: (room) => ({
          ...cutSignal({ request, judged, failures: reader.failures, costs, total, plain }, room),
          ...unscanned,
        }),
        explain: (cut) => explainCut(cut, judged, isAsked(request) ? "focus" : "keep"),
      };
    },
  };
}

/** About how many characters can be shown. */
function roomChars({ limits, counter }: StrategyRequest): number {
  const { bytes, chars, lines, tokens } = budgetOf(limits);
  return Math.max(2000, Math.min(bytes, chars, lines * 200, tokens * Math.min(counter.maxBytesPerToken, 6)));
}

/** An output that ended, and what each of its lines is worth and takes. */
interface Ended {
  request: StrategyRequest;
  judged: Judged;
  failures: FailureNames;
  costs: UnitCosts;
  total: Total;
  /** Keeps both ends. */
  plain: Cutter;
}

function cutSignal(ended: Ended, room: Room): Cut {
  const { request, judged, total, plain } = ended;
  const budget = budgetIn(request.limits, room);
  const chosen = hasRoom(ended, budget) ? chooseRows(ended, budget, room.gap) : null;
  const { kept, hidden } = chosen === null ? { kept: null, hidden: [] } : widened(ended, budget, room.gap, chosen);
  if (kept === null || !kept.includes(1)) return plain.cut(room);
  if (judged.chars <= MAY_FIT * Math.min(budget.bytes, budget.chars)) {
    const shown = plain.cut(room);
    // Folded it may fit whole.
    if (shown.omitted.bytes === 0) return shown;
  }
  const limited = UNITS.find((unit) => budget[unit] !== Number.POSITIVE_INFINITY);
  const cut = writeCut(judged.store, kept, total, limited ?? null);
  return hidden.length === 0 ? cut : { ...cut, hidden };
}

/** The share of the room for lines that a reader would miss, and how many such lines are tried. */
const MISSING_SHARE = 0.4;
const MOST_MISSING = 64;

/**
 * Gives room to what a reader of the chosen rows would miss: names of failures that a summary counts, and lines with rare
 * words that were asked for. What is kept for certain stays; the lines around it give way. What is still missing is told.
 */
function widened(ended: Ended, budget: Budget, gap: Size, kept: Uint8Array): { kept: Uint8Array; hidden: Hidden[] } {
  const { request, judged, failures } = ended;
  const missing = (rows: Uint8Array) =>
    missingIn(judged.store, rows, failures, { focus: request.focus, words: judged.words });
  const { hidden, rows } = missing(kept);
  const wider = rows.length === 0 ? null : chooseRows(ended, budget, gap, rows.slice(0, MOST_MISSING));
  const left = wider === null ? null : missing(wider);
  return wider !== null && left !== null && left.rows.length < rows.length
    ? { kept: wider, hidden: left.hidden }
    : { kept, hidden };
}

/** Returns true if somebody gave a focus. Words that a call seems to be for are none. */
function isAsked({ focus }: StrategyRequest): boolean {
  return focus !== undefined && !focus.isSoft;
}

/** Returns true if there are lines to choose from, and room for choosing. */
function hasRoom({ request, judged: { store, telling, messages }, total }: Ended, budget: Budget): boolean {
  const isTelling = messages.length > 0 || (telling.rows.length > 0 && telling.rows.length <= MOST_TELLING);
  const least = isAsked(request) || isTelling ? LEAST_WITH_AIM : LEAST;
  // Parts of a line or two are not judged by what they say.
  const hasLines = store.length > 0 && (total.lines >= FEWEST_LINES || isAsked(request));
  return hasLines && UNITS.every((unit) => budget[unit] >= least[unit]);
}

/** The rows that are shown, with those of `missed` that have room, or null if no line tells more than another. */
function chooseRows(
  { request, judged, failures, costs }: Ended,
  budget: Budget,
  gap: Size,
  missed: readonly number[] = [],
): Uint8Array | null {
  const { store, words, values, ownValues, units, telling, messages, names, odd, added, isFailure, isUnsure } = judged;
  const pinned = new Uint8Array(store.length);
  const pinning = { store, costs, budget, gap, pinned };
  const asked = isAsked(request);
  const intended = asked || words === null ? [] : intendedRows(store, words);
  if (asked && words !== null) pinFocus(pinning, words);
  else {
    if (isUnsure && [messages, telling.rows, odd, added, intended].every((rows) => rows.length === 0)) return null;
    const { keeps = 0 } = request.focus ?? {};
    if (keeps !== 0) pinKept(pinning, keeps);
    pinMessages(pinning, messages);
    pinSigns(pinning, telling.rows, telling.share);
    pinSigns(pinning, added);
    pinOdd(pinning, odd);
    pinNames(pinning, names, failures.counted);
  }
  // Large ends would leave too little for what somebody is after.
  pinEdges(pinning, isFailure || asked, request.headShare);
  if (messages.length > 0 && !fitsPinned(pinning)) {
    pinned.fill(0);
    pinMessages(pinning, messages);
  }
  pinIntent(pinning, missed, MISSING_SHARE);
  const choosing = { store, values: asked ? values : ownValues, costs, budget, gap, units, pinned };
  const kept = selectRows(choosing);
  // What a call seems to be for gets only the room of lines that tell little.
  if (intended.length === 0 || !pinFirm(pinning, kept)) return kept;
  pinIntent(pinning, intended);
  return selectRows({ ...choosing, values });
}

const TIME =
  /^\W{0,2}(?:\d{4}-\d\d-\d\d[T ]|\d\d:\d\d:\d\d|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d)/;
const LEVEL = /^(?:\S+ ){0,4}\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|SEVERE)\b/;
const STEP =
  /^(?:\$ |\+ |> \S|>>> |travis_|\[\d+\/\d+\]|npm (?:WARN|ERR!|notice)|yarn |make(?:\[\d+\])?: |g?cc |CC |CXX |Get:|Hit:|Setting up|Unpacking|Collecting |Downloading|Downloaded|Installing |Compiling |Checking |Building |Running |ok \d|not ok \d|=== RUN|--- (?:PASS|FAIL)|PASS|FAIL|Test |Tests? run:|\s*[✓✔✗✖●] )/;
/** A line of a web server's access log. */
const ACCESS = /^\S+ \S+ \S+ \[\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d /;
/** A call that was traced, and what it returned. */
const CALL = /^(?:\[?(?:pid +)?\d+\]? +)?(?:[\d:.]+ )?[a-z_]\w*\(.*\) += (?:-?\d|0x|\?)/;
/** One such line is enough: only a program that ran writes these. */
const SURE =
  /^(?:Traceback \(most recent call last\)|\s+at [\w$.<>]+\(.*\)$|\s+at .+:\d+:\d+\)?$|Exception in thread |panic: |Caused by: |\s*File "[^"]+", line \d+|=+ (?:test session starts|FAILURES|ERRORS) =+|npm ERR!|##\[(?:group|error)|travis_fold:|Started by (?:timer|user |an SCM change|upstream )|The command ".*" exited with)/;

/** What a program says while it works. */
function isLog({ lines }: KindSample): boolean {
  if (lines.some((line) => SURE.test(line))) return true;
  return shareOfLines(lines, (line) => [TIME, LEVEL, STEP, ACCESS, CALL].some((sign) => sign.test(line))) >= 0.25;
}
