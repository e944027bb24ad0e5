import type { AdmissionRequest, Ended } from "../admit/admission.ts";
import type { Summarize } from "../admit/admit-output.ts";
import { isWithin } from "../admit/hold-limits.ts";
import type { OwnText } from "../admit/own-texts.ts";
import type { ModelClient } from "../contract/model-client.ts";
import type { Store } from "../contract/store.ts";
import { messageOf } from "../errors.ts";
import { writeSummary } from "../stages/mark/write-summary.ts";
import { measureText } from "../stages/measure/measure-text.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import type { Breaker } from "../stages/spill/breaker.ts";
import { within } from "../stages/spill/within.ts";
import { planSummary, type SummaryPlan, startSplit } from "./plan-summary.ts";
import { checkAnswer, newNonce, type SummaryMaterial, type SummaryTarget, summaryPrompt } from "./summary-prompt.ts";

/** What summarising outputs works with; nothing is looked up. */
export interface SummarizeParts {
  client: ModelClient;
  store: Store | null;
  maxInputChars: number;
  /** Of the model: one that keeps failing is left alone for a while. */
  breaker: Breaker;
}

/** Puts summaries in place of clamps. What a model is given is what is stored: whole, with secrets replaced. */
export function newSummarize({ client, store, maxInputChars, breaker }: SummarizeParts): Summarize {
  const cache = new SummaryCache(NUMBERS.summarizeCached.default);
  return async (request, ended, kept) => {
    const { source } = ended;
    const { id, saved, savedBytes } = kept.keeping;
    // What folding alone brought under the limits is all there.
    if (source === null || ended.write(kept.keeping, kept.sha256).receipt.omitted.bytes === 0) return ended;
    if (store === null || id === null || (saved !== "yes" && saved !== "local"))
      return withFault(ended, "the whole output is not saved");
    const mark = { model: client.model, keeping: kept.keeping, ...source };
    const markers = measureText(writeSummary("", mark), request.counter);
    const plan = planSummary(source.total, request.limits, markers, { ...client, maxInputChars });
    if (typeof plan === "string") return withFault(ended, plan);
    const make = async (): Promise<string> => {
      if (!breaker.allows()) throw new Error("the model failed several times in a row and is not asked for a while");
      const stop = new AbortController();
      const { signal } = stop;
      const deadlineMs = NUMBERS.summarizeDeadlineMs.default;
      const timer = setTimeout(() => stop.abort(new Error(`it took over ${deadlineMs} ms`)), deadlineMs);
      const pieces = artifactPieces(store, id, request.scope, savedBytes, maxInputChars);
      try {
        const summary = await summarizePieces(request.tool, pieces, plan, { client, maxInputChars, newNonce, signal });
        breaker.succeeded();
        return summary;
      } catch (error) {
        breaker.failed();
        throw error;
      } finally {
        clearTimeout(timer);
        // Calls for other parts need not go on.
        stop.abort();
      }
    };
    try {
      const key = JSON.stringify([kept.sha256, client.model, request.tool, plan]);
      const text = writeSummary(await cache.get(key, make), mark);
      if (!isWithin(measureText(text, request.counter), request.limits)) throw new Error("the answer is too long");
      return summarized(request, ended, kept, text, client.model);
    } catch (error) {
      return withFault(ended, messageOf(error));
    }
  };
}

/** An end that shows the summary: nothing of the source itself is shown, so all of it is omitted. */
function summarized(request: AdmissionRequest, ended: Ended, kept: OwnText, text: string, model: string): Ended {
  const clamped = ended.write(kept.keeping, kept.sha256);
  const { total } = clamped.receipt;
  const none = () => ({ bytes: 0, lines: 0 });
  const receipt = {
    ...clamped.receipt,
    strategy: "summarize",
    kept: none(),
    folded: none(),
    redacted: none(),
    omitted: { ...total },
    shown: measureText(text, request.counter),
    cuts: [{ fromLine: 1, toLine: total.lines, bytes: total.bytes }],
    moreCuts: 0,
    summarized: true as const,
    summaryModel: model,
    originalChars: clamped.totalChars,
  };
  return { ...ended, write: () => ({ ...clamped, text, receipt }) };
}

function withFault(ended: Ended, why: string): Ended {
  return {
    ...ended,
    write(keeping, sha256, original) {
      const clamped = ended.write(keeping, sha256, original);
      const faults = [...(clamped.receipt.faults ?? []), `not summarised: ${why}`];
      return { ...clamped, receipt: { ...clamped.receipt, faults } };
    },
  };
}

/** Read at a time: no more of an artifact is ever held than this and one piece. */
const READ_BYTES = 256 * 1024;

