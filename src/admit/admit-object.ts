import type { Cut } from "../contract/cut.ts";
import type { Limits } from "../contract/limits.ts";
import type { Size } from "../contract/size.ts";
import { boundValue, CUT_KEY } from "../stages/clamp/bound-value.ts";
import { startClamp } from "../stages/clamp/clamp.ts";
import { replaceTexts } from "../stages/clamp/find-texts.ts";
import { budgetOf, capacityBytes, overBudget } from "../stages/clamp/fit.ts";
import { jsonChunks, jsonWithin } from "../stages/clamp/json-chunks.ts";
import { json } from "../stages/clamp/strategies/json.ts";
import { accessText } from "../stages/mark/access.ts";
import { measureText } from "../stages/measure/estimate-tokens.ts";
import { encodeText, newScan, scanBytes, scannedChars, scannedLines } from "../stages/measure/scan.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { combineSizes, LargeJson, mapLimits } from "../values.ts";
import { type AdmitPlan, NOT_SAVED, startAdmission } from "./admission.ts";
import {
  type AdmittedBlocks,
  admitTexts,
  areCutInMany,
  fitTogether,
  isCutBlock,
  MOST_TEXTS,
  type SourceText,
} from "./admit-texts.ts";
import { cutAccount, newReceipt, shapeReceipt } from "./receipts.ts";

/** Each takes twice what the one before took: enough for any limit there is. */
const MOST_TRIES = 24;

/**
 * Clamps an object that reaches a model as JSON; `plain` is the same as JSON has it. Its texts are clamped in place while
 * that is enough; where its keys and numbers are too many, a bounded copy stands for it and all of it is kept as JSON.
 */
export function admitObject<T extends object>(
  plan: AdmitPlan,
  given: T,
  plain: T,
  texts: readonly SourceText[],
): AdmittedBlocks<T> {
  const { limits, counter } = plan;
  const most = mostChars(plan);
  const json = jsonWithin(plain, most);
  const fits = json !== null && isEmpty(excessOf(json, plan));
  if (fits && plan.exitCode === null && fitTogether(plan, texts)) return asItIs(plan, given, plain, json);
  const shape = jsonWithin(emptied(plain, texts), most);
  if (shape === null) return boundObject(plan, plain);
  let over = measureText(shape, counter);
  // Most of it are keys and numbers: what would be left for its texts is not worth more.
  if (!isEmpty(excessOf(shape, { ...plan, limits: halfOf(limits) })))
    return fits ? asItIs(plan, given, plain, json) : boundObject(plan, plain);
  const shapeBytes = over.bytes;
  // Breaks and quotes take two bytes in JSON: a second try makes room for what the first one met.
  for (let tries = 0; tries < 3; tries++) {
    const less = { ...plan, limits: lessThan(limits, over) };
    if (areCutInMany(less, texts)) break;
    const admitted = admitTexts(less, plain, texts);
    if (admitted.blocks.filter(isCutBlock).length > MOST_TEXTS) break;
    const excess = excessOf(JSON.stringify(admitted.write([]).output), plan);
    if (isEmpty(excess)) return asJson(plan, admitted, shapeBytes);
    over = combineSizes(over, excess, (one, other) => one + other);
  }
  return boundObject(plan, plain);
}

/** Longer JSON is over the limits, whatever it says. */
function mostChars({ limits, counter }: AdmitPlan): number {
  return Math.min(limits.maxChars ?? Number.POSITIVE_INFINITY, capacityBytes(limits, counter));
}

function emptied(result: object, texts: readonly SourceText[]): object {
  return replaceTexts(
    result,
    texts.map(({ path }) => ({ path, text: "" })),
  );
}

/** How far a text is over the limits, in each unit. */
function excessOf(text: string, { limits, counter }: AdmitPlan): Size {
  const free = limits.maxTokens === undefined ? { ...counter, count: () => 0 } : counter;
  return combineSizes(measureText(text, free), budgetOf(limits), (size, limit) => Math.max(0, size - limit));
}

function isEmpty({ bytes, chars, lines, tokens }: Size): boolean {
  return bytes + chars + lines + tokens === 0;
}

function halfOf(limits: Limits): Limits {
  const half = budgetOf(limits);
  // JSON has one line.
  return { maxBytes: half.bytes / 2, maxChars: half.chars / 2, maxLines: half.lines, maxTokens: half.tokens / 2 };
}

