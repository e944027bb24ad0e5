import type { Cut } from "../contract/cut.ts";
import type { Limits, Unit } from "../contract/limits.ts";
import type { Receipt } from "../contract/receipt.ts";
import type { Extent, Size } from "../contract/size.ts";
import type { Focus, KnownLines, Strategy } from "../contract/strategy.ts";
import type { TokenCounter } from "../contract/token-counter.ts";
import { type Clamped, limitsFor, startClamp } from "../stages/clamp/clamp.ts";
import { UNITS } from "../stages/clamp/fit.ts";
import { headTail } from "../stages/clamp/strategies/edges.ts";
import type { SavedCopy } from "../stages/mark/access.ts";
import type { CustomMarker, MarkRequest } from "../stages/mark/forms.ts";
import { endedEarly, exitLine, tagAtEnd, withTag } from "../stages/mark/texts.ts";
import {
  isLastWords,
  type Marked,
  saysExit,
  writeBinary,
  writeEmpty,
  writeMarked,
} from "../stages/mark/write-marked.ts";
import { lazySize, measureText } from "../stages/measure/estimate-tokens.ts";
import { describeBinary, encodeText, newScan, SAMPLE_BYTES, scannedLines, scanText } from "../stages/measure/scan.ts";
import { NUMBERS, PLAIN_STRATEGY } from "../stages/policy/defaults.ts";
import { LIMIT_OF } from "../values.ts";
import { cutAccount, newReceipt, plainReceipt, summaryReceipt, wholeAccount, withFaults } from "./receipts.ts";

/** How one output is admitted: everything decided, nothing looked up. */
export interface AdmitPlan {
  /** Who may read what is kept. */
  scope: string;
  tool: string;
  session: string | null;
  call: string | null;
  limits: Limits;
  /** An output of fewer characters is not cut for its lines alone: nobody asked for that limit. */
  shortChars?: number | undefined;
  strategy: Strategy;
  headShare: number;
  fold: boolean;
  /** The last good run of the same command is looked for. */
  since?: boolean;
  counter: TokenCounter;
  exitCode: number | null;
  /** The command whose output it is, where known. */
  command?: string;
  /** What somebody is after in it. */
  focus?: Focus;
  /** The last good run of the same command. */
  known?: KnownLines;
  /** Nothing is held back, binary included. */
  off?: boolean;
  /** What is shown whole is kept too. */
  keepsAll?: boolean;
  /** A structured result's `details` and `structuredContent` are bounded too. */
  boundDetails?: boolean;
  marker?: CustomMarker;
  /** The receipt says why each part is shown or not. */
  explain?: boolean;
  /** Over this many characters a cut output is summarised, where a model is at hand; absent for never. */
  summarizeOverChars?: number | undefined;
  /** An image, a sound or a file as text: where it is not shown whole it is described. */
  isMedia?: true | undefined;
  /** A line of ours that ends the text, before how a command ended. */
  note?: string | undefined;
  /** All texts of the result that this is one of, where one of them quotes a marker of ours. */
  siblings?: readonly string[] | undefined;
  /** Secrets were replaced in what is admitted, or it was made of something else: tells a cut of it in units of the source. */
  source?: SourceAccount | undefined;
}

/** A cut in units of the source, with what was replaced in it. */
export interface SourceCut extends Cut {
  redacted: Extent;
}

/** Knows where an output's source and what is admitted of it differ. */
export interface SourceAccount {
  account(cut: Cut): SourceCut;
  /** How many secrets were replaced, and how many source bytes they had. */
  readonly redactions: { count: number; bytes: number };
}

/** One output on its way in: measure, clamp, mark and record side by side, with no store and no wait. */
export interface RunningAdmission {
  /** The bytes are only read during the call. Returns what came before and must now be spilled first. */
  add(bytes: Uint8Array): Uint8Array;
  /** True once part of the output will be held back: from here on it has to be spilled. */
  readonly over: boolean;
  readonly heldBytes: Uint8Array;
  /** What sort of output it is, once that is known. */
  readonly kind: string | null;
  /** `fault` is why the output's source ended early, if it did; `exitCode` is for one that was not known before. */
  end(fault?: string, exitCode?: number | null): Ended;
}