/** An artifact's text in pieces of at most `maxChars`. Throws if it cannot be read to its end. */
async function* artifactPieces(
  store: Store,
  id: string,
  scope: string,
  bytes: number,
  maxChars: number,
): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const split = startSplit(maxChars);
  for (let from = 0; from < bytes; ) {
    const reading = Promise.resolve(store.read(id, scope, { from, to: from + READ_BYTES }));
    const read = await within(reading, NUMBERS.spillDeadlineMs.default, "reading an artifact");
    if (!(read instanceof Uint8Array) || read.length === 0) throw new Error("its artifact could not be read");
    from += read.length;
    yield* split.add(decoder.decode(read, { stream: from < bytes }));
  }
  yield* split.end();
}

/** What a summary is made with. */
interface Summarizing {
  client: ModelClient;
  maxInputChars: number;
  newNonce: () => string;
  signal: AbortSignal;
}

/**
 * Summarises a text that comes in pieces: one call where one is enough, else each piece by itself and then their summaries
 * together, as often as it takes. All of it is read. Throws where there is no summary.
 */
async function summarizePieces(
  tool: string,
  pieces: AsyncIterable<string>,
  { target, part }: SummaryPlan,
  { client, maxInputChars, newNonce, signal }: Summarizing,
): Promise<string> {
  let calls = 0;
  const ask = async (material: SummaryMaterial, size: SummaryTarget): Promise<string> => {
    signal.throwIfAborted();
    if (++calls > NUMBERS.summarizeCalls.default) throw new Error(`it took over ${calls - 1} calls`);
    const nonce = newNonce();
    const answer = await client.ask({ ...summaryPrompt(material, size, nonce), signal });
    const { text, why } = checkAnswer(answer, { belowChars: material.text.length, nonce });
    if (text === null) throw new Error(why);
    return text;
  };
  const each = (texts: AsyncIterable<string>, isMerge: boolean) =>
    mapPieces(texts, client.maxConcurrent, (text, index) =>
      part === null ? ask({ tool, text }, target) : ask({ tool, text, part: index + 1, isMerge }, part),
    );
  let texts = await each(pieces, false);
  // What is in the store may be a little longer than what was planned for.
  if (texts.length === 1 && part === null) return texts[0] as string;
  for (let joined = joinParts(texts); ; joined = joinParts(texts)) {
    if (joined.length <= maxInputChars) return ask({ tool, text: joined, isMerge: true }, target);
    texts = await each(splitAll(joined, maxInputChars), true);
  }
}

function joinParts(texts: readonly string[]): string {
  return texts.map((text, index) => `Part ${index + 1}:\n${text}`).join("\n\n");
}

async function* splitAll(text: string, maxChars: number): AsyncGenerator<string> {
  const split = startSplit(maxChars);
  yield* split.add(text);
  yield* split.end();
}

/** Does the same with each piece, some at once, in order. No more than those are held; the first failure ends it. */
export async function mapPieces<From, To>(
  pieces: AsyncIterable<From>,
  atOnce: number,
  act: (piece: From, index: number) => Promise<To>,
): Promise<To[]> {
  const source = pieces[Symbol.asyncIterator]();
  const done: To[] = [];
  let next = Promise.resolve();
  let count = 0;
  let isOver = false;
  /** One at a time: who asks next waits for the one before. */
  const take = (): Promise<{ piece: From; index: number } | null> => {
    const taken = next.then(async () => {
      if (isOver) return null;
      const { value, done: ended } = await source.next();
      if (ended) isOver = true;
      return ended ? null : { piece: value, index: count++ };
    });
    next = taken.then(
      () => {},
      () => {},
    );
    return taken;
  };
  const work = async () => {
    for (let one = await take(); one !== null; one = await take()) done[one.index] = await act(one.piece, one.index);
  };
  try {
    await Promise.all(Array.from({ length: Math.max(1, atOnce) }, work));
    return done;
  } finally {
    isOver = true;
    await source.return?.();
  }
}

/** Summaries by what they were made of. The same one is made once, also if it is asked for twice at a time. */
export class SummaryCache {
  readonly #made = new Map<string, Promise<string>>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get(key: string, make: () => Promise<string>): Promise<string> {
    const known = this.#made.get(key);
    const made = known ?? make();
    // The one that was used last goes last.
    this.#made.delete(key);
    this.#made.set(key, made);
    // A failure is not kept: the next one may succeed.
    if (known === undefined) made.catch(() => this.#made.get(key) === made && this.#made.delete(key));
    for (const oldest of this.#made.keys()) {
      if (this.#made.size <= this.#max) break;
      this.#made.delete(oldest);
    }
    return made;
  }
}
