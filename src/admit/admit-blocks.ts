import type { Limits } from "../contract/limits.ts";
import { copyPlain } from "../stages/clamp/bound-copy.ts";
import { limitsFor } from "../stages/clamp/clamp.ts";
import { contentOf, type FoundTexts, findTexts, replaceTexts, withField } from "../stages/clamp/find-texts.ts";
import { joinedBlocks } from "../stages/mark/texts.ts";
import { measureText } from "../stages/measure/estimate-tokens.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { LargeJson } from "../values.ts";
import { type AdmitPlan, type Admitted, holdLimits, type SourceAccount } from "./admission.ts";
import { admitObject, boundObject, fitted } from "./admit-object.ts";
import {
  type AdmittedBlocks,
  admitTexts,
  fitTogether,
  joinTexts,
  MOST_TEXTS,
  withBoundDetails,
} from "./admit-texts.ts";

/**
 * Clamps a structured result. Content blocks share one budget: small ones whole, large ones in fair shares, very many as
 * one text. An object without content reaches a model as JSON, so there its keys and numbers count too.
 */
export function admitBlocks<T extends object>(
  plan: AdmitPlan,
  given: T,
  sources: readonly SourceAccount[] = [],
): AdmittedBlocks<T> {
  if (plan.off) return admitTexts(plan, given, findTexts(given)?.texts ?? []);
  if (given instanceof LargeJson) return boundObject(plan, given);
  const result = plainResult(given, plan.limits);
  const found = result === null ? null : findTexts(result);
  if (result === null || found === null) return admitUnwalked(plan, given);
  const chars = found.texts.reduce((sum, { text }) => sum + text.length, 0);
  const request = { ...plan, limits: limitsFor(plan, chars) };
  const texts = found.texts.map((text, index) => ({ ...text, source: sources[index] }));
  if (!found.hasContent) return admitObject(request, given, result, texts);
  const isMany = texts.length > Math.min(MOST_TEXTS, mostTexts(request.limits)) && !fitTogether(request, texts);
  return isMany ? admitAsOne(request, result, found) : admitTexts(request, result, texts);
}

/**
 * A result as JSON has it: itself, unless some of it is not what JSON makes of it, or it has more links and blocks of unknown
 * types than the limits allow. Null if there is too much of it for one copy.
 */
export function plainResult<T extends object>(result: T, limits: Limits): T | null {
  const found = findTexts(result);
  if (found === null) return result;
  if (!found.isForeign) return found.hasContent ? withOthersAsText(result, found, limits) : result;
  const isField = found.hasContent && !Array.isArray(result);
  const plain = copyPlain(isField ? contentOf(result) : result, NUMBERS.detailsBytes.ceiling);
  if (typeof plain !== "object" || plain === null) return null;
  return isField ? withField(result, "content", plain) : (plain as T);
}

/**
 * The share of the limits, or of the usual ceiling if that is more, that blocks without texts may take: links, and blocks of
 * types that are not known. A few links stay though texts have little room.
 */
const OTHERS_SHARE = 1 / 4;

/**
 * Blocks without texts are not clamped, and must stay what they are for whoever checks them. Those that go beyond their share
 * of the limits stand in one text instead, a line of JSON each, which is clamped and kept like any other.
 */
function withOthersAsText<T extends object>(result: T, found: FoundTexts, { maxBytes, maxChars }: Limits): T {
  const content = contentOf(result);
  const limit = Math.min(maxBytes ?? Number.POSITIVE_INFINITY, maxChars ?? Number.POSITIVE_INFINITY);
  const most = Math.max(limit, NUMBERS.ceilingBytes.default) * OTHERS_SHARE;
  if (!Array.isArray(content)) return result;
  const at = Array.isArray(result) ? 0 : 1;
  const said = new Map<number, number>();
  for (const { path, text } of found.texts) {
    const index = path[at] as number;
    said.set(index, (said.get(index) ?? 0) + JSON.stringify(text).length - 2);
  }
  const kept: unknown[] = [];
  const lines: string[] = [];
  let first = 0;
  let chars = 0;
  for (const [index, block] of content.entries()) {
    const json = isOther(block, found.mediaAt.has(index)) ? (JSON.stringify(block) ?? "") : "";
    chars += Math.max(0, json.length - (said.get(index) ?? 0));
    if (json === "" || chars <= most) kept.push(block);
    else if (lines.push(json) === 1) first = kept.length;
  }
  if (lines.length === 0) return result;
  return withContent(result, kept.toSpliced(first, 0, { type: "text", text: lines.join("\n") }));
}

