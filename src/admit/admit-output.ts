import type { Artifact, ArtifactAbout, Store } from "../contract/store.ts";
import { within } from "../deadline.ts";
import { messageOf } from "../errors.ts";
import type { Access } from "../stages/mark/access.ts";
import { encodeText } from "../stages/measure/scan.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { type SpillPlace, startSpill } from "../stages/spill/spill.ts";
import { spillNow } from "../stages/spill/spill-now.ts";
import {
  type AdmitPlan,
  type Admitted,
  admitWhole,
  type Ended,
  holdLimits,
  isCutPage,
  NOT_SAVED,
  readExitCode,
  type Summary,
  startAdmission,
  writeEnded,
} from "./admission.ts";
import { admitBlocks, admitUnwalked, holdBlocks, plainResult } from "./admit-blocks.ts";
import { type AdmittedPage, admitPage, type LoadHtmlReader, type Page, PageHolder } from "./admit-page.ts";
import { type AdmittedBlocks, isCutBlock } from "./admit-texts.ts";
import { bytesOutput, isAsItCame } from "./as-it-came.ts";
import type { KnownText, KnownTexts } from "./known-texts.ts";
import { knownText, knownTextNow } from "./known-texts.ts";
import type { ModelView } from "./model-view.ts";
import { withFaults } from "./receipts.ts";
import { redactedPlace } from "./redacted-source.ts";

/** What came of an output: its own shape for the caller, its text, and the receipt. */
export interface AdmittedOutput extends Admitted {
  output: unknown;
}

type AdmitResult = (request: AdmitPlan, result: object) => AdmittedBlocks<object>;

/** Where whole outputs are kept, how a reader gets at them, and which texts of ours are known. */
export interface AdmitPorts {
  place: SpillPlace;
  /** What a store is told of the output. */
  about: ArtifactAbout;
  /** How the marker's reader gets at an artifact. */
  access: (artifact: Artifact) => Access | Promise<Access>;
  knownTexts: KnownTexts;
  /** Replaces secrets in what the model reads, if that is asked for. */
  loadView: (() => Promise<ModelView>) | null;
  /** Makes text of web pages; without it they are cut as they are. */
  loadHtmlReader?: LoadHtmlReader | undefined;
  /** Puts a summary in place of a clamp, where a model is at hand. */
  summarize?: Summarize | undefined;
  /** How a command ended, where that is only known once its output has come. */
  exit?: PromiseLike<number | null>;
}

/** What a structured result is kept with; the model's view of it is handed in beside. */
type StructuredPorts = Omit<AdmitPorts, "loadView" | "exit"> & Partial<Pick<AdmitPorts, "loadView">>;

/** Never throws. Null: the clamp shows everything. */
export type Summarize = (ended: Ended, kept: KnownText, about: ArtifactAbout) => Promise<Summary | null>;

/** An output's bytes as they come. */
type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** An output that is read whole because nothing may be cut: beyond this it is cut all the same. */
const MAX_OFF_BYTES = 256 * 1024 * 1024;

