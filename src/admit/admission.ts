import type { Cut } from "../contract/cut.ts";
import type { Limits, Unit } from "../contract/limits.ts";
import type { Receipt } from "../contract/receipt.ts";
import type { Extent, Size, Total } from "../contract/size.ts";
import type { Focus, Strategy } from "../contract/strategy.ts";
import type { TokenCounter } from "../contract/token-counter.ts";
import { type Clamped, startClamp } from "../stages/clamp/clamp.ts";
import type { Keeping } from "../stages/mark/access.ts";
import type { CustomMarker, MarkRequest } from "../stages/mark/forms.ts";
import { tagAtEnd, withTag } from "../stages/mark/quoted.ts";
import { endedEarly, exitLine } from "../stages/mark/texts.ts";
import { type Marked, writeBinary, writeEmpty, writeMarked } from "../stages/mark/write-marked.ts";
import { describeBinary } from "../stages/measure/describe-binary.ts";
import { measureText } from "../stages/measure/measure-text.ts";
import { SAMPLE_BYTES } from "../stages/measure/scan.ts";
import { NUMBERS, PLAIN_STRATEGY } from "../stages/policy/defaults.ts";
import { writeReceipt } from "../stages/record/write-receipt.ts";

/** How one output is admitted: everything decided, nothing looked up. */
export interface AdmissionRequest {
  /** Who may read what is kept. */
  scope: string;
  tool: string;
  session: string | null;
  call: string | null;
  limits: Limits;
  strategy: Strategy;
  headShare: number;
  fold: boolean;
  counter: TokenCounter;
  exitCode: number | null;
  /** The command whose output it is, where known. */
  command?: string;
  /** What somebody is after in it. */
  focus?: Focus;
  /** Nothing is held back, binary included. */
  off?: boolean;
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
  beside?: readonly string[] | undefined;
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
export interface Admission {
  /** The bytes are only read during the call. Returns what came before and must now be spilled first. */
  add(bytes: Uint8Array): Uint8Array;
  /** True once part of the output will be held back: from here on it has to be spilled. */
  readonly over: boolean;
  readonly held: Uint8Array;
  /** What sort of output it is, once that is known. */
  readonly kind: string | null;
  /** `fault` is why the output's source ended early, if it did; `exitCode` is for one that was not known before. */
  end(fault?: string, exitCode?: number | null): Ended;
}

/** An output that came to its end. */
export interface Ended {
  /** True if something will not be shown, or not as it came (bytes that are not UTF-8), and so must be kept. */
  cut: boolean;
  /** What a summary may stand for, and the lines that end it; null where none can. */
  source: { total: Total; closing: readonly string[] } | null;
  /** How large the output is and by what limit, if it is a web page of which something will not be shown. */
  page?: { total: Total; overBy: Unit | null };
  write(keeping: Keeping, sha256: string | null, original?: string): Admitted;
}

/** What a model may see of an output, and what happened to it. */
export interface Admitted {
  text: string;
  receipt: Receipt;
  /** UTF-16 units of the whole output, which a receipt does not tell. */
  totalChars: number;
}

/** Nothing was kept: a filter, or a clamp with no store. */
export const NOT_KEPT: Keeping = {
  saved: "no",
  savedBytes: 0,
  id: null,
  access: { by: "operator" },
  redactions: { count: 0, bytes: 0 },
};

/** How media that stand in a text are called. */
const BASE64_MEDIA = "media as base64";

/** Starts the admission of one output. */
export function startAdmission(request: AdmissionRequest): Admission {
  const { exitCode: known, ...rest } = request;
  const clamp = startClamp(known === null ? rest : { ...rest, exitCode: known });
  return {
    add: (bytes) => clamp.add(bytes),
    get over() {
      return clamp.over;
    },
    get held() {
      return clamp.held;
    },
    get kind() {
      return clamp.kind;
    },
    end(fault, exitCode = request.exitCode) {
      const early = fault === undefined ? [] : [endedEarly(fault)];
      const before = request.note === undefined ? early : [...early, request.note];
      const closing = exitCode === null ? before : [...before, exitLine(exitCode)];
      const whole = exitCode === 0 ? before : closing;
      const clamped = clamp.end(whole.length === 0 ? "" : `\n${whole.join("\n")}`, exitCode ?? undefined);
      return endAdmission({ ...request, exitCode }, clamped, { early, closing, whole });
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

function endAdmission(request: AdmissionRequest, clamped: Clamped, closings: Closings): Ended {
  const isOver = clamped.held !== null && clamped.total.bytes > 0;
  const binary = request.off ? null : request.isMedia && isOver ? BASE64_MEDIA : describeBinary(clamped.sample);
  const isCut = isOver || binary !== null;
  const isKept = isCut || (clamped.replaced && !request.off);
  return {
    cut: isKept,
    source: isCut && binary === null ? { total: clamped.total, closing: closings.closing } : null,
    ...(isCut &&
      binary === null &&
      clamped.kind === "html" && { page: { total: clamped.total, overBy: clamped.overBy } }),
    write(keeping, sha256, original) {
      const written = writeText(request, clamped, binary, closings, keeping, original);
      const { tool, session, call, limits, counter, exitCode } = request;
      const faults = [...closings.early, ...clamped.faults];
      const facts = {
        tool,
        session,
        call,
        // A plain clamp stood in for one that failed.
        strategy: clamped.faults.length > 0 ? PLAIN_STRATEGY : clamped.strategy,
        ...(clamped.kind === null ? {} : { kind: clamped.kind }),
        shown: measureText(written.text, counter),
        estimated: counter.exact ? [] : (["tokens"] as const),
        limits,
        artifact: keeping.id,
        sha256,
        saved: isKept ? keeping.saved : null,
        savedBytes: keeping.savedBytes,
        exitCode,
        ...(keeping.redactions.count > 0 ? { storedRedactions: keeping.redactions } : {}),
        ...(written.binary === null ? {} : { binary: written.binary }),
        ...(request.explain && clamped.held !== null && written.binary === null
          ? { explained: clamped.held.explain?.(written.cut).slice(0, NUMBERS.receiptCuts.default) ?? [] }
          : {}),
        ...(faults.length > 0 ? { faults } : {}),
      };
      const cut = request.source?.account(written.cut) ?? written.cut;
      const receipt = writeReceipt(facts, cut, NUMBERS.receiptCuts.default);
      return { text: written.text, receipt, totalChars: cut.total.chars };
    },
  };
}

interface Written extends Marked {
  binary: string | null;
}

/** The text for the model, by what became of the output. */
function writeText(
  request: AdmissionRequest,
  { total, within, held, overBy }: Clamped,
  binary: string | null,
  { closing, whole }: Closings,
  keeping: Keeping,
  original: string | undefined,
): Written {
  const measure = measureWith(request);
  const style = request.strategy.name === "head" ? "suffix" : "indicators";
  const { limits, exitCode, marker } = request;
  const { beside } = request;
  const mark: MarkRequest = {
    limits,
    style,
    exitCode,
    closing,
    keeping,
    beside,
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
  if (held === null) return { text: withClosing(original ?? within ?? "", whole), cut: shownWhole, binary };
  const { text, cut } = writeMarked(held, total, mark, measure);
  // What is left of a text must not look like binary, or clamping it again would not give the same.
  const kind = describeBinary(new TextEncoder().encode(text.slice(0, SAMPLE_BYTES)).subarray(0, SAMPLE_BYTES));
  if (kind !== null) return described(kind);
  return { text, cut: cut.omitted.bytes > 0 ? { ...cut, cutBy: cut.cutBy ?? overBy } : cut, binary };
}

function withClosing(text: string, lines: string[]): string {
  const last = lines.join("\n");
  // A text that comes a second time has its exit line already.
  const tag = tagAtEnd(text);
  const had = lines.map((line) => withTag(line, tag)).join("\n");
  if (last === "" || text === had || text.endsWith(`\n${had}`)) return text;
  return `${text}${text.endsWith("\n") ? "" : "\n"}${last}`;
}

/** Counting tokens costs most, so it is left out while no limit asks for it. */
function measureWith({ limits, counter }: AdmissionRequest): (text: string) => Size {
  const free: TokenCounter = { ...counter, count: () => 0 };
  return (text) => measureText(text, limits.maxTokens === undefined ? free : counter);
}
