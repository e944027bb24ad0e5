import type { Limits } from "../contract/limits.ts";
import type { OutputStream } from "../contract/output.ts";
import type { KnownLines } from "../contract/strategy.ts";
import { within } from "../deadline.ts";
import { messageOf } from "../errors.ts";
import { startUtf16, type Utf16Decoder } from "../stages/measure/decode-utf16.ts";
import { bytesOf, isStream, piecesOf, readChunks } from "../stages/measure/read-chunks.ts";
import { encodeText } from "../stages/measure/scan.ts";
import { definedOnly } from "../stages/policy/check-row.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { hostTokens, isCut, logCut } from "../stages/record/events.ts";
import { startSpill } from "../stages/spill/spill.ts";
import { isObject } from "../values.ts";
import {
  type AdmitPlan,
  type Admitted,
  type AdmittedOutput,
  admitWhole,
  holdLimits,
  NOT_SAVED,
  readExitCode,
  startAdmission,
  writeEnded,
} from "./admission.ts";
import type { AdmitRequest } from "./admit-request.ts";
import { admitStructured } from "./admit-structured.ts";
import { admitPlainly } from "./clamp-text.ts";
import { cutAnew, type KnownText, type KnownTexts, knownText } from "./known-texts.ts";
import type { AdmitPorts, OutputPorts } from "./ports.ts";
import { halvesOf, inUtf16, withFaults } from "./receipts.ts";
import { redactedPlace, safeMade } from "./redaction.ts";
import { PageHolder, standInFor } from "./stand-in.ts";
import { errorWith } from "./tool-shapes.ts";

/** What the caller gets of an output. */
type Returned = Promise<Omit<AdmittedOutput, "totalChars">>;

/** Admits outputs: new ones, and old ones that are in a request, which is not held up for a model's summary. */
export interface Admits {
  admit(request: AdmitRequest): Returned;
  /**
   * For a result that no `admit` has seen. It is logged as a warning. With `isRecordedLater` nobody waits for the ledger, whose
   * faults are logged and do not stand on the receipt.
   */
  admitOld(request: AdmitRequest & { isRecordedLater?: boolean }): Returned;
  /** For a cut that may never be sent: it is recorded only when `record` is called. */
  tryOld(request: AdmitRequest): Promise<Trial>;
}

type Trial = Awaited<Returned> & { record(): Promise<string[]> };

/**
 * The way of an output, in order:
 *
 * 1. policy: the plan says the limits, the strategy and all else that applies (plan-output.ts).
 * 2. measure, clamp and spill: side by side, chunk by chunk (`passChunks` below; admission.ts has measure and clamp).
 * 3. mark: the text that the model reads is written from the cut (`writeEnded` in admission.ts).
 * 4. record: the receipt goes to the ledger, the logs and the listeners.
 *
 * It never throws for what the output is: if a step fails by a fault of ours, a plain clamp stands in.
 */
export function newAdmit(ports: AdmitPorts): Admits {
  const pass = async (request: AdmitRequest, level: "info" | "warn", isRecovery = false): Promise<Trial> => {
    const plan = ports.planFor(request);
    const { output, isUpdate = false } = request;
    const tool = await ports.safeName(plan.tool);
    const made = await safeMade(ports.redaction, request);
    const passing = portsFor(request, plan, { tool, ...made }, ports);
    const { totalChars, ...admitted } = await admitOutput(plan, output, passing).catch((error: unknown) =>
      admitAfterFault(plan, output, error, passing.loadView),
    );
    if (isUpdate) return { ...admitted, record: async () => [] };
    const receipt = withFaults(admitted.receipt, [
      ...exitFaults(request, plan),
      ...(admitted.receipt.artifact === null ? [] : ports.placeFaults),
    ]);
    const record = () => {
      if (isCut(receipt))
        logCut(ports.logger, level, { tool, beforeChars: totalChars, afterChars: receipt.shown.chars });
      const host = request.hostLimits ?? ports.hostLimits;
      // What stands in a request already was about to be sent whole.
      const usual =
        isCut(receipt) && request.via === undefined ? hostTokens(receipt, totalChars, USUAL_HOST) : undefined;
      const more = definedOnly({
        // A host of which nothing is said would have shown no less than we did.
        hostTokens: host ? hostTokens(receipt, totalChars, host) : usual && Math.max(usual, receipt.shown.tokens),
        command: made.command ?? undefined,
        folder: made.folder ?? undefined,
        ...request.via,
      });
      return ports.recorder.receipt(receipt, Object.keys(more).length === 0 ? null : more, isRecovery);
    };
    return { ...admitted, receipt, record };
  };
  const admit = async (request: AdmitRequest, level: "info" | "warn"): Returned => {
    const { record, ...admitted } = await pass(request, level);
    return { ...admitted, receipt: withFaults(admitted.receipt, await record()) };
  };
  return {
    admit: (request) => admit(request, "info"),
    async admitOld({ isRecordedLater = false, ...request }) {
      const old = { ...request, summarize: false, since: false } as const;
      if (!isRecordedLater) return admit(old, "warn");
      const { record, ...admitted } = await pass(old, "warn");
      void record().catch(() => {});
      return admitted;
    },
    tryOld: (request) => pass({ ...request, summarize: false, since: false }, "info", true),
  };
}

