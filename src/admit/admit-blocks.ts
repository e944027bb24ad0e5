import type { Limits } from "../contract/limits.ts";
import type { Receipt } from "../contract/receipt.ts";
import type { Extent, Size } from "../contract/size.ts";
import { boundValue } from "../stages/clamp/bound-value.ts";
import { fairShares } from "../stages/clamp/fair-shares.ts";
import { findTexts, replaceTexts } from "../stages/clamp/find-texts.ts";
import type { Keeping } from "../stages/mark/access.ts";
import { encodeText } from "../stages/measure/encode-text.ts";
import { measureText } from "../stages/measure/measure-text.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import {
  type Admission,
  type AdmissionRequest,
  type Admitted,
  type Ended,
  NOT_KEPT,
  startAdmission,
} from "./admission.ts";

/** One text of a structured result, clamped to its share. */
export interface AdmittedBlock {
  text: string;
  request: AdmissionRequest;
  ended: Ended;
}

/** A structured result whose texts share one budget. */
export interface AdmittedBlocks<T> {
  blocks: AdmittedBlock[];
  /** Takes what became of each block's whole text, in the blocks' order. */
  write(kept: { keeping: Keeping; sha256: string | null }[]): Admitted & { output: T; texts: string[] };
}

/** Clamps the texts of a structured result under one budget: small ones whole, large ones in fair shares. */
export function admitBlocks<T extends object>(request: AdmissionRequest, result: T): AdmittedBlocks<T> {
  const walked = findTexts(result);
  if (walked === null && !request.off) return admitTooLarge(request, result);
  const { texts: found, hasContent } = walked ?? { texts: [], hasContent: true };
  const sizes = found.map(({ text }) => measureText(text, request.counter));
  const shares = shareLimits(request.limits, sizes, request.exitCode !== null);
  const blocks = found.map(({ text }, index) => {
    // Only the last block says how a command ended.
    const exitCode = index === found.length - 1 ? request.exitCode : null;
    const own = { ...request, exitCode, limits: shares[index] as Limits };
    const admission = startAdmission(own);
    for (const bytes of encodeText(text)) admission.add(bytes);
    return { text, request: own, ended: admission.end() };
  });
  return {
    blocks,
    write(kept) {
      const admitted = blocks.map(({ text, ended }, index) => {
        const { keeping, sha256 } = kept[index] ?? { keeping: NOT_KEPT, sha256: null };
        return ended.write(keeping, sha256, text.toWellFormed());
      });
      const texts = found.map(({ path }, index) => ({ path, text: (admitted[index] as Admitted).text }));
      const changed = texts.filter(({ text }, index) => text !== found[index]?.text);
      const text = joinTexts(texts.map((block) => block.text));
      const receipt = joinReceipts(
        request,
        admitted.map((block) => block.receipt),
        measureText(text, request.counter),
      );
      const replaced = changed.length === 0 ? result : replaceTexts(result, changed);
      const output = request.boundDetails ? withBoundDetails(replaced) : replaced;
      const shown = hasContent ? { output, receipt } : boundShape(output, receipt);
      return { ...shown, text, texts: texts.map((block) => block.text) };
    },
  };
}

/** Fields beside the content that some hosts send to a model or write to a transcript. */
const DETAILS = ["details", "structuredContent"];

function withBoundDetails<T extends object>(result: T): T {
  const large = DETAILS.filter((key) => Object.hasOwn(result, key))
    .map((key) => [key, boundValue(Reflect.get(result, key), NUMBERS.detailsBytes.default)] as const)
    .filter(([, { cut }]) => cut);
  return large.length === 0
    ? result
    : { ...result, ...Object.fromEntries(large.map(([key, { value }]) => [key, value])) };
}

/** Texts one after another, each from a line of its own. */
function joinTexts(texts: string[]): string {
  let joined = "";
  for (const text of texts) joined += joined === "" || joined.endsWith("\n") || text === "" ? text : `\n${text}`;
  return joined;
}

/** An object reaches a model as JSON: what its keys and numbers take is bounded too. */
function boundShape<T extends object>(output: T, receipt: Receipt): { output: T; receipt: Receipt } {
  const { maxBytes, maxChars } = receipt.limits;
  if (maxBytes === undefined && maxChars === undefined) return { output, receipt };
  // Each line break of a text takes two in JSON, and other escapes up to six: twice the limit leaves texts alone.
  const bounded = boundValue(
    output,
    2 * Math.min(maxBytes ?? Number.POSITIVE_INFINITY, maxChars ?? Number.POSITIVE_INFINITY),
  );
  if (!bounded.cut) return { output, receipt };
  const faults = [
    ...(receipt.faults ?? []),
    "the result's other values were bounded too: the rest of them was not saved",
  ];
  return { output: bounded.value as T, receipt: { ...receipt, saved: "no", faults } };
}