/** An output that came to its end: how it was clamped, and what stands in place of the clamp. */
export interface Ended {
  /** With the exit code as it is known now. */
  plan: AdmitPlan;
  clamped: Clamped;
  /** What it is if it is binary: then it is described, not shown. */
  binary: string | null;
  closings: Closings;
  /** True if it must be kept: something will not be shown, or not as it came (bytes that are not UTF-8), or all is kept. */
  cut: boolean;
  /** True if a summary may stand for it. */
  canSummarize: boolean;
  /** The web page whose text it is, as it was kept. */
  page?: SpilledOutput;
  summary?: Summary | null;
}

/** A model's summary that stands for an output, or why there is none. */
export type Summary = { text: string; model: string } | { fault: string };

/** What became of a whole output in the store. */
export interface SpilledOutput extends SavedCopy {
  /** The hash of what is stored. `redactions` are the secrets that were replaced in it. */
  sha256: string | null;
  redactions: { count: number; bytes: number };
}

/** What a model may see of an output, and what happened to it. */
export interface Admitted {
  text: string;
  receipt: Receipt;
  /** UTF-16 units of the whole output, which a receipt does not tell. */
  totalChars: number;
}

/** What came of an output: its own shape for the caller, its text, and the receipt. */
export interface AdmittedOutput extends Admitted {
  output: unknown;
}

/** Nothing was saved: a filter, or a clamp with no store. */
export const NOT_SAVED: SpilledOutput = {
  saved: "no",
  savedBytes: 0,
  id: null,
  access: { by: "operator" },
  sha256: null,
  redactions: { count: 0, bytes: 0 },
};

/** What base64 data is called where it is not shown. */
const BASE64_MEDIA = "media as base64";

/** Starts the admission of one output. */
export function startAdmission(plan: AdmitPlan): RunningAdmission {
  const { exitCode: known, ...rest } = plan;
  const clamp = startClamp(known === null ? rest : { ...rest, exitCode: known });
  return {
    add: (bytes) => clamp.add(bytes),
    get over() {
      return clamp.over;
    },
    get heldBytes() {
      return clamp.heldBytes;
    },
    get kind() {
      return clamp.kind;
    },
    end(fault, exitCode = plan.exitCode) {
      const early = fault === undefined ? [] : [endedEarly(fault)];
      const before = plan.note === undefined ? early : [...early, plan.note];
      const closing = exitCode === null ? before : [...before, exitLine(exitCode)];
      const whole = exitCode === 0 ? before : closing;
      const clamped = clamp.end((text) => withClosing(text, whole, plan), exitCode ?? undefined);
      return endAdmission({ ...plan, exitCode, limits: clamped.limits }, clamped, { early, closing, whole });
    },
  };
}

/** Lines that end a text: `closing` one that was cut or empty, `whole` one that is shown as it came. */
interface Closings {
  /** That the output's source failed. */
  early: string[];
  closing: string[];
  whole: string[];
}

function endAdmission(plan: AdmitPlan, clamped: Clamped, closings: Closings): Ended {
  const isOver = clamped.cutter !== null && clamped.total.bytes > 0;
  const binary = plan.off ? null : plan.isMedia && isOver ? BASE64_MEDIA : describeBinary(clamped.sample);
  const isCut = isOver || binary !== null;
  const isKept = plan.keepsAll === true && clamped.total.bytes > 0;
  const cut = isCut || (clamped.replaced && !plan.off) || isKept;
  return { plan, clamped, binary, closings, cut, canSummarize: isCut && binary === null };
}

/** Returns true for a web page of which something will not be shown. */
export function isCutPage({ clamped, binary, cut }: Ended): boolean {
  return cut && clamped.cutter !== null && binary === null && clamped.kind === "html";
}

/** Mark and record: the text that the model reads, and its receipt. `original` is the text as it came, where it is at hand. */
export function writeEnded(ended: Ended, kept: SpilledOutput = NOT_SAVED, original?: string): Admitted {
  const { summary } = ended;
  const clamped = writeClamped(ended, kept, original);
  if (!summary) return clamped;
  const { receipt, totalChars } = clamped;
  if ("fault" in summary) return { ...clamped, receipt: withFaults(receipt, [`not summarised: ${summary.fault}`]) };
  const shown = measureText(summary.text, ended.plan.counter);
  return { text: summary.text, receipt: summaryReceipt(receipt, shown, summary.model, totalChars), totalChars };
}