/** A host that has no limits of its own is taken to send what fits under the usual ceiling. */
const USUAL_HOST = { maxBytes: NUMBERS.ceilingBytes.default, maxLines: NUMBERS.ceilingLines.default };

/** What this output passes with. A partial result is not saved and not summarised. */
function portsFor(
  { exitCode: exit, isUpdate = false, reader }: AdmitRequest,
  plan: AdmitPlan,
  made: { tool: string; command: string | null; folder: string | null },
  { place, accessTo, knownTexts, redaction, summarize, lastGood, loadHtmlReader }: AdmitPorts,
): OutputPorts {
  const { scope, session, call } = plan;
  const isSaved = !isUpdate && (!plan.off || plan.keepsAll === true);
  return {
    place: isSaved ? place : { ...place, store: null },
    about: { scope, session, call, ...made },
    access: (artifact) => reader ?? accessTo(artifact),
    knownTexts,
    loadView: redaction?.loadView ?? null,
    summarize: isUpdate ? undefined : summarize,
    lastGood: plan.since && isSaved ? lastGood : undefined,
    loadHtmlReader: isUpdate ? undefined : loadHtmlReader,
    exit: typeof exit === "object" && exit !== null ? exit : undefined,
  };
}

/** What only a run shows to be wrong (a signal's name) must not cost its output. */
function exitFaults({ exitCode: exit }: AdmitRequest, { exitCode }: AdmitPlan): string[] {
  if (typeof exit !== "string" || exitCode !== null) return [];
  return [`exitCode must be a whole number; got ${JSON.stringify(String(exit).slice(0, 40))}`];
}

/** A plain clamp of what can still be read. What cannot be redacted is not shown. */
async function admitAfterFault(
  plan: AdmitPlan,
  output: unknown,
  error: unknown,
  loadView: OutputPorts["loadView"],
): Promise<AdmittedOutput> {
  if (plan.off || loadView === null) return admitPlainly(plan, output, error);
  const view = await loadView().catch(() => null);
  return view === null ? admitPlainly(plan, "", error) : admitPlainly(plan, output, error, view);
}

/** An output that is read whole because nothing may be cut: beyond this it is cut all the same. */
const MAX_OFF_BYTES = 256 * 1024 * 1024;

/** Measures, clamps, spills and marks an output of any shape. */
async function admitOutput(plan: AdmitPlan, given: unknown, ports: OutputPorts): Promise<AdmittedOutput> {
  const output = await given;
  const view = ports.loadView === null || plan.off ? null : await ports.loadView();
  if (typeof output === "string") {
    const source = view === null || ports.knownTexts.find(output) !== null ? null : view.source();
    const text = source === null ? output : source.readText(output);
    if (source !== null && source.redactions.count > 0) {
      const admitted = await admitChunks({ ...plan, source }, encodeText(text), ports, text);
      return { output: admitted.text, ...admitted };
    }
    const whole = admitWhole(output, plan);
    if (whole !== null) return { output: whole.text, ...whole };
    const admitted = await admitChunks(plan, encodeText(output), ports, output.toWellFormed());
    return { output: admitted.text, ...admitted, receipt: withFaults(admitted.receipt, halvesOf(output)) };
  }
  const bytes = bytesOutput(output, plan.off ? { maxBytes: MAX_OFF_BYTES } : plan.limits);
  if (bytes !== null) {
    const limits = plan.off && !Array.isArray(bytes.chunks) ? { maxBytes: MAX_OFF_BYTES } : plan.limits;
    const source = view?.source();
    const decoder = startUtf16();
    const text = decodedChunks(bytes.chunks, decoder);
    const read = await admitChunks({ ...plan, limits, source }, source?.read(text) ?? text, ports);
    const admitted = decoder.isUtf16 ? { ...read, receipt: inUtf16(read.receipt, decoder.sourceBytes) } : read;
    return { output: (isAsItCame(admitted) ? bytes.again() : undefined) ?? admitted.text, ...admitted };
  }
  if (output instanceof Error) {
    const admitted = await admitOutput(plan, output.message, ports);
    const { text } = admitted;
    return { ...admitted, output: text === output.message ? output : errorWith(output, text) };
  }
  if (isObject(output)) return admitStructured(plan, output, ports, view);
  // Numbers, booleans and nothing are no larger than themselves.
  const text = output === null || output === undefined ? "" : String(output);
  return { ...(await admitChunks(plan, encodeText(text), ports, text)), output };
}

