import type { ModelClient } from "../contract/model-client.ts";
import { compactPrompt, hasSections } from "../stages/compact/compact-prompt.ts";
import { checkAnswer } from "../stages/summarize/check-answer.ts";
import { newNonce } from "./new-nonce.ts";

/** Models count badly: they are asked for less than what is taken. */
const ASKED_SHARE = 0.8;
const CHARS_PER_TOKEN = 2;

/** Summarises chunks one after another, each with the summary of those before. Throws where there is no summary. */
export async function summarizeChunks(
  chunks: readonly string[],
  previous: string | null,
  maxChars: number,
  client: ModelClient,
  signal: AbortSignal | undefined,
): Promise<string> {
  const most = Math.min(maxChars, client.maxAnswerTokens * CHARS_PER_TOKEN);
  let summary = previous;
  for (const text of chunks) {
    const nonce = newNonce();
    const prompt = compactPrompt({ text, previous: summary }, Math.floor(most * ASKED_SHARE), nonce);
    const answer = await client.ask({ ...prompt, signal });
    const checked = checkAnswer(answer, { belowChars: most + 1, nonce });
    const why = checked.why ?? (hasSections(checked.text) ? null : "the answer is no summary of a conversation");
    if (why !== null) throw new Error(`not compacted: ${why}`);
    summary = checked.text;
  }
  if (summary === null) throw new Error("not compacted: there was nothing to summarise");
  return summary;
}
