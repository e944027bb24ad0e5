import type { Limits } from "../contract/limits.ts";
import type { Receipt } from "../contract/receipt.ts";
import { boundValue } from "../stages/clamp/bound-value.ts";
import { type FoundText, findTexts, replaceTexts } from "../stages/clamp/find-texts.ts";
import type { Keeping } from "../stages/mark/access.ts";
import { encodeText } from "../stages/measure/encode-text.ts";
import { measureText } from "../stages/measure/measure-text.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { type AdmissionRequest, type Admitted, type Ended, NOT_KEPT, startAdmission } from "./admission.ts";
import { admitObject } from "./admit-object.ts";
import { joinReceipts } from "./join-receipts.ts";
import { shareLimits } from "./share-limits.ts";

/** One text of a structured result, clamped to its share. */
export interface AdmittedBlock {
  /** Null if it is not a text of the result itself, but all of it as JSON. */
  text: string | null;
  request: AdmissionRequest;
  ended: Ended;
  /** What has to be kept of it, if it was cut. */
  chunks(): Iterable<Uint8Array>;
}

/** What became of a block's whole text. */
export interface Kept {
  keeping: Keeping;
  sha256: string | null;
}

/** A structured result whose texts share one budget. */
export interface AdmittedBlocks<T> {
  blocks: AdmittedBlock[];
  /** Takes what became of each block, in their order. */
  write(kept: readonly Kept[]): Admitted & { output: T; texts: string[] };
}

/**
 * Clamps a structured result. Content blocks share one budget: small ones whole, large ones in fair shares. An object
 * without content reaches a model as JSON, so there its keys and numbers count too.
 */
export function admitBlocks<T extends object>(request: AdmissionRequest, result: T): AdmittedBlocks<T> {
  const found = findTexts(result);
  if (request.off) return admitTexts(request, result, found?.texts ?? []);
  return found?.hasContent
    ? admitTexts(request, result, found.texts)
    : admitObject(request, result, found?.texts ?? null);
}

/** Clamps the texts of a result, each to its share. */
export function admitTexts<T extends object>(
  request: AdmissionRequest,
  result: T,
  found: FoundText[],
): AdmittedBlocks<T> {
  const sizes = found.map(({ text }) => measureText(text, request.counter));
  const shares = shareLimits(request.limits, sizes, request.exitCode !== null);
  const blocks = found.map(({ text }, index): AdmittedBlock => {
    // Only the last block says how a command ended.
    const exitCode = index === found.length - 1 ? request.exitCode : null;
    const own = { ...request, exitCode, limits: shares[index] as Limits };
    const admission = startAdmission(own);
    for (const bytes of encodeText(text)) admission.add(bytes);
    return { text, request: own, ended: admission.end(), chunks: () => encodeText(text) };
  });
  return {
    blocks,
    write(kept) {
      const admitted = blocks.map(({ text, ended }, index) => {
        const { keeping, sha256 } = kept[index] ?? { keeping: NOT_KEPT, sha256: null };
        return ended.write(keeping, sha256, text?.toWellFormed());
      });
      const texts = admitted.map((block) => block.text);
      const changed = found
        .map(({ path }, index) => ({ path, text: texts[index] as string }))
        .filter(({ text }, index) => text !== found[index]?.text);
      const replaced = changed.length === 0 ? result : replaceTexts(result, changed);
      const text = joinTexts(texts);
      const receipts: Receipt[] = admitted.map((block) => block.receipt);
      const receipt = joinReceipts(request, receipts, measureText(text, request.counter));
      return { output: request.boundDetails ? withBoundDetails(replaced) : replaced, text, texts, receipt };
    },
  };
}

/** Fields beside the content that some hosts send to a model or write to a transcript. */
const DETAILS = ["details", "structuredContent"];

function withBoundDetails<T extends object>(result: T): T {
  const large = DETAILS.filter((key) => Object.hasOwn(result, key))
    .map((key) => [key, boundValue(Reflect.get(result, key), NUMBERS.detailsBytes.default)] as const)
    .filter(([, { cut }]) => cut);
  if (large.length === 0) return result;
  return { ...result, ...Object.fromEntries(large.map(([key, { value }]) => [key, value])) };
}

/** Texts one after another, each from a line of its own. */
function joinTexts(texts: readonly string[]): string {
  let joined = "";
  for (const text of texts) joined += joined === "" || joined.endsWith("\n") || text === "" ? text : `\n${text}`;
  return joined;
}