/** Text in UTF-16 as UTF-8, and other bytes as they are. */
async function* decodedChunks(chunks: Chunks, decoder: Utf16Decoder): AsyncGenerator<Uint8Array> {
  let fault: { error: unknown } | null = null;
  try {
    for await (const chunk of chunks) {
      const decoded = decoder.add(chunk);
      if (decoded.length > 0) yield decoded;
    }
  } catch (error) {
    fault = { error };
  }
  // What was held back came before the fault.
  const last = decoder.end();
  if (last.length > 0) yield last;
  if (fault !== null) throw fault.error;
}

/** An output's bytes as they come. */
type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Admits bytes as they come, within their limits in any case. `original` is their text, where it is at hand. */
async function admitChunks(plan: AdmitPlan, chunks: Chunks, ports: OutputPorts, original?: string): Promise<Admitted> {
  return holdLimits(plan, await passChunks(plan, chunks, ports, original), (text) => ({ text }));
}

async function passChunks(plan: AdmitPlan, chunks: Chunks, ports: OutputPorts, original?: string): Promise<Admitted> {
  const { place, about, access, knownTexts, exit } = ports;
  // A text of ours is in the store already.
  const known = original === undefined ? null : knownTexts.find(original);
  const good = known === null ? await lastGoodRun(ports) : null;
  const weighed = good === null ? plan : { ...plan, known: good };
  const admission = startAdmission(known === null ? weighed : { ...plan, keepsAll: false });
  const spill = startSpill(known === null ? redactedPlace(place, plan.source) : { ...place, store: null }, about);
  const page = ports.loadHtmlReader === undefined || plan.strategy.choose === undefined ? null : new PageHolder();
  const save = (bytes: Uint8Array) => {
    page?.add(bytes, admission.kind);
    return spill.add(bytes);
  };

  // Measure, clamp and spill. Nothing is spilled before the output is known to be over a limit; then all of it is.
  let fault: string | undefined;
  try {
    for await (const chunk of chunks) {
      const before = admission.add(chunk);
      if (before.length > 0) await save(before);
      if (admission.over) await save(chunk);
    }
  } catch (error) {
    fault = firstLine(error);
  }
  const { heldBytes } = admission;
  const exitCode = readExitCode(await Promise.resolve(exit).catch(() => null)) ?? plan.exitCode;
  const ended = admission.end(fault, exitCode);
  if (!ended.cut) {
    // A text of ours that comes a second time says all it has to say, the exit code only where that had room.
    const closings = known === null ? ended.closings : { ...ended.closings, whole: [] };
    return writeEnded({ ...ended, closings }, NOT_SAVED, original);
  }
  const again = known === null ? null : await cutAnew(plan, known, place.store);
  if (known !== null && again !== null) return remembered(writeEnded(again, known), known, knownTexts);
  if (heldBytes.length > 0) await save(heldBytes);
  const { artifact, fault: spillFault } = await spill.end(exitCode);

  // Mark. A page's text or a summary may stand for the clamp.
  const faults = spillFault === null ? [] : [spillFault];
  const saved = {
    raw: await knownText(artifact, access, plan.exitCode),
    html: () => page?.html() ?? null,
    fault,
    exitCode,
  };
  const shown = await standInFor(ended, saved, ports, faults);
  const written = writeEnded(shown.ended, shown.kept, shown.text);
  const admitted = shown.ended.cut ? remembered(written, shown.kept, knownTexts) : written;
  return { ...admitted, receipt: withFaults(admitted.receipt, faults) };
}