function writeClamped(ended: Ended, spilled: SpilledOutput, original: string | undefined): Admitted {
  const { plan, clamped, closings, page } = ended;
  const written = writeText(ended, spilled, original);
  const cut = plan.source?.account(written.cut) ?? written.cut;
  const faults = [...closings.early, ...clamped.faults, ...(plan.focus?.faults ?? [])];
  const receipt = newReceipt(
    plan,
    {
      // A plain clamp stood in for one that failed.
      strategy: clamped.faults.length > 0 ? PLAIN_STRATEGY : clamped.strategy,
      ...(clamped.kind === null ? {} : { kind: clamped.kind }),
      shown: measureText(written.text, plan.counter),
      artifact: spilled.id,
      sha256: spilled.sha256,
      saved: ended.cut ? spilled.saved : null,
      savedBytes: spilled.savedBytes,
      ...(spilled.redactions.count > 0 ? { storedRedactions: spilled.redactions } : {}),
      ...(written.binary === null ? {} : { binary: written.binary }),
      ...(plan.explain && clamped.cutter !== null && written.binary === null
        ? { explained: clamped.cutter.explain?.(written.cut).slice(0, NUMBERS.receiptCuts.default) ?? [] }
        : {}),
      ...(faults.length > 0 ? { faults } : {}),
      ...(page === undefined ? {} : pageFacts(page, ended.cut)),
    },
    cutAccount(cut),
  );
  return { text: written.text, receipt, totalChars: cut.total.chars };
}

/** What a receipt says of the page whose text is shown; if all of the text is shown, the page is the artifact. */
function pageFacts({ id, sha256, saved, savedBytes }: SpilledOutput, isTextCut: boolean): Partial<Receipt> {
  return {
    kind: "html",
    ...(isTextCut ? {} : { artifact: id, sha256, saved, savedBytes }),
    ...(id !== null && { original: id }),
  };
}

interface Written extends Marked {
  binary: string | null;
}

/** The text for the model, by what became of the output. */
function writeText(ended: Ended, savedCopy: SavedCopy, original: string | undefined): Written {
  const { plan, binary } = ended;
  const { total, within, cutter, overBy } = ended.clamped;
  const { closing, whole } = ended.closings;
  const measure = measureWith(plan);
  const style = plan.strategy.name === "head" ? "suffix" : "indicators";
  const { limits, exitCode, marker } = plan;
  const { siblings } = plan;
  const mark: MarkRequest = {
    limits,
    style,
    exitCode,
    closing,
    savedCopy,
    siblings,
    ...(marker === undefined ? {} : { marker }),
  };
  const none = { bytes: 0, lines: 0 };
  const all = { bytes: total.bytes, lines: total.lines };
  const shownWhole: Cut = { parts: [], total, kept: all, folded: none, omitted: none, cutBy: null };
  const described = (kind: string): Written => ({
    text: writeBinary(kind, total, mark, measure),
    cut: {
      ...shownWhole,
      parts: [{ fromLine: 1, toLine: total.lines, lines: total.lines, bytes: total.bytes, chars: total.chars }],
      kept: none,
      omitted: all,
      cutBy: overBy,
    },
    binary: kind,
  });
  if (total.bytes === 0) return { text: writeEmpty(mark, measure), cut: shownWhole, binary };
  if (binary !== null) return described(binary);
  if (cutter === null) return { text: withClosing(original ?? within ?? "", whole, plan), cut: shownWhole, binary };
  const { text, cut } = writeMarked(cutter, total, mark, measure);
  // What is left of a text must not look like binary, or clamping it again would not give the same.
  const kind = describeBinary(new TextEncoder().encode(text.slice(0, SAMPLE_BYTES)).subarray(0, SAMPLE_BYTES));
  if (kind !== null) return described(kind);
  if (cut.omitted.bytes === 0) return { text, cut, binary };
  return { text, cut: { ...cut, cutBy: boundBy(cut, overBy, limits) }, binary };
}

/** What bound a cut: where only our markers went over a limit, it is the limit that the output was over. */
export function boundBy({ cutBy, total }: Cut, overBy: Unit | null, limits: Limits): Unit | null {
  const isBound = cutBy !== null && (cutBy === "tokens" || total[cutBy] > (limits[LIMIT_OF[cutBy]] ?? 0));
  return isBound ? cutBy : (overBy ?? cutBy);
}

