import type { WireEdit, WireResult } from "../contract/wire.ts";
import { outputOf, textsOf } from "../prepare/clamp-results.ts";
import { argumentsText, mediaBytes, mediaLine, mediaNote, savedResult, withLine } from "../prepare/cut-results.ts";
import { type MessageChange, type SavedResult, savedLine } from "../prepare/form.ts";
import { madeBy } from "../prepare/preparation.ts";
import { encodeText } from "../stages/measure/scan.ts";
import { joinTexts, shortenTexts, trimText } from "../stages/prune/trim-text.ts";
import type { RungCut } from "../stages/recover/rung.ts";
import { spillBatches, startSpill } from "../stages/spill/spill.ts";
import type { CallPorts } from "./call-options.ts";
import type { Draft, DraftItem } from "./draft.ts";

/** What making cuts needs. */
export interface CutTools {
  ports: CallPorts;
  session: string | null;
  placeholder: string;
  softTrim: { maxChars: number; headChars: number; tailChars: number };
  /** Returns the message as the caller gave it, before any cut. This is what is saved. */
  originOf(message: unknown): unknown;
  /** Returns the message as it was prepared. What is shown is cut from it, not from the result of an earlier cut. */
  baseOf(message: unknown): unknown;
  /** Takes how the cut that gave these texts is recorded, once it was sent. */
  records: WeakMap<readonly string[], () => Promise<unknown>>;
  change(message: unknown, more: MessageChange): unknown;
}

/**
 * Saves what is about to be removed, then returns the messages with the cuts made. Unchanged messages are the same
 * objects.
 */
export async function applyCuts(draft: Draft, cuts: readonly RungCut[], tools: CutTools): Promise<unknown[]> {
  const last = new Map<DraftItem | number, RungCut>();
  for (const cut of cuts) last.set("item" in cut ? (cut.item as DraftItem) : cut.message, cut);
  const changes = new Map<number, { edits: WireEdit[]; mediaText: string | null }>();
  const at = (message: number) => {
    const known = changes.get(message) ?? { edits: [], mediaText: null };
    changes.set(message, known);
    return known;
  };
  const charsOf = (cut: RungCut) => ("item" in cut ? (cut.item as DraftItem).texts.chars : 0);
  for (const some of spillBatches([...last.values()], charsOf)) {
    await Promise.all(
      some.map(async (cut) => {
        if (!("item" in cut)) at(cut.message).mediaText = await mediaText(draft, cut.message, null, tools);
        else {
          const item = cut.item as DraftItem;
          const edit = await editOf(draft, { ...cut, item }, tools);
          if (edit !== null) at(item.message).edits.push({ ...edit, at: item.at });
        }
      }),
    );
  }
  return draft.messages.map((message, index) => {
    const change = changes.get(index);
    return change === undefined ? message : tools.change(message, change);
  });
}

async function editOf(
  draft: Draft,
  cut: RungCut & { item: DraftItem },
  tools: CutTools,
): Promise<Omit<WireEdit, "at"> | null> {
  const { item } = cut;
  if (cut.to === "without-media") return { mediaText: await mediaText(draft, item.message, item, tools) };
  if (item.result === null) return cut.to === "clamped" ? null : shortenCall(draft, item, cut.to, tools);
  const result = resultIn(draft, item, item.result, tools.originOf);
  if (cut.to === "clamped") return clampResult(item, result, cut.limits, tools);
  const whole = joinTexts(resultIn(draft, item, item.result, tools.baseOf).texts);
  const text = cut.to === "cleared" ? tools.placeholder : trimText(whole, tools.softTrim);
  if (text === null) return null;
  const kept = isRecall(item.tool, tools) ? null : await keep(encodeText(joinTexts(result.texts)), item, tools);
  const short = withLine(text, await savedLine(kept, item.tool, tools.session, tools.ports));
  return short.length < joinTexts(item.result.texts).length ? { texts: [short] } : null;
}

/** Cuts from the call as the caller gave it, because a call that was cut before may have fewer long strings. */
async function shortenCall(
  draft: Draft,
  item: DraftItem,
  to: "trimmed" | "cleared",
  tools: CutTools,
): Promise<Omit<WireEdit, "at"> | null> {
  const origin = draft.wire.read(tools.originOf(draft.messages[item.message]));
  const call = origin.calls.find(({ long }) => long?.at === item.at);
  if (call?.long === undefined) return null;
  const kept = await keep(encodeText(argumentsText(call)), item, tools);
  const line = await savedLine(kept, item.tool, tools.session, tools.ports);
  const texts = shortenTexts(call.long.texts, to, tools.softTrim, line);
  return texts === null ? null : { texts };
}

async function clampResult(
  item: DraftItem,
  result: WireResult,
  limits: { maxChars?: number; maxBytes?: number; maxLines?: number },
  { ports, session, records }: CutTools,
): Promise<Omit<WireEdit, "at"> | null> {
  const admitted = await ports.admit({
    tool: item.tool,
    session: session ?? undefined,
    call: item.call ?? undefined,
    ...madeBy(item),
    output: outputOf(result),
    limits,
  });
  const texts = textsOf(result, admitted);
  if (joinTexts(texts).length >= item.texts.chars) return null;
  records.set(texts, admitted.record);
  return { texts };
}

/** Returns the text that replaces media. First saves the media. */
async function mediaText(draft: Draft, index: number, item: DraftItem | null, tools: CutTools): Promise<string> {
  const origin = tools.originOf(draft.messages[index]);
  const media = item?.result?.media ?? draft.wire.read(draft.messages[index]).media;
  const about = item ?? { tool: "media", call: null, input: null };
  const kept = await keep(mediaBytes(media, origin), about, tools);
  const line = await mediaLine(media, kept, about.tool, tools.session, tools.ports);
  return withLine(mediaNote(media, "the request was too large"), line);
}

/** Returns the result as it is in the message from which this one was made. */
function resultIn(
  draft: Draft,
  { message, at: place }: DraftItem,
  now: WireResult,
  behind: (message: unknown) => unknown,
): WireResult {
  const before = behind(draft.messages[message]);
  if (before === draft.messages[message]) return now;
  return draft.wire.read(before).results.find(({ at }) => at === place) ?? now;
}

/** Saves bytes as one artifact. Returns null if they could not be saved. */
export async function keep(
  chunks: Iterable<Uint8Array>,
  { tool, call, input }: Pick<DraftItem, "tool" | "call" | "input">,
  { ports, session }: CutTools,
): Promise<SavedResult | null> {
  const made = await ports.safeMade(madeBy({ input }));
  const spill = startSpill(ports.place, { scope: ports.scope, session, tool, call, ...made });
  for (const bytes of chunks) await spill.add(bytes);
  const { artifact } = await spill.end();
  if (artifact === null || artifact.saved === "no") return null;
  return savedResult(artifact);
}

/**
 * Returns true for results of our own recall and search tools. A page of an artifact is never saved as another
 * artifact.
 */
function isRecall(tool: string, { ports: { access } }: CutTools): boolean {
  return access.by === "tool" && (tool === access.recall || tool === access.search);
}