/** A link, or a block that holds no media and is no text. */
function isOther(block: unknown, isMedia: boolean): boolean {
  if (typeof block !== "object" || block === null || Array.isArray(block)) return false;
  const { type } = block as { type?: unknown };
  return type === "resource_link" || (!isMedia && type !== "text" && type !== "resource");
}

/** What is larger or deeper than anyone should walk: a bounded copy of it, or of `seen`, is shown; a text of it as content. */
export function admitUnwalked<T extends object>(plan: AdmitPlan, result: T, seen?: object): AdmittedBlocks<T> {
  const { blocks, write } = boundObject(plan, result, seen);
  if (contentOf(result) === null) return { blocks, write };
  return {
    blocks,
    write(kept) {
      const written = write(kept);
      return { ...written, output: withContent(result, [{ type: "text", text: written.text }]) };
    },
  };
}

/** Very many texts as one, each from a line of its own: one budget, one marker, one artifact. */
function admitAsOne<T extends object>(plan: AdmitPlan, result: T, found: FoundTexts): AdmittedBlocks<T> {
  const texts = found.texts.map((each) => each.text);
  const text = joinTexts(texts);
  const note = joinedBlocks(firstLinesOf(texts));
  const hasRoom = mostTexts(plan.limits) >= LEAST_FOR_NOTE;
  const whole = { ...plan, boundDetails: false, ...(hasRoom && { note }) };
  const { blocks, write } = admitTexts(whole, { content: text }, [{ text, path: ["content"] }]);
  return {
    blocks,
    write(kept) {
      const written = write(kept);
      const output = withOneText(result, found, written.text);
      return { ...written, output: plan.boundDetails ? withBoundDetails(output) : output };
    },
  };
}

/** With room for fewer texts than this a note on where each begins would take too much of it. */
const LEAST_FOR_NOTE = 32;

/** The line of the joined text in which each begins. */
function firstLinesOf(texts: readonly string[]): number[] {
  let next = 1;
  return texts.map((text) => {
    const line = next;
    next += measureText(text).lines;
    return line;
  });
}

/** The result with one text where its first one stood and without the others; blocks that hold media stay, their texts empty. */
function withOneText<T extends object>(result: T, { texts, mediaAt }: FoundTexts, text: string): T {
  const at = Array.isArray(result) ? 0 : 1;
  const indexOf = ({ path }: { path: readonly (string | number)[] }) => path[at] as number;
  const mixed = texts.filter((each) => mediaAt.has(indexOf(each)));
  const emptied =
    mixed.length === 0
      ? result
      : replaceTexts(
          result,
          mixed.map(({ path }) => ({ path, text: "" })),
        );
  const hasText = new Set(texts.map(indexOf));
  const content: unknown[] = [];
  let isPlaced = false;
  for (const [index, block] of (contentOf(emptied) as unknown[]).entries()) {
    const isText = hasText.has(index);
    if (isText && !isPlaced) content.push(textLike(block, text));
    isPlaced ||= isText;
    if (!isText || mediaAt.has(index)) content.push(block);
  }
  return withContent(result, content);
}

/** A text of the same sort as a block. */
function textLike(block: unknown, text: string): unknown {
  if (typeof block !== "object" || block === null) return text;
  const { type, text: own } = block as { type?: unknown; text?: unknown };
  return { type: typeof own === "string" ? type : "text", text };
}

function withContent<T extends object>(result: T, content: unknown[]): T {
  return Array.isArray(result) ? (content as T) : withField(result, "content", content);
}

/** Checks that a structured result is within its limits as a model gets it. */
export function holdBlocks<T extends object, A extends Admitted & { output: T }>(plan: AdmitPlan, admitted: A): A {
  return holdLimits(plan, admitted, (text) => {
    const { output } = admitted;
    const found =
      typeof output === "object" && output !== null && contentOf(output) !== null ? findTexts(output) : null;
    if (found === null) return fitted(plan, output, "") as Pick<A, "text" | "output">;
    return {
      text,
      output:
        typeof contentOf(output) === "string" ? withField(output, "content", text) : withOneText(output, found, text),
    };
  });
}

/** With more texts than this nothing of each could be shown. */
function mostTexts({ maxBytes, maxChars, maxLines, maxTokens }: Limits): number {
  const none = Number.POSITIVE_INFINITY;
  const most = Math.min((maxBytes ?? none) / 64, (maxChars ?? none) / 64, maxLines ?? none, (maxTokens ?? none) / 32);
  return Math.max(1, Math.floor(most));
}
