import type { ModelClient } from "../contract/model-client.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { checkAnswer } from "../stages/summarize/check-answer.ts";
import type { SummaryPlan } from "../stages/summarize/plan-summary.ts";
import { startSplit } from "../stages/summarize/split-text.ts";
import { type SummaryMaterial, type SummaryTarget, summaryPrompt } from "../stages/summarize/summary-prompt.ts";
import { mapPieces } from "./map-pieces.ts";

/** What a summary is made with. */
export interface Summarizing {
  client: ModelClient;
  maxInputChars: number;
  newNonce: () => string;
  signal: AbortSignal;
}

/**
 * Summarises a text that comes in pieces: one call where one is enough, else each piece by itself and then their summaries
 * together, as often as it takes. All of it is read. Throws where there is no summary.
 */
export async function summarizePieces(
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