/** Limits with so much less room; a text's lines are none of the JSON's. */
function lessThan(limits: Limits, taken: Size): Limits {
  return mapLimits(limits, (limit, unit) => (unit === "lines" ? limit : Math.max(0, limit - taken[unit])));
}

/** Clamped texts in place; what the model gets is their JSON, and the shape around them counts as kept. */
function asJson<T extends object>(plan: AdmitPlan, admitted: AdmittedBlocks<T>, shapeBytes: number): AdmittedBlocks<T> {
  // What a summary takes as JSON is not known before it is written.
  for (const block of admitted.blocks) if (block.ended !== null) block.ended = { ...block.ended, canSummarize: false };
  return {
    blocks: admitted.blocks,
    write(kept) {
      let written = admitted.write(kept);
      // Markers that say where the rest is have other quotes than those that were tried.
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const excess = excessOf(JSON.stringify(written.output), plan);
        if (isEmpty(excess)) break;
        tighten(
          admitted,
          written.texts,
          combineSizes(excess, excess, (one) => one * 2 ** tries),
        );
        written = admitted.write(kept);
      }
      const text = JSON.stringify(written.output);
      const receipt = shapeReceipt(written.receipt, shapeBytes, measureText(text, plan.counter), plan.limits);
      return { ...written, text, receipt, totalChars: written.totalChars + shapeBytes };
    },
  };
}

/** Cuts the longest text that was cut by so much more. */
function tighten({ blocks }: AdmittedBlocks<object>, texts: readonly string[], by: Size): void {
  const length = (index: number) => (blocks[index]?.ended?.cut ? (texts[index]?.length ?? 0) : -1);
  const longest = texts.reduce((best, _, index) => (length(index) > length(best) ? index : best), 0);
  const block = blocks[longest];
  if (!block?.ended?.cut) return;
  block.plan = { ...block.plan, limits: lessThan(block.plan.limits, by) };
  const admission = startAdmission(block.plan);
  for (const chunk of block.chunks()) admission.add(chunk);
  block.ended = { ...admission.end(), canSummarize: false };
}

/** Within the limits: the caller's own, if JSON has a word for all of it. */
function asItIs<T extends object>(plan: AdmitPlan, given: T, plain: T, json: string): AdmittedBlocks<T> {
  const own = given === plain ? json : jsonWithin(given, mostChars(plan));
  const isOwn = own !== null && isEmpty(excessOf(own, plan));
  const text = isOwn ? own : json;
  const whole = { ...plan, limits: {}, exitCode: null, boundDetails: false };
  const { blocks, write } = admitTexts(whole, { content: text }, [{ text, path: ["content"] }]);
  return {
    blocks,
    write(kept) {
      const written = write(kept);
      const receipt = { ...written.receipt, limits: plan.limits, exitCode: plan.exitCode };
      return { ...written, receipt, output: isOwn ? given : plain, texts: [] };
    },
  };
}

/** A bounded copy, of `seen` if not of the result itself; the whole is kept as JSON, one element or field a line. */
export function boundObject<T extends object>(
  plan: AdmitPlan,
  result: T,
  seen: object = result instanceof LargeJson ? result.seen : result,
): AdmittedBlocks<T> {
  const chunks = function* () {
    if (result instanceof LargeJson) yield* result.lines();
    else for (const chunk of jsonChunks(result)) yield* encodeText(chunk);
  };
  const scan = newScan();
  for (const bytes of chunks()) scanBytes(scan, bytes);
  const total = { bytes: scan.bytes, lines: scannedLines(scan), chars: scannedChars(scan), breaks: scan.breaks };
  return {
    blocks: [{ text: null, plan, chunks, ended: null }],
    write([spilled = NOT_SAVED]) {
      const note = `shortened from ${total.bytes} bytes, one field or element a line. ${accessText(spilled)}`;
      const { output, text } = excerpt(plan, seen, note) ?? fitted(plan, seen, note);
      const shown = measureText(text, plan.counter);
      const kept = { bytes: Math.min(shown.bytes, total.bytes), lines: Math.min(shown.lines, total.lines) };
      const omitted = { bytes: total.bytes - kept.bytes, lines: total.lines - kept.lines };
      const gap = { fromLine: 1, toLine: total.lines, lines: omitted.lines, bytes: omitted.bytes, chars: total.chars };
      const unlimited = Number.POSITIVE_INFINITY;
      const cutBy = overBudget({ ...total, lines: 1, tokens: unlimited }, budgetOf(plan.limits)) ?? "bytes";
      const cut: Cut = { parts: [gap], total, kept, folded: { bytes: 0, lines: 0 }, omitted, cutBy };
      const facts = {
        strategy: "bounded",
        shown,
        artifact: spilled.id,
        sha256: spilled.sha256,
        saved: spilled.saved,
        savedBytes: spilled.savedBytes,
        ...(spilled.redactions.count > 0 ? { storedRedactions: spilled.redactions } : {}),
      };
      const receipt = newReceipt(plan, facts, cutAccount(plan.source?.account(cut) ?? cut));
      return { output: output as T, text, texts: [], receipt, totalChars: total.chars };
    },
  };
}

