import type { Limits, Unit } from "../contract/limits.ts";
import type { Receipt } from "../contract/receipt.ts";
import type { Size } from "../contract/size.ts";
import { boundValue } from "../stages/clamp/bound-value.ts";
import { fairShares } from "../stages/clamp/fair-shares.ts";
import { type FoundText, replaceTexts } from "../stages/clamp/find-texts.ts";
import { UNITS } from "../stages/clamp/fit.ts";
import { jsonWithin } from "../stages/clamp/json-chunks.ts";
import { exitLine, quotesMarker } from "../stages/mark/texts.ts";
import { measureText } from "../stages/measure/estimate-tokens.ts";
import { describeBinary, encodeText, SAMPLE_BYTES } from "../stages/measure/scan.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { combineSizes, LIMIT_OF, mapLimits } from "../values.ts";
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
import { halvesOf, joinReceipts, withFaults } from "./receipts.ts";

/** One text of a structured result, clamped to its share. */
export interface AdmittedBlock {
  /** Null if it is not a text of the result itself, but all of it as JSON. */
  text: string | null;
  plan: AdmitPlan;
  /** Null for all of the result as JSON, which is always cut. */
  ended: Ended | null;
  /** What has to be kept of it, if it was cut. */
  chunks(): Iterable<Uint8Array>;
}

/** Returns true if a block's whole text has to be kept. */
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

/** Where more texts than this are cut, a marker in each would say more than they do, and each would be an artifact. */
export const MOST_TEXTS = 63;

/** Where more texts than this are over their shares, clamping each of them costs seconds and leaves too many cut. */
const MANY_CUT = 4 * MOST_TEXTS;

/** Returns true if so many texts are over their shares that it is of no use to clamp each. */
export function areCutInMany(plan: AdmitPlan, found: readonly FoundText[]): boolean {
  if (found.length <= MANY_CUT) return false;
  const shares = limitsOf(plan, found);
  const over = found.filter(({ text }, at) => !isWithin(measureText(text, plan.counter), shares[at] as Limits));
  return over.length > MANY_CUT;
}

/** Clamps the texts of a result, each to its share. */
export function admitTexts<T extends object>(
  plan: AdmitPlan,
  result: T,
  found: readonly SourceText[],
): AdmittedBlocks<T> {
  const exitAt = lastWithText(found);
  const shares = limitsOf(plan, found);
  // A model reads them one after another: what one of them quotes must not read as what we say of another.
  const siblings =
    found.length > 1 && found.some(({ text }) => quotesMarker(text)) ? found.map(({ text }) => text) : undefined;
  const clamp = ({ text, bytes, isMedia, source = plan.source }: SourceText, index: number, limits: Limits) => {
    // The last text says how a command ended.
    const exitCode = index === exitAt ? plan.exitCode : null;
    const own = { ...plan, exitCode, limits, shortChars: undefined, source, isMedia, siblings };
    const chunks = () => (bytes === undefined ? encodeText(text) : [bytes]);
    const admission = startAdmission(own);
    for (const chunk of chunks()) admission.add(chunk);
    return { text: text as string | null, plan: own, ended: admission.end(), chunks };
  };
  const blocks = found.map((text, index) => clamp(text, index, shares[index] as Limits));
  for (let round = 0; round < SPARE_ROUNDS; round++) {
    const larger = withSpareRoom(plan, blocks);
    if (larger === null) break;
    for (const [index, limits] of larger) blocks[index] = clamp(found[index] as SourceText, index, limits);
  }
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
      const receipts: Receipt[] = admitted.map(({ receipt }, index) =>
        withFaults(receipt, halvesOf(blocks[index]?.text ?? null)),
      );
      const receipt = joinReceipts(plan, receipts, measureText(text, plan.counter));
      const totalChars = admitted.reduce((sum, block) => sum + block.totalChars, 0);
      const output = plan.boundDetails ? withBoundDetails(replaced) : replaced;
      return { output, text, texts, receipt, totalChars };
    },
  };
}

/** How often room that texts leave is given to the others: after that little is left. */
const SPARE_ROUNDS = 3;
/** Less than this share of a limit is not worth clamping again. */
const SPARE_SHARE = 0.05;
/** What markers take more once they name an artifact and the way to it. */
const NAMED: Size = { bytes: 320, chars: 320, lines: 1, tokens: 120 };

/**
 * New limits for the texts that were cut, by their index. What is left of each unit goes to those that need more of it, in
 * proportion to what they use: a long line grows in bytes though no line is left. Null if too little is left.
 */
