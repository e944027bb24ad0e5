import { isWithin, writeEnded } from "../admit/admission.ts";
import type { Summarize } from "../admit/ports.ts";
import type { ModelClient } from "../contract/model-client.ts";
import type { Store } from "../contract/store.ts";
import { type Breaker, within } from "../deadline.ts";
import { messageOf, SpendingCapError } from "../errors.ts";
import { writeSummary } from "../stages/mark/access.ts";
import { measureText } from "../stages/measure/estimate-tokens.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { setNewest } from "../values.ts";
import { planSummary, type SummaryPlan, startSplit } from "./plan-summary.ts";
import { type BookCost, countingClient } from "./spending.ts";
import { checkAnswer, newNonce, type SummaryMaterial, type SummaryTarget, summaryPrompt } from "./summary-prompt.ts";

/** What summarising outputs needs. Nothing is looked up. */
export interface SummarizePorts {
  client: ModelClient;
  store: Store | null;
  maxInputChars: number;
  /** The model's breaker. If the model keeps failing, it is not asked for a while. */
  breaker: Breaker;
  bookCost: BookCost;
}

/** Replaces clamped outputs by summaries. The model gets what is stored: the whole output, with secrets replaced. */
export function newSummarize({ client, store, maxInputChars, breaker, bookCost }: SummarizePorts): Summarize {
  const cache = new SummaryCache(NUMBERS.summarizeCached.default);
  return async (ended, kept, { session, tool, call }) => {
    const { plan, clamped, closings } = ended;
    const { id, saved, savedBytes } = kept;
    // If folding alone brought the output under the limits, nothing is missing and no summary is needed.
    if (writeEnded(ended, kept).receipt.omitted.bytes === 0) return null;
    if (store === null || id === null || (saved !== "yes" && saved !== "local"))
      return { fault: "the whole output is not saved" };
    const mark = { model: client.model, savedCopy: kept, total: clamped.total, closing: closings.closing };
    const markers = measureText(writeSummary("", mark), plan.counter);
    const summaryPlan = planSummary(clamped.total, plan.limits, markers, { ...client, maxInputChars });
    if (typeof summaryPlan === "string") return { fault: summaryPlan };
    const make = async (): Promise<string> => {
      if (!breaker.allows()) throw new Error("the model failed several times in a row and is not asked for a while");
      const stop = new AbortController();
      const { signal } = stop;
      const deadlineMs = NUMBERS.summarizeDeadlineMs.default;
      const timer = setTimeout(() => stop.abort(new Error(`it took over ${deadlineMs} ms`)), deadlineMs);
      const pieces = artifactPieces(store, id, plan.scope, savedBytes, maxInputChars);
      const counting = countingClient(client);
      const asking = { client: counting.client, maxInputChars, newNonce, signal };
      let fault: string | null = null;
      try {
        const summary = await summarizePieces(plan.tool, pieces, summaryPlan, asking);
        breaker.succeeded();
        return summary;
      } catch (error) {
        fault = messageOf(error);
        if (!(error instanceof SpendingCapError)) breaker.failed();
        throw error;
      } finally {
        clearTimeout(timer);
        // Stops the calls for other parts.
        stop.abort();
        const about = { of: "output" as const, model: client.model, session, tool, call };
        if (counting.spent.calls > 0) await bookCost({ ...about, ...counting.spent, fault });
      }
    };
    try {
      const key = JSON.stringify([kept.sha256, client.model, plan.tool, summaryPlan]);
      const text = writeSummary(await cache.get(key, make), mark);
      if (!isWithin(measureText(text, plan.counter), plan.limits)) throw new Error("the answer is too long");
      return { text, model: client.model };
    } catch (error) {
      return { fault: messageOf(error) };
    }
  };
}

/** The bytes of one read. At most this much and one piece of an artifact are in memory. */
const READ_BYTES = 256 * 1024;

/** Yields an artifact's text in pieces of at most `maxChars`. Throws if it cannot be read to its end. */
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

/** What making a summary needs. */
interface Summarizing {
  client: ModelClient;
  maxInputChars: number;
  newNonce: () => string;
  signal: AbortSignal;
}

/**
 * Summarises a text that comes in pieces. If one call is enough, makes one call. Otherwise summarises each piece and
 * then the joined summaries, again and again until they fit one call. Reads all of the text. Throws if there is no
 * summary.
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
  // The stored text can be a little longer than planned. Then there is more than one piece.
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

/**
 * Runs `act` on each piece, several at the same time, and returns the results in order. Holds only the pieces in work.
 * The first failure ends it.
 */
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
  /** Takes one piece at a time: each call waits for the one before. */
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

/**
 * Caches summaries by what they were made from. If the same one is requested twice at the same time, it is made once.
 */
export class SummaryCache {
  readonly #made = new Map<string, Promise<string>>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get(key: string, make: () => Promise<string>): Promise<string> {
    const known = this.#made.get(key);
    const made = known ?? make();
    // Moves the entry to the end, so that the first one in the map is the one that was not used for longest.
    setNewest(this.#made, key, made, this.#max);
    // A failure is not cached, because the next attempt may succeed.
    if (known === undefined) made.catch(() => this.#made.get(key) === made && this.#made.delete(key));
    return made;
  }
}
