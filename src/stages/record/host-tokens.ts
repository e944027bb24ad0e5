import type { Limits } from "../../contract/limits.ts";
import type { Receipt } from "../../contract/receipt.ts";

const USUAL_BYTES_PER_TOKEN = 4;

/**
 * What the host would have shown of an output had it cut it to limits of its own, in tokens: by the measure of tokens a
 * byte that what was shown has.
 */
export function hostTokens({ total, shown }: Receipt, totalChars: number, host: Limits): number {
  const { maxBytes, maxChars, maxLines, maxTokens } = host;
  const part = (limit: number | undefined, whole: number) => (limit === undefined || whole === 0 ? 1 : limit / whole);
  const share = Math.min(1, part(maxBytes, total.bytes), part(maxChars, totalChars), part(maxLines, total.lines));
  const perByte = shown.bytes === 0 ? 1 / USUAL_BYTES_PER_TOKEN : shown.tokens / shown.bytes;
  return Math.min(Math.round(total.bytes * perByte * share), maxTokens ?? Number.POSITIVE_INFINITY);
}