/** Admits an output of any shape, spilling what is held back while it comes. */
export async function admitOutput(request: AdmitPlan, given: unknown, ports: AdmitPorts): Promise<AdmittedOutput> {
  const output = await given;
  const view = ports.loadView === null || request.off ? null : await ports.loadView();
  if (typeof output === "string") {
    const source = view === null || ports.knownTexts.find(output) !== null ? null : view.source();
    const text = source === null ? output : source.readText(output);
    if (source !== null && source.redactions.count > 0) {
      const shown = { ...request, source };
      const admitted = await admitChunks(shown, encodeText(text), ports, text);
      return { output: admitted.text, ...admitted };
    }
    const whole = admitWhole(output, request);
    if (whole !== null) return { output: whole.text, ...whole };
    const admitted = await admitChunks(request, encodeText(output), ports, output.toWellFormed());
    return { output: admitted.text, ...admitted };
  }
  const bytes = bytesOutput(output, request.off ? { maxBytes: MAX_OFF_BYTES } : request.limits);
  if (bytes !== null) {
    const limits = request.off && !Array.isArray(bytes.chunks) ? { maxBytes: MAX_OFF_BYTES } : request.limits;
    const source = view?.source();
    const chunks = source?.read(bytes.chunks) ?? bytes.chunks;
    const admitted = await admitChunks({ ...request, limits, source }, chunks, ports);
    return { output: (isAsItCame(admitted) ? bytes.again() : undefined) ?? admitted.text, ...admitted };
  }
  if (output instanceof Error) {
    const admitted = await admitOutput(request, output.message, ports);
    const { text } = admitted;
    return { ...admitted, output: text === output.message ? output : errorWith(output, text) };
  }
  if (typeof output === "object" && output !== null) return admitStructured(request, output, ports, view);
  // Numbers, booleans and nothing are no larger than themselves.
  const text = output === null || output === undefined ? "" : String(output);
  return { ...(await admitChunks(request, encodeText(text), ports, text)), output };
}

/** Admits bytes as they come, within their limits in any case. */
async function admitChunks(
  request: AdmitPlan,
  source: Chunks,
  ports: AdmitPorts,
  original?: string,
): Promise<Admitted> {
  return holdLimits(request, await readAndKeep(request, source, ports, original), (text) => ({ text }));
}

async function readAndKeep(
  request: AdmitPlan,
  chunks: Chunks,
  ports: AdmitPorts,
  original?: string,
): Promise<Admitted> {
  const { place, about, access, knownTexts, exit, summarize } = ports;
  const known = original === undefined ? null : knownTexts.find(original);
  // A text of ours is kept already.
  const admission = startAdmission(known === null ? request : { ...request, keepsAll: false });
  const spill = startSpill(known === null ? redactedPlace(place, request.source) : { ...place, store: null }, about);
  const holder = ports.loadHtmlReader === undefined || request.strategy.choose === undefined ? null : new PageHolder();
  const keep = (bytes: Uint8Array) => {
    holder?.add(bytes, admission.kind);
    return spill.add(bytes);
  };
  let fault: string | undefined;
  try {
    for await (const chunk of chunks) {
      const before = admission.add(chunk);
      if (before.length > 0) await keep(before);
      if (admission.over) await keep(chunk);
    }
  } catch (error) {
    fault = firstLine(error);
  }
  const { heldBytes } = admission;
  const exited = await Promise.resolve(exit).catch(() => null);
  const exitCode = readExitCode(exited) ?? request.exitCode;
  const ended = admission.end(fault, exitCode);
  if (!ended.cut) {
    // A text of ours that comes a second time says all it has to say, the exit code only where that had room.
    const closings = known === null ? ended.closings : { ...ended.closings, whole: [] };
    return writeEnded({ ...ended, closings }, NOT_SAVED, original);
  }
  const again = known === null ? null : await admitAgain(request, known, place.store);
  if (known !== null && again !== null) return remembered(writeEnded(again, known), known, knownTexts);
  if (heldBytes.length > 0) await keep(heldBytes);
  const { artifact, fault: spillFault } = await spill.end(exitCode);
  const faults = spillFault === null ? [] : [spillFault];
  const raw = await knownText(artifact, access, request.exitCode);
  const html = isCutPage(ended) ? holder?.html() : null;
  const page = await pageText(ended, { html, raw, fault, exitCode }, ports, faults);
  const { text, kept = raw } = page ?? {};
  const shown = page?.ended ?? ended;
  const summary = await summaryOf(shown, kept, { summarize, about });
  const written = writeEnded({ ...shown, summary }, kept, text);
  const admitted = page?.ended.cut === false ? written : remembered(written, kept, knownTexts);
  return { ...admitted, receipt: withFaults(admitted.receipt, faults) };
}

