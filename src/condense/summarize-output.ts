import type { AdmissionRequest, Ended } from "../admit/admission.ts";
import type { Summarize } from "../admit/admit-output.ts";
import { isWithin } from "../admit/admit-texts.ts";
import type { OwnText } from "../admit/own-texts.ts";
import type { ModelClient } from "../contract/model-client.ts";
import type { Store } from "../contract/store.ts";
import { messageOf } from "../errors.ts";
import { writeSummary } from "../stages/mark/write-summary.ts";
import { measureText } from "../stages/measure/measure-text.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import type { Breaker } from "../stages/spill/breaker.ts";
import { planSummary } from "../stages/summarize/plan-summary.ts";
import { newNonce } from "./new-nonce.ts";
import { artifactPieces } from "./read-artifact.ts";
import { summarizePieces } from "./summarize-pieces.ts";
import { SummaryCache } from "./summary-cache.ts";

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