function withSpareRoom({ limits }: AdmitPlan, blocks: readonly AdmittedBlock[]): Map<number, Limits> | null {
  if (blocks.length < 2) return null;
  const sized = blocks.map((block, index) => {
    const { shown, cutBy, binary } = writeEnded(block.ended as Ended, undefined, block.text ?? "").receipt;
    const isCut = isCutBlock(block);
    const most = (unit: Unit) => block.plan.limits[LIMIT_OF[unit]] as number;
    // What the others use is all that they keep: their markers grow too once they name an artifact.
    const used = (unit: Unit) => (isCut ? Math.min(most(unit), shown[unit] + NAMED[unit]) : shown[unit]);
    // How many tokens all of it has is not known.
    const needs = (unit: Unit) => isCut && (unit === "tokens" || (block.ended?.clamped.total[unit] ?? 0) > shown[unit]);
    // What is described in words of ours needs room for these, and no more.
    const isBound = (unit: Unit) => cutBy === unit || (binary !== undefined && most(unit) < MARKERS[unit]);
    return { index, isCut, isBound, used, needs };
  });
  const larger = new Map(sized.filter(({ isCut }) => isCut).map(({ index }) => [index, {} as Limits]));
  let isWorthIt = false;
  for (const unit of UNITS.filter((each) => limits[LIMIT_OF[each]] !== undefined)) {
    const sum = (texts: typeof sized) => texts.reduce((all, { used }) => all + used(unit), 0);
    const spare = (limits[LIMIT_OF[unit]] as number) - sum(sized) - (blocks.length - 1) * JOINT[unit];
    const growth = Math.max(0, spare / Math.max(1, sum(sized.filter(({ needs }) => needs(unit)))));
    for (const { index, isBound, used, needs } of sized) {
      const most = Math.floor(used(unit) * (needs(unit) ? 1 + growth : 1));
      const own = larger.get(index);
      if (own !== undefined) larger.set(index, { ...own, [LIMIT_OF[unit]]: most });
      isWorthIt ||= isBound(unit) && growth >= SPARE_SHARE && most > used(unit);
    }
  }
  return isWorthIt ? larger : null;
}

/** The last text that is not empty, or the last. */
function lastWithText(found: readonly FoundText[]): number {
  const last = found.findLastIndex(({ text }) => text !== "");
  return last === -1 ? found.length - 1 : last;
}

/** Each text's limits: none where all of them together are within the result's, else its fair share. */
function limitsOf(plan: AdmitPlan, found: readonly FoundText[]): Limits[] {
  const { limits, counter, exitCode } = plan;
  if (fitTogether(plan, found)) return found.map(() => limits);
  const sizes = found.map(({ text }) => measureText(text, counter));
  return shareLimits(limits, sizes, exitCode === null ? null : lastWithText(found));
}

/** Returns true if all texts joined, with the exit line, are within the limits. */
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

/** What the markers of a text that is cut take, about: without it in every unit nothing of the text is shown. */
const MARKERS: Size = { bytes: 640, chars: 640, lines: 8, tokens: 240 };

/**
 * The limits of each text under one budget: its fair share in every unit. Joints and the exit line of the one at
 * `exitAt` are charged first. A text that will be cut asks for its markers' room too, and gets what the small ones leave.
 */
function shareLimits(limits: Limits, sizes: readonly Size[], exitAt: number | null): Limits[] {
  let asked = sizes;
  for (;;) {
    const shares = sharesOf(limits, asked, exitAt);
    const isNew = (index: number) =>
      asked[index] === sizes[index] && isCut(shares[index] as Size, sizes[index] as Size, limits);
    if (!sizes.some((_, index) => isNew(index))) {
      addSpare(limits, shares, sizes, exitAt);
      return shares.map((share) => mapLimits(limits, (_, unit) => share[unit]));
    }
    asked = asked.map((size, index) =>
      isNew(index) ? combineSizes(size, MARKERS, (one, other) => one + other) : size,
    );
  }
}

/** What the texts may take together in one unit, and the exit line. */
function budgetFor(unit: Unit, limit: number, count: number, exitAt: number | null) {
  const exit = exitAt === null ? 0 : Math.min(EXIT_ROOM[unit], limit);
  return { exit, budget: Math.max(0, limit - Math.max(0, count - 1) * JOINT[unit] - exit) };
}

function sharesOf(limits: Limits, asked: readonly Size[], exitAt: number | null): Size[] {
  const shares: Size[] = asked.map(() => ({ bytes: 0, chars: 0, lines: 0, tokens: 0 }));
  for (const unit of UNITS) {
    const limit = limits[LIMIT_OF[unit]];
    if (limit === undefined) continue;
    const { exit, budget } = budgetFor(unit, limit, asked.length, exitAt);
    const fair = fairShares(
      asked.map((size) => size[unit]),
      budget,
    );
    fair.forEach((share, index) => {
      (shares[index] as Size)[unit] = share + (index === exitAt ? exit : 0);
    });
  }
  return shares;
}

/** Gives what nobody asked for to those that will be cut. */
function addSpare(limits: Limits, shares: Size[], sizes: readonly Size[], exitAt: number | null): void {
  const cut = shares.filter((share, index) => isCut(share, sizes[index] as Size, limits));
  for (const unit of UNITS) {
    const limit = limits[LIMIT_OF[unit]];
    if (limit === undefined || cut.length === 0) continue;
    const { exit, budget } = budgetFor(unit, limit, sizes.length, exitAt);
    const spare = budget + exit - shares.reduce((sum, share) => sum + share[unit], 0);
    for (const share of cut) share[unit] += Math.floor(spare / cut.length);
  }
}

function isCut(share: Size, size: Size, limits: Limits): boolean {
  return UNITS.some((unit) => limits[LIMIT_OF[unit]] !== undefined && share[unit] < size[unit]);
}