/** What an exit line takes, at most. */
const EXIT_ROOM: Size = { bytes: 32, chars: 32, lines: 1, tokens: 16 };

/** The limits of each block: its fair share in every unit. Joining breaks and the last block's exit line are charged first. */
function shareLimits(limits: Limits, sizes: readonly Size[], hasExit: boolean): Limits[] {
  const joints = Math.max(0, sizes.length - 1);
  const unit = (limit: number | undefined, name: keyof Size, joint: number) => {
    if (limit === undefined) return undefined;
    const exit = hasExit ? Math.min(EXIT_ROOM[name], limit) : 0;
    const shares = fairShares(
      sizes.map((size) => size[name]),
      Math.max(0, limit - joints * joint - exit),
    );
    if (shares.length > 0) shares[shares.length - 1] = (shares.at(-1) as number) + exit;
    return shares;
  };
  const bytes = unit(limits.maxBytes, "bytes", 1);
  const chars = unit(limits.maxChars, "chars", 1);
  const lines = unit(limits.maxLines, "lines", 0);
  const tokens = unit(limits.maxTokens, "tokens", 1);
  return sizes.map((_, index) => ({
    ...(bytes && { maxBytes: bytes[index] as number }),
    ...(chars && { maxChars: chars[index] as number }),
    ...(lines && { maxLines: lines[index] as number }),
    ...(tokens && { maxTokens: tokens[index] as number }),
  }));
}

/** More nodes than anyone should walk: a bounded copy stands for all of it. */
function admitTooLarge<T extends object>(request: AdmissionRequest, result: T): AdmittedBlocks<T> {
  const bounded = boundValue(
    result,
    Math.min(
      request.limits.maxBytes ?? NUMBERS.ceilingBytes.default,
      request.limits.maxChars ?? NUMBERS.ceilingBytes.default,
    ),
  );
  const text = typeof bounded.value === "string" ? bounded.value : JSON.stringify(bounded.value);
  const admission: Admission = startAdmission(request);
  for (const bytes of encodeText(text)) admission.add(bytes);
  const ended = admission.end();
  return {
    blocks: [],
    write() {
      const admitted = ended.write(NOT_KEPT, null, text);
      const faults = ["the result has too many values to walk: a bounded copy stands for it, the rest was not saved"];
      return {
        ...admitted,
        texts: [],
        output: bounded.value as T,
        receipt: { ...admitted.receipt, saved: "no", faults },
      };
    },
  };
}

function joinReceipts(request: AdmissionRequest, receipts: Receipt[], shown: Size): Receipt {
  const sum = (part: "total" | "kept" | "folded" | "redacted" | "omitted"): Extent =>
    receipts.reduce(
      (all, receipt) => ({ bytes: all.bytes + receipt[part].bytes, lines: all.lines + receipt[part].lines }),
      { bytes: 0, lines: 0 },
    );
  const cut = receipts.filter((receipt) => receipt.saved !== null);
  const cuts = receipts.flatMap((receipt, block) => receipt.cuts.map((one) => ({ ...one, block })));
  const artifacts = cut.flatMap((receipt) => receipt.artifact ?? []);
  const faults = receipts.flatMap((receipt) => receipt.faults ?? []);
  return {
    tool: request.tool,
    session: request.session,
    call: request.call,
    strategy: request.strategy.name,
    total: sum("total"),
    kept: sum("kept"),
    folded: sum("folded"),
    redacted: sum("redacted"),
    omitted: sum("omitted"),
    shown,
    estimated: request.counter.exact ? [] : ["tokens"],
    limits: request.limits,
    cutBy: receipts.find((receipt) => receipt.cutBy !== null)?.cutBy ?? null,
    cuts: cuts.slice(0, NUMBERS.receiptCuts.default),
    moreCuts:
      Math.max(0, cuts.length - NUMBERS.receiptCuts.default) +
      receipts.reduce((all, { moreCuts }) => all + moreCuts, 0),
    artifact: artifacts[0] ?? null,
    sha256: cut.find((receipt) => receipt.sha256 !== null)?.sha256 ?? null,
    saved: cut.length === 0 ? null : leastSaved(cut),
    savedBytes: receipts.reduce((all, receipt) => all + receipt.savedBytes, 0),
    exitCode: request.exitCode,
    ...(artifacts.length > 1 ? { artifacts } : {}),
    ...(faults.length > 0 ? { faults } : {}),
  };
}

const SAVED_ORDER = ["no", "partial", "local", "yes"] as const;

function leastSaved(receipts: Receipt[]): Receipt["saved"] {
  return SAVED_ORDER.find((saved) => receipts.some((receipt) => receipt.saved === saved)) ?? null;
}
