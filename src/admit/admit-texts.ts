import type { Limits } from "../contract/limits.ts";
import type { Receipt } from "../contract/receipt.ts";
import type { Size } from "../contract/size.ts";
import { boundValue } from "../stages/clamp/bound-value.ts";
import { fairShares } from "../stages/clamp/fair-shares.ts";
import type { FoundText } from "../stages/clamp/find-texts.ts";
import { jsonWithin } from "../stages/clamp/json-within.ts";
import { replaceTexts } from "../stages/clamp/replace-texts.ts";
import { quotesMarker } from "../stages/mark/quoted.ts";
import { exitLine } from "../stages/mark/texts.ts";
import { describeBinary } from "../stages/measure/describe-binary.ts";
import { measureText } from "../stages/measure/measure-text.ts";
import { encodeText, SAMPLE_BYTES } from "../stages/measure/scan.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import {
  type AdmitPlan,
  type Admitted,
  type Ended,
  isWithin,
  type SourceAccount,
  type SpilledOutput,
  startAdmission,
  writeEnded,
} from "./admission.ts";
import { joinReceipts } from "./receipts.ts";

/** One text of a structured result, clamped to its share. */
export interface AdmittedBlock {
  /** Null if it is not a text of the result itself, but all of it as JSON. */
  text: string | null;
  request: AdmitPlan;
  /** Null for all of the result as JSON, which is always cut. */
  ended: Ended | null;
  /** What has to be kept of it, if it was cut. */
  chunks(): Iterable<Uint8Array>;
}

/** True if a block's whole text has to be kept. */
export function isCutBlock({ ended }: AdmittedBlock): boolean {
  return ended === null || ended.cut;
}

/** A structured result whose texts share one budget. */
export interface AdmittedBlocks<T> {
  blocks: AdmittedBlock[];
  /** Takes what became of each block, in their order. */
  write(kept: readonly SpilledOutput[]): Admitted & { output: T; texts: string[] };
}

/** A text of a result, and its source if secrets were replaced in it. */
export interface SourceText extends FoundText {
  source?: SourceAccount | undefined;
}

/** Clamps the texts of a result, each to its share. */
export function admitTexts<T extends object>(
  request: AdmitPlan,
  result: T,
  found: readonly SourceText[],
): AdmittedBlocks<T> {
  const exitAt = lastWithText(found);
  const shares = limitsOf(request, found);
  // A model reads them one after another: what one of them quotes must not read as what we say of another.
  const siblings =
    found.length > 1 && found.some(({ text }) => quotesMarker(text)) ? found.map(({ text }) => text) : undefined;
  const blocks = found.map(({ text, bytes, isMedia, source = request.source }, index) => {
    // The last text says how a command ended.
    const exitCode = index === exitAt ? request.exitCode : null;
    const own = { ...request, exitCode, limits: shares[index] as Limits, source, isMedia, siblings };
    const chunks = () => (bytes === undefined ? encodeText(text) : [bytes]);
    const admission = startAdmission(own);
    for (const chunk of chunks()) admission.add(chunk);
    return { text: text as string | null, request: own, ended: admission.end(), chunks };
  });
  return {
    blocks,
    write(kept) {
      const admitted = blocks.map(({ text, ended }, index) => writeEnded(ended, kept[index], text?.toWellFormed()));
      const texts = admitted.map((block) => block.text);
      const changed = found
        .map(({ path }, index) => ({ path, text: texts[index] as string }))
        .filter(({ text }, index) => text !== found[index]?.text || found[index].bytes !== undefined);
      const replaced = changed.length === 0 ? result : replaceTexts(result, changed);
      const text = joinTexts(texts);
      const receipts: Receipt[] = admitted.map((block) => block.receipt);
      const receipt = joinReceipts(request, receipts, measureText(text, request.counter));
      const totalChars = admitted.reduce((sum, block) => sum + block.totalChars, 0);
      const output = request.boundDetails ? withBoundDetails(replaced) : replaced;
      return { output, text, texts, receipt, totalChars };
    },
  };
}

/** The last text that is not empty, or the last. */
function lastWithText(found: readonly FoundText[]): number {
  const last = found.findLastIndex(({ text }) => text !== "");
  return last === -1 ? found.length - 1 : last;
}

/** Each text's limits: none where all of them together are within the result's, else its fair share. */
function limitsOf(request: AdmitPlan, found: readonly FoundText[]): Limits[] {
  const { limits, counter, exitCode } = request;
  if (fitTogether(request, found)) return found.map(() => limits);
  const sizes = found.map(({ text }) => measureText(text, counter));
  return shareLimits(limits, sizes, exitCode === null ? null : lastWithText(found));
}