/** A web page as text. Null, and maybe one more fault, if the output is no page or cannot be read as one. */
async function pageText(
  { request, clamped }: Ended,
  { html, ...read }: Omit<Page, "html" | "total" | "overBy"> & { html: string | null | undefined },
  ports: Omit<StructuredPorts, "knownTexts">,
  faults: string[],
): Promise<AdmittedPage | null> {
  const { loadHtmlReader } = ports;
  const { total, overBy } = clamped;
  if (loadHtmlReader === undefined || typeof html !== "string" || total.bytes > NUMBERS.htmlBytes.default) return null;
  return admitPage(request, { ...read, html, total, overBy }, { ...ports, loadHtmlReader }, faults);
}

/** A model's summary of an output, if its tool's policy asks for one. */
async function summaryOf(
  ended: Ended,
  kept: KnownText,
  { summarize, about }: Pick<AdmitPorts, "summarize" | "about">,
): Promise<Summary | null> {
  const { request, canSummarize, clamped } = ended;
  const { summarizeOverChars: over } = request;
  if (summarize === undefined || over === undefined || !canSummarize || clamped.total.chars <= over) return null;
  return summarize(ended, kept, about);
}

/** Read at a time from an artifact. */
const READ_BYTES = 1024 * 1024;

/** A text of ours is cut anew from its artifact; null if that is gone, or not whole. */
async function admitAgain(request: AdmitPlan, known: KnownText, store: Store | null): Promise<Ended | null> {
  const { id, saved } = known;
  if (store === null || id === null || (saved !== "yes" && saved !== "local")) return null;
  const wait = <T>(promise: Promise<T>) => within(promise, NUMBERS.spillDeadlineMs.default, "reading an artifact");
  try {
    const artifact = await wait(store.find(id, request.scope));
    if (artifact === null) return null;
    const exitCode = request.exitCode ?? known.exitCode;
    // What is stored is what it is cut from now.
    const admission = startAdmission({ ...request, note: known.note, exitCode, source: undefined });
    for (let from = 0; from < artifact.bytes; from += READ_BYTES) {
      const bytes = await wait(store.read(id, request.scope, { from, to: from + READ_BYTES }));
      if (!(bytes instanceof Uint8Array) || bytes.length === 0) return null;
      admission.add(bytes);
    }
    return admission.end();
  } catch {
    return null; // the store is out of reach: the text we have serves
  }
}

function remembered(admitted: Admitted, known: KnownText, texts: KnownTexts): Admitted {
  // One with a fault says so; cut anew it would not.
  if (admitted.receipt.faults === undefined) texts.remember(admitted.text, known);
  return admitted;
}

/** Admits a structured result; `admit` says how its parts share the limits. */
export async function admitStructured(
  request: AdmitPlan,
  result: object,
  ports: StructuredPorts,
  view: ModelView | null,
  admit: AdmitResult = admitBlocks,
): Promise<AdmittedOutput> {
  const { place, about, access, knownTexts, summarize } = ports;
  const { blocks, write } = view === null ? admit(request, result) : admitRedacted(request, result, view);
  const faults: string[] = [];
  const kept: KnownText[] = [];
  for (const block of blocks) {
    const isCut = isCutBlock(block);
    const known = isCut && block.text !== null ? knownTexts.find(block.text) : null;
    const again = known === null ? null : await admitAgain(block.request, known, place.store);
    if (known !== null && again !== null) {
      block.ended = again;
      kept.push(known);
      continue;
    }
    const redacted = redactedPlace(place, block.request.source, block.text === null);
    const spill = startSpill(isCut ? redacted : { ...place, store: null }, about);
    if (isCut) for (const bytes of block.chunks()) await spill.add(bytes);
    const { artifact, fault } = await spill.end(request.exitCode);
    if (fault !== null) faults.push(fault);
    const { exitCode, note } = block.request;
    const raw = { ...(await knownText(artifact, access, exitCode)), ...(note !== undefined && { note }) };
    if (block.ended === null) {
      kept.push(raw);
      continue;
    }
    const html = isCutPage(block.ended) ? block.text : null;
    const page = await pageText(block.ended, { html, raw, fault: undefined, exitCode }, ports, faults);
    const whole = page?.kept ?? raw;
    const ended = page?.ended ?? block.ended;
    block.text = page?.text ?? block.text;
    block.ended = { ...ended, summary: await summaryOf(ended, whole, { summarize, about }) };
    kept.push(whole);
  }
  const { texts, ...admitted } = write(kept);
  texts.forEach((text, index) => {
    if (blocks[index]?.ended?.cut) knownTexts.remember(text, kept[index] as KnownText);
  });
  return holdBlocks(request, { ...admitted, receipt: withFaults(admitted.receipt, faults) });
}