function withClosing(text: string, lines: string[], plan: AdmitPlan): string {
  const last = lines.join("\n");
  // A text that comes a second time has its exit line already.
  const tag = tagAtEnd(text);
  const had = lines.map((line) => withTag(line, tag)).join("\n");
  if (last === "" || text === had || text.endsWith(`\n${had}`) || saysExit(text, last)) return text;
  const closed = `${text}${text.endsWith("\n") ? "" : "\n"}${last}`;
  // Our last words had no room for these lines when they were written; they are not cut for them either.
  if (isLastWords(text) && !isWithin(measureWith(plan)(closed), limitsFor(plan, text.length))) return text;
  return closed;
}

/** Counting tokens costs most, so it is left out while no limit asks for it. */
function measureWith({ limits, counter }: AdmitPlan): (text: string) => Size {
  const free: TokenCounter = { ...counter, count: () => 0 };
  return (text) => measureText(text, limits.maxTokens === undefined ? free : counter);
}

/** A command's exit code as somebody says it, a numeral included; null for what is none. */
export function readExitCode(value: unknown): number | null {
  const code = typeof value === "string" && /^-?\d+$/.test(value.trim()) ? Number(value) : value;
  return Number.isSafeInteger(code) ? (code as number) : null;
}

/** Returns true if a size is inside every limit. Units that have none are not read: counting tokens costs most. */
export function isWithin(size: Size, limits: Limits): boolean {
  return UNITS.every(
    (unit) => limits[LIMIT_OF[unit]] === undefined || size[unit] <= (limits[LIMIT_OF[unit]] as number),
  );
}

/**
 * The promise of every receipt, checked: what is shown is within the limits. Where a fault of ours, or a counter that
 * changes its mind, would pass one, a plain clamp of what would have been shown stands in and the receipt says so.
 */
export function holdLimits<A extends Admitted>(
  plan: AdmitPlan,
  admitted: A,
  put: (text: string) => Pick<A, "text">,
): A {
  const { counter, off } = plan;
  const { shown, limits } = admitted.receipt;
  if (off || isWithin(shown, limits)) return admitted;
  const over = UNITS.filter((unit) => shown[unit] > (limits[LIMIT_OF[unit]] ?? Number.POSITIVE_INFINITY));
  const changed = put(plainClamp(admitted.text, plan));
  return { ...admitted, ...changed, receipt: plainReceipt(admitted.receipt, measureText(changed.text, counter), over) };
}

/** A text within the limits by the plainest strategy; nothing where even that is over. */
function plainClamp(text: string, plan: AdmitPlan): string {
  const { marker: _marker, focus: _focus, source: _source, note: _note, isMedia: _isMedia, ...plain } = plan;
  const admission = startAdmission({ ...plain, strategy: headTail, fold: false, exitCode: null });
  for (const bytes of encodeText(text)) admission.add(bytes);
  const { text: clamped, receipt } = writeEnded(admission.end(), NOT_SAVED, text);
  return isWithin(receipt.shown, plan.limits) ? clamped : "";
}

/**
 * The short way for what nearly every output is: a text within its limits, to which nothing is added. Null if it is
 * anything else. It gives what the long way gives, in a fiftieth of the time.
 */
export function admitWhole(text: string, plan: AdmitPlan): Admitted | null {
  const { counter, exitCode, keepsAll } = plan;
  const { length } = text;
  const limits = limitsFor(plan, length);
  const { maxBytes, maxChars, maxLines, maxTokens } = limits;
  if (keepsAll) return null;
  if (length === 0 || length > (maxBytes ?? length) || length > (maxChars ?? length) || (exitCode ?? 0) !== 0)
    return null;
  const scan = newScan();
  if (scanText(scan, text) !== 0 || text.startsWith("%PDF-") || !text.isWellFormed()) return null;
  const lines = scannedLines(scan);
  const { bytes } = scan;
  if (bytes > (maxBytes ?? bytes) || lines > (maxLines ?? lines)) return null;
  const shown = lazySize(text, { bytes, lines }, counter);
  if (maxTokens !== undefined && shown.tokens > maxTokens) return null;
  const subject = { ...plan, limits };
  const receipt = newReceipt(subject, { strategy: plan.strategy.name, shown }, wholeAccount({ bytes, lines }));
  return { text, receipt, totalChars: length };
}