/** True if all texts joined, with the exit line, are within the limits. */
export function fitTogether(
  { limits, counter, exitCode }: AdmitPlan,
  found: readonly Pick<FoundText, "text">[],
): boolean {
  const chars = found.reduce((sum, { text }) => sum + text.length, 0);
  if (chars > Math.min(limits.maxBytes ?? chars, limits.maxChars ?? chars)) return false;
  // Binary is described in words of ours, which may be longer than it.
  if (found.some(({ text }) => describeBinary(new TextEncoder().encode(text.slice(0, SAMPLE_BYTES))) !== null))
    return false;
  const exit = exitCode === null || exitCode === 0 ? [] : [exitLine(exitCode)];
  return isWithin(measureText(joinTexts([...found.map(({ text }) => text), ...exit]), counter), limits);
}

/** Fields beside the content that some hosts send to a model or write to a transcript. */
export const DETAILS: readonly string[] = ["details", "structuredContent"];

/** The result with those of them that are too large as JSON replaced by bounded copies. */
export function withBoundDetails<T extends object>(result: T): T {
  const most = NUMBERS.detailsBytes.default;
  const large = DETAILS.filter((key) => Object.hasOwn(result, key))
    .map((key) => [key, boundDetail(Reflect.get(result, key), most)] as const)
    .filter(([, { isWhole }]) => !isWhole);
  if (large.length === 0) return result;
  return { ...result, ...Object.fromEntries(large.map(([key, { value }]) => [key, value])) };
}

/** A bounded copy, and whether the value itself would do: bytes and classes may be larger as JSON than a copy tells. */
export function boundDetail(value: unknown, maxBytes: number): { value: unknown; isWhole: boolean } {
  const { value: copy, cut } = boundValue(value, maxBytes);
  const json = cut ? null : jsonWithin(value, maxBytes);
  return { value: copy, isWhole: json !== null && measureText(json).bytes <= maxBytes };
}

/** Texts one after another, each from a line of its own. */
export function joinTexts(texts: readonly string[]): string {
  const parts: string[] = [];
  let isOpen = false;
  for (const text of texts) {
    if (text === "") continue;
    if (isOpen) parts.push("\n");
    parts.push(text);
    isOpen = !text.endsWith("\n");
  }
  return parts.join("");
}

/** What an exit line takes, at most. */
const EXIT_ROOM: Size = { bytes: 32, chars: 32, lines: 1, tokens: 16 };
/** What joining two texts takes, at most: tokens do not add up. */
const JOINT: Size = { bytes: 1, chars: 1, lines: 0, tokens: 4 };

const LIMIT_OF = { bytes: "maxBytes", chars: "maxChars", lines: "maxLines", tokens: "maxTokens" } as const;

/**
 * The limits of each text under one budget: its fair share in every unit. Joints and the exit line of the one at
 * `exitAt` are charged first. What the small ones leave goes to those that will be cut, since their markers need room in every unit.
 */
function shareLimits(limits: Limits, sizes: readonly Size[], exitAt: number | null): Limits[] {
  const shares: Size[] = sizes.map(() => ({ bytes: 0, chars: 0, lines: 0, tokens: 0 }));
  const left: Partial<Size> = {};
  for (const unit of ["bytes", "chars", "lines", "tokens"] as const) {
    const limit = limits[LIMIT_OF[unit]];
    if (limit === undefined) continue;
    const exit = exitAt === null ? 0 : Math.min(EXIT_ROOM[unit], limit);
    const budget = Math.max(0, limit - Math.max(0, sizes.length - 1) * JOINT[unit] - exit);
    const fair = fairShares(
      sizes.map((size) => size[unit]),
      budget,
    );
    fair.forEach((share, index) => {
      (shares[index] as Size)[unit] = share + (index === exitAt ? exit : 0);
    });
    left[unit] = budget - fair.reduce((sum, share) => sum + share, 0);
  }
  const cut = shares.filter((share, index) => isCut(share, sizes[index] as Size, limits));
  for (const [unit, spare] of Object.entries(left) as [keyof Size, number][]) {
    for (const share of cut) share[unit] += Math.floor(spare / cut.length);
  }
  return shares.map((share) => asLimits(share, limits));
}

function isCut(share: Size, size: Size, limits: Limits): boolean {
  return (Object.keys(LIMIT_OF) as (keyof Size)[]).some(
    (unit) => limits[LIMIT_OF[unit]] !== undefined && share[unit] < size[unit],
  );
}

function asLimits(share: Size, { maxBytes, maxChars, maxLines, maxTokens }: Limits): Limits {
  return {
    ...(maxBytes !== undefined && { maxBytes: share.bytes }),
    ...(maxChars !== undefined && { maxChars: share.chars }),
    ...(maxLines !== undefined && { maxLines: share.lines }),
    ...(maxTokens !== undefined && { maxTokens: share.tokens }),
  };
}