/** A command must not wait for what its last run said. */
async function lastGoodRun({ lastGood, about }: OutputPorts): Promise<KnownLines | null> {
  if (lastGood === undefined || !about.command) return null;
  return within(lastGood(about), NUMBERS.sinceDeadlineMs.default, "reading the last good run").catch(() => null);
}

function remembered(admitted: Admitted, known: KnownText, texts: KnownTexts): Admitted {
  // One with a fault says so; cut anew it would not.
  if (admitted.receipt.faults === undefined) texts.remember(admitted.text, known);
  return admitted;
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

/** An output of bytes: bytes, a stream, a Blob or a Response. It is read once. */
interface BytesOutput {
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** The output again, to be read by whoever gets it; undefined if too much of it came. */
  again(): unknown;
}

const CHARACTER_BYTES = 4;

/** An output that is or holds bytes; null for any other. By tag: naming the global Response makes Node load all of fetch. */
function bytesOutput(output: unknown, limits: Limits): BytesOutput | null {
  if (output instanceof ArrayBuffer || ArrayBuffer.isView(output))
    return { chunks: [bytesOf(output)], again: () => output };
  const tag = Object.prototype.toString.call(output);
  if (tag === "[object Blob]" || tag === "[object File]")
    return { chunks: readChunks((output as Blob).stream()), again: () => output };
  const { maxBytes, maxChars = NUMBERS.ceilingBytes.default } = limits;
  const mostBytes = maxBytes ?? maxChars * CHARACTER_BYTES;
  if (tag === "[object Response]") return responseOutput(output as Response, mostBytes);
  if (!isStream(output)) return null;
  const held = holdChunks(output, mostBytes);
  return { chunks: readChunks(held.stream), again: () => held.chunks && streamLike(output, held.chunks) };
}

function responseOutput(response: Response, mostBytes: number): BytesOutput {
  const { body, status, statusText, headers } = response;
  if (body === null) return { chunks: [], again: () => response };
  const held = holdChunks(body, mostBytes);
  const again = () =>
    held.chunks === null
      ? undefined
      : new (response.constructor as typeof Response)(streamLike(body, held.chunks) as ReadableStream, {
          status,
          statusText,
          headers,
        });
  return { chunks: readChunks(held.stream), again };
}

/** Reads a stream and keeps copies of its chunks, up to a size: a chunk is only lent until the next is asked for. */
function holdChunks(stream: OutputStream, mostBytes: number): { stream: OutputStream; chunks: unknown[] | null } {
  let bytes = 0;
  const held: { stream: OutputStream; chunks: unknown[] | null } = { stream: read(), chunks: [] };
  async function* read() {
    for await (const chunk of piecesOf(stream)) {
      bytes += typeof chunk === "string" ? chunk.length : chunk instanceof Uint8Array ? chunk.length : 1;
      if (bytes > mostBytes) held.chunks = null;
      // Called on a Buffer, this slice is a copy and a Buffer.
      held.chunks?.push(chunk instanceof Uint8Array ? Uint8Array.prototype.slice.call(chunk) : chunk);
      yield chunk;
    }
  }
  return held;
}

/** A stream of the same sort, with these chunks. */
function streamLike(stream: object, chunks: readonly unknown[]): unknown {
  if ("getReader" in stream) {
    return new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    });
  }
  const { from } = stream.constructor as { from?: (chunks: readonly unknown[]) => unknown };
  // A stream of Node makes another; what else can be iterated is iterated again.
  if ("pipe" in stream && typeof from === "function") return from.call(stream.constructor, chunks);
  return (async function* () {
    yield* chunks;
  })();
}

/** Returns true if a model gets all of an output and nothing else. */
function isAsItCame({ text, receipt }: Admitted): boolean {
  const { total, kept, binary, faults, exitCode, summarized } = receipt;
  if (total.bytes === 0) return text === "";
  const isWhole = kept.bytes === total.bytes && kept.lines === total.lines;
  return isWhole && (exitCode ?? 0) === 0 && binary === undefined && faults === undefined && summarized === undefined;
}
