import type { AdmittedOutput } from "../admit/admission.ts";
import { lastWords } from "../admit/intent.ts";
import type { Limits } from "../contract/limits.ts";
import type { TokenCounter } from "../contract/token-counter.ts";
import type { WireResult } from "../contract/wire.ts";
import { planBatch } from "../stages/prune/plan-batch.ts";
import { STEP } from "../stages/prune/prune-item.ts";
import { joinTexts } from "../stages/prune/trim-text.ts";
import { portion } from "../stages/prune/weight.ts";
import type { Conversation, Item } from "./conversation.ts";
import type { Form } from "./form.ts";
import type { ResultRequest } from "./ports.ts";
import { madeBy, type Preparation } from "./preparation.ts";

/**
 * Second insurance: a result over its tool's limits that no `admit` has seen is clamped, saved first. It is told as a
 * warning, since the place where tools run is where that belongs. What is over its limits is found first and weighs what its
 * limits leave of it, so that nothing is clamped that is cleared with the same request.
 */
export function overLimits(conversation: Conversation, preparation: Preparation): Item[] {
  const { ports, pruning } = preparation;
  // Those that are only to be recorded pass too, and stay as they are.
  const recorded = new Set(preparation.records === "all" ? conversation.newest() : []);
  return conversation.items.slice(conversation.lookedAt).filter((item) => {
    if (item.isInsured || !pruning.insure || item.message < conversation.covered) return false;
    item.isInsured = true;
    const { limits, off } = ports.resolve(item.tool);
    const isRecorded = recorded.has(item) && !preparation.isRecall(item.tool);
    if (item.form !== null || ((off || isWithin(item, limits, ports.counter)) && !isRecorded)) return false;
    if (item.result.texts.some((text) => ports.knownTexts.find(text) !== null)) return false;
    conversation.expect(item, portion(item.read.weight, shareWithin(item.read.texts, limits)));
    return true;
  });
}

/** Clamps what is over its limits, except what is cleared. */
export async function insureResults(
  over: readonly Item[],
  cleared: ReadonlySet<Item>,
  preparation: Preparation,
): Promise<void> {
  for (const item of over) {
    preparation.conversation.expect(item, item.read.weight);
    const { chars } = item.read.texts;
    const what = `a result of ${item.tool} (${chars} characters) was over its limits and had not come through admit`;
    const form = cleared.has(item) ? null : await clampItem(item, preparation);
    if (form !== null) preparation.change(item, "insured", form);
    if (form !== null || cleared.has(item))
      preparation.warn(`${what}; it was ${form === null ? "cleared" : `clamped to ${form.weight.chars}`}`);
  }
}

/**
 * Brings results that no model has seen yet under one budget. Shares come from what the results are and what their limits
 * leave of them, not from what is shown: the same request is cut alike each time.
 */
export async function budgetBatch(conversation: Conversation, preparation: Preparation): Promise<void> {
  const { pruning, windowTokens, ports } = preparation;
  const newest = conversation.newest().map((item) => {
    const { limits, off } = ports.resolve(item.tool);
    const isOurs = !item.result.fixed && !preparation.isRecall(item.tool) && !off;
    // Media stay: a share is of the texts beside them.
    const { texts } = item.read;
    const shown = isOurs && pruning.insure ? portion(texts, shareWithin(texts, limits)) : texts;
    return { ...item, shown, untouchable: !isOurs || item.read.count === 0, item };
  });
  for (const { item, maxChars } of planBatch(newest, pruning, windowTokens)) {
    const now = item.item.form?.weight ?? item.read.texts;
    if (now.chars <= maxChars) continue;
    const form = await clampItem(item.item, preparation, { maxChars });
    if (form !== null && form.weight.chars < now.chars) preparation.change(item.item, "batched", form);
  }
}

async function clampItem(item: Item, preparation: Preparation, limits?: Limits): Promise<Form | null> {
  const { ports, session, reader, via } = preparation;
  const { texts } = item.result;
  const request: ResultRequest = {
    tool: item.tool,
    session: session ?? undefined,
    call: item.call ?? undefined,
    output: outputOf(item.result),
    ...madeBy(item.answers),
    // Only what stands before it: what is said later must not change how it is shown.
    intent: lastWords(preparation.messages, item.message) ?? undefined,
    via,
    // A gateway records every result, and holds no request up for it.
    isRecordedLater: preparation.records === "all",
    ...(limits?.maxChars !== undefined && { limits: { maxChars: limits.maxChars } }),
  };
  const admitted = await ports.admit(request);
  const clamped = textsOf(item.result, admitted);
  if (joinTexts(clamped) === joinTexts(texts)) return null;
  const { artifact, saved, savedBytes } = admitted.receipt;
  const kept = artifact === null || saved === null ? null : { id: artifact, saved, savedBytes };
  return { step: STEP.clamped, texts: clamped, kept, weight: reader.weigh(clamped) };
}

/** What a result holds, as `admit` takes it. An object counts as the JSON that a model reads, even if it looks like content. */
export function outputOf({ texts, json }: WireResult): unknown {
  if (json !== undefined) return "content" in json ? [json] : json;
  return texts.length === 1 ? texts[0] : { content: texts.map((text) => ({ type: "text", text })) };
}

/** What `admit` gave for it: each text in its place, or all in one where some were left out. */
export function textsOf(
  { texts, json }: WireResult,
  { output, text }: Pick<AdmittedOutput, "output" | "text">,
): string[] {
  if (typeof output === "string") return [output];
  if (json !== undefined)
    return [JSON.stringify(Array.isArray(output) && !Array.isArray(json) && output.length === 1 ? output[0] : output)];
  const { content } = output as { content?: { text?: unknown }[] };
  const each = Array.isArray(content) ? content.map((block) => block?.text) : [];
  return each.length === texts.length && each.every((one) => typeof one === "string") ? each : [text];
}

/** About the share of a text that stays within limits. */
function shareWithin({ chars, bytes, lines, tokens }: Item["read"]["texts"], limits: Limits): number {
  const { maxBytes, maxChars, maxLines, maxTokens } = limits;
  const part = (limit: number | undefined, size: number) => (limit === undefined || size <= limit ? 1 : limit / size);
  return Math.min(part(maxChars, chars), part(maxBytes, bytes), part(maxLines, lines), part(maxTokens, tokens));
}

function isWithin({ read, result }: Item, limits: Limits, counter: TokenCounter): boolean {
  const { maxBytes, maxChars, maxLines, maxTokens } = limits;
  const { chars, bytes, lines } = read.texts;
  const fits = (value: number, limit: number | undefined) => limit === undefined || value <= limit;
  // Texts are joined here by breaks that no limit charges for.
  const joints = read.count - 1;
  return (
    fits(chars - joints, maxChars) &&
    fits(bytes - joints, maxBytes) &&
    fits(lines, maxLines) &&
    // Weighed by samples so far; a limit is held to the count.
    (maxTokens === undefined || counter.count(joinTexts(result.texts)) <= maxTokens)
  );
}