/** The same before it returns, for hosts that cannot wait: what the store cannot save at once is marked as not saved. */
export function admitStructuredNow(
  request: AdmitPlan,
  result: object,
  { place, about, knownTexts }: Pick<AdmitPorts, "place" | "about" | "knownTexts">,
  access: Access,
  admit: AdmitResult = admitBlocks,
): AdmittedOutput {
  const { blocks, write } = admit(request, result);
  const spills = blocks.map((block) =>
    isCutBlock(block) ? spillNow(place, about, block.chunks()) : { artifact: null, fault: null },
  );
  const kept = blocks.map((block, index) =>
    knownTextNow(spills[index]?.artifact ?? null, access, block.request.exitCode),
  );
  const { texts, ...admitted } = write(kept);
  texts.forEach((text, index) => knownTexts.remember(text, kept[index] as KnownText));
  const faults = spills.flatMap(({ fault }) => fault ?? []);
  return holdBlocks(request, { ...admitted, receipt: withFaults(admitted.receipt, faults) });
}

/** Secrets are replaced before anything is measured or chosen, so that no cut leaves half of one. */
function admitRedacted(request: AdmitPlan, given: object, view: ModelView): AdmittedBlocks<object> {
  const maxBytes = request.limits.maxBytes ?? request.limits.maxChars ?? NUMBERS.ceilingBytes.default;
  const result = request.boundDetails ? view.details(given, NUMBERS.detailsBytes.default) : given;
  const plain = plainResult(result);
  const redacted = plain === null ? null : view.result(plain);
  // Cut at twice the size that will be shown, so that what a cut left of a secret is not.
  if (redacted === null) return admitUnwalked(request, result, view.copy(result, 2 * maxBytes));
  return admitBlocks({ ...request, source: view.sum(redacted.sources) }, redacted.result, redacted.sources);
}

const MAX_FAULT_CHARS = 200;

/** Why a stream failed, on one short line: it is told to the model. */
function firstLine(error: unknown): string {
  const [line = ""] = messageOf(error)
    .toWellFormed()
    .split(/[\r\n]/, 1);
  return line.length > MAX_FAULT_CHARS
    ? `${line.slice(0, MAX_FAULT_CHARS).toWellFormed()}...`
    : line || "unknown error";
}

/**
 * A thrown value as the model may see it. Within its limits the error itself; else a new one of the same prototype and
 * with the same own properties, its message clamped and its stack without the text. The thrown one is not changed.
 */
export async function clampError(thrown: unknown, clamp: (thrown: unknown) => Promise<unknown>): Promise<unknown> {
  if (!(thrown instanceof Error)) return clamp(thrown);
  const message = String(thrown.message);
  const clamped = String(await clamp(message));
  return clamped === message ? thrown : errorWith(thrown, clamped);
}

/** A copy of an error with another message. */
function errorWith(thrown: Error, message: string): Error {
  // Its fields are not its own: a copy would have none of them.
  if (typeof DOMException === "function" && thrown instanceof DOMException)
    return new DOMException(message, thrown.name);
  const own = Object.getOwnPropertyDescriptors(thrown);
  const hidden = (value: string) => ({ value, writable: true, enumerable: false, configurable: true });
  return Object.create(Object.getPrototypeOf(thrown), {
    ...own,
    message: hidden(message),
    stack: hidden(`${thrown.name}: ${message}`),
  });
}