/** A text this long may be an image or a file, of which a part is worth nothing. */
const LONG_TEXT = /"[^"\\]{4096}/;

/** The rows that its JSON as a text would show, as a value with our note; null where they cannot be had within the limits. */
function excerpt(plan: AdmitPlan, seen: object, note: string): { output: unknown; text: string } | null {
  const { maxLines = 1, ...limits } = plan.limits;
  const room = noteRoom(note);
  if ((plan.strategy.choose === undefined && plan.strategy !== json) || maxLines < 1 || room > mostChars(plan) / 4)
    return null;
  const { exitCode: _exitCode, ...request } = plan;
  const clamp = startClamp({ ...request, limits, strategy: json, fold: false });
  for (const chunk of jsonChunks(seen)) {
    if (LONG_TEXT.test(chunk)) return null;
    for (const bytes of encodeText(chunk)) clamp.add(bytes);
  }
  const none = { bytes: 0, chars: 0, lines: 0, tokens: 0 };
  const fixed = { bytes: room, chars: room, lines: 0, tokens: plan.counter.count(note) + room - note.length };
  const cut = clamp.end((text) => text).cutter?.cut({ fixed, gap: none });
  const [piece] = cut?.parts ?? [];
  if (cut === undefined || cut.isQuoting || piece === undefined || !("text" in piece)) return null;
  try {
    const value: unknown = JSON.parse(piece.text);
    if (typeof value !== "object" || value === null) return null;
    if (Array.isArray(value)) value.push(`[cut] ${note}`);
    else if (Object.hasOwn(value, CUT_KEY)) return null;
    else Object.assign(value, { [CUT_KEY]: note });
    const text = JSON.stringify(value);
    return isEmpty(excessOf(text, plan)) ? { output: value, text } : null;
  } catch {
    return null;
  }
}

/** Room for a note as JSON, in which every quote takes two bytes. */
function noteRoom(note: string): number {
  return note.length + 64;
}

/** A share of what would fit by the count: tokens do not add up. */
const SURE_SHARE = 0.9;

/** A copy, with our note on it where it is an object, small enough in every unit. */
export function fitted(plan: AdmitPlan, result: unknown, note: string): { output: unknown; text: string } {
  const { limits, counter } = plan;
  const { maxTokens = Number.POSITIVE_INFINITY, maxLines = 1 } = limits;
  // JSON is one line.
  const first = maxLines < 1 ? 0 : Math.min(mostChars(plan), NUMBERS.detailsBytes.ceiling);
  for (let most = first; ; ) {
    const noteBytes = noteRoom(note);
    const room = noteBytes < most / 4 ? noteBytes : 0;
    const { value } = boundValue(result, most - room);
    if (room > 0 && typeof value === "object" && value !== null) {
      // The result may have such a key itself: ours is the one that it has not.
      const key = Object.keys(value).find(
        (name) => /^\[cut\](?: \(\d+\))?$/.test(name) && !Object.hasOwn(result as object, name),
      );
      if (key !== undefined) (value as Record<string, unknown>)[key] = note;
      else if (Array.isArray(value) && note !== "") value.push(`[cut] ${note}`);
    }
    const text = JSON.stringify(value) ?? "";
    const tokens = maxTokens === Number.POSITIVE_INFINITY ? 0 : counter.count(text);
    if (most < 2 || tokens <= maxTokens) return { output: value, text };
    most = Math.floor(Math.min(most / 2, ((text.length * maxTokens) / tokens) * SURE_SHARE));
  }
}
