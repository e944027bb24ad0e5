import type { PruningPolicy } from "../contract/policy.ts";
import type { Artifact } from "../contract/store.ts";
import type { WireCall, WireMedia } from "../contract/wire.ts";
import { binaryKeptText, recallLine } from "../stages/mark/access.ts";
import { mediaLeftOut } from "../stages/mark/texts.ts";
import { encodeText } from "../stages/measure/scan.ts";
import { isLiteral, type PruneCut, type PruneFrame, STEP, shortenedWeight } from "../stages/prune/prune-item.ts";
import { shortenTexts, trimmedChars, trimText } from "../stages/prune/trim-text.ts";
import { add, NO_WEIGHT, portion, type Weight } from "../stages/prune/weight.ts";
import { spillBatches, startSpill } from "../stages/spill/spill.ts";
import { decoded, isAddress } from "../wire/media.ts";
import { jsonChars } from "../wire/record.ts";
import { loaded } from "../wire/stored-message.ts";
import { type Item, shownWeight, showsMedia } from "./conversation.ts";
import { formTexts, type SavedResult, savedCopyOf, savedLine } from "./form.ts";
import type { PreparePorts } from "./ports.ts";
import { digestText, madeBy, type Preparation, shownText, textOf } from "./preparation.ts";
import type { ReadCall, ReadMessage } from "./read-message.ts";

/** The request as the plans see it. */
export function frameOf(preparation: Preparation): PruneFrame<Item> {
  const { conversation, pruning, windowTokens, ports, reader } = preparation;
  const { shownItems: items, assistants, firstUser, messages } = conversation;
  const isNamed = ports.place.store !== null && pruning.namesSaved;
  const sample = !isNamed ? null : { id: "a".repeat(12), saved: "yes" as const, savedBytes: 0 };
  const line = isNamed ? recallLine(savedCopyOf(sample, ports.access)) : "";
  const clearedText = withLine(pruning.hardClear.placeholder, line);
  const cleared = reader.weigh([clearedText]);
  const note = reader.weigh([
    withLine("\n...\n\n\n[Tool result trimmed: kept first 1500 chars and last 1500 chars of 100000 chars.]", line),
  ]);
  const noteWeight = reader.weigh([withLine(mediaLeftOut({ count: 1, bytes: 1_000_000 }, SEEN), line)]);
  const withMedia = (weight: Weight, { heldMedia }: Item) =>
    heldMedia === undefined ? weight : add(weight, portion(noteWeight, heldMedia.count));
  const afterShortening = ({ lengths, weight }: ReadCall, to: "trimmed" | "cleared") =>
    shortenedWeight(lengths, weight, to, pruning.softTrim, note);
  const afterTrimming = (texts: Weight): Weight | null => {
    const chars = trimmedChars(texts.chars, pruning.softTrim);
    if (chars === null) return null;
    const share = (pruning.softTrim.headChars + pruning.softTrim.tailChars) / texts.chars;
    return {
      chars: line === "" ? chars : chars + 1 + line.length,
      tokens: Math.ceil(texts.tokens * share) + note.tokens,
      bytes: Math.ceil(texts.bytes * share) + note.bytes,
    };
  };
  return {
    items,
    assistants,
    firstUser,
    messages: messages.length,
    total: preparation.total,
    windowTokens,
    afterTrim(item: Item): Weight | null {
      if (item.made !== null) return afterShortening(item.made, "trimmed");
      const texts = showsMedia(item) ? (item.form?.weight ?? item.read.texts) : item.shown;
      const trimmed = afterTrimming(texts);
      return showsMedia(item) ? withMedia(trimmed ?? texts, item) : trimmed;
    },
    afterClear(item) {
      if (item.made !== null) return afterShortening(item.made, "cleared") ?? item.made.weight;
      if (item.read.count === 0 && item.heldMedia !== undefined)
        return showsMedia(item) ? withMedia(NO_WEIGHT, item) : item.shown;
      const mediaText = item.form?.mediaText;
      // What is said in place of media stays as it is.
      if (mediaText !== undefined)
        return reader.weigh(formTexts({ texts: [clearedText], mediaText }, item.result.media));
      return withMedia(cleared, item);
    },
    joints,
    excessChars: () =>
      messages.reduce(
        (sum, { view }) => sum + view.calls.reduce((excess, call) => excess + callExcess(call), 0),
        items.reduce((sum, item) => sum + joints(item), 0),
      ),
  };
}

function joints({ form, read, isCall }: Item): number {
  return isCall ? 0 : Math.max(0, (form?.texts.length ?? read.count) - 1);
}

/** What arguments count that JSON cannot write. */
const UNWRITABLE_CHARS = 128;

/** A call's weight has the tool's name, and its arguments as they are measured in passing. */
function callExcess({ tool, input }: WireCall): number {
  let written = UNWRITABLE_CHARS;
  try {
    written = JSON.stringify(input ?? {}).length;
  } catch {
    // a circle, or a value that JSON does not have
  }
  return tool.length + jsonChars(input) - written;
}

/** Saves what is about to go, then shows each result in its new form. Without a store the texts have no line of ours that says where the rest is. */
export async function cutResults(
  cuts: readonly PruneCut<Item>[],
  preparation: Preparation,
  forced: boolean,
): Promise<void> {
  const { ports, pruning, reader } = preparation;
  const hasStore = ports.place.store !== null;
  for (const some of spillBatches(cuts, ({ item }) => item.read.weight.bytes)) {
    const kept = hasStore ? await Promise.all(some.map((cut) => keepOf(cut, preparation))) : [];
    for (const [at, { item, to }] of some.entries()) {
      const { saved = null, media = null, isLost = hasStore } = kept[at] ?? {};
      // What could not be saved stays, unless the request would be refused with it.
      if (isLost && !forced) continue;
      const line = pruning.namesSaved ? await savedLine(saved, item.tool, preparation.session, ports) : "";
      if (item.made !== null) {
        const texts = shortenTexts(item.result.texts, to, pruning.softTrim, line);
        const weight = texts && reader.weigh(texts, item.made.long);
        if (texts === null || weight === null || weight.chars >= item.shown.chars) continue;
        preparation.change(item, to, { step: STEP[to], texts, kept: saved, weight });
        continue;
      }
      const text = textAfter({ item, to }, pruning);
      if (text === null && !showsMedia(item)) continue;
      const texts = text === null ? (item.form?.texts ?? item.result.texts) : [withLine(text, line)];
      const mediaText = showsMedia(item) ? await mediaTextOf(item, media, preparation) : item.form?.mediaText;
      const form = { texts, ...(mediaText !== undefined && { mediaText }) };
      const shown = { step: STEP[to], ...form, kept: saved, weight: reader.weigh(formTexts(form, item.result.media)) };
      // How long the line is that says where the rest is, is known only now.
      if (isLiteral(pruning) || shownWeight(item, shown).chars < item.shown.chars) preparation.change(item, to, shown);
    }
  }
}

/** The text that stands for a result's texts; null if they stay as they are shown. */
function textAfter({ item, to }: PruneCut<Item>, { hardClear, softTrim }: PruningPolicy): string | null {
  if (to === "trimmed") return trimText(shownText(item), softTrim);
  return item.read.count === 0 && item.heldMedia !== undefined ? null : hardClear.placeholder;
}

/** Why images are left out while the request would be taken with them. */
const SEEN = "it was shown before";

async function mediaTextOf(
  { result: { media }, tool }: Item,
  saved: SavedResult | null,
  { pruning, session, ports }: Preparation,
): Promise<string> {
  const line = pruning.namesSaved ? await mediaLine(media, saved, tool, session, ports) : "";
  return withLine(mediaNote(media, SEEN), line);
}

/** What a cut takes away, saved; and whether something of it could not be. */
async function keepOf(
  cut: PruneCut<Item>,
  preparation: Preparation,
): Promise<{ saved: SavedResult | null; media: SavedResult | null; isLost: boolean }> {
  const { item } = cut;
  const isRecall = preparation.isRecall(item.tool);
  const isCut = item.made !== null || textAfter(cut, preparation.pruning) !== null;
  const saved = isCut ? await keep(item, preparation) : (item.form?.kept ?? null);
  const isMedia = showsMedia(item) && !isRecall;
  const media = isMedia ? await keepMedia(item, preparation) : null;
  return { saved, media, isLost: (isCut && saved === null && !isRecall) || (isMedia && media === null) };
}

/** What is kept of a result: by its admission, by an earlier form, or now. */
async function keep(item: Item, preparation: Preparation): Promise<SavedResult | null> {
  const { ports } = preparation;
  if (item.form?.kept) return item.form.kept;
  if (preparation.isRecall(item.tool)) return null;
  const { texts } = item.result;
  // What a model wrote is kept as it is, even if it looks like a text of ours.
  const known =
    item.made !== null ? undefined : texts.length === 1 ? ports.knownTexts.find(texts[0] as string) : undefined;
  if (known && known.id !== null) return { id: known.id, saved: known.saved, savedBytes: known.savedBytes };
  // The text may stand in a file. While it is here, its digest is made too.
  item.read.sha256 ??= ports.sha256(digestText(item));
  return save(item, encodeText(item.made === null ? textOf(item) : argumentsText(item.made.call)), preparation);
}

function keepMedia(item: Item, preparation: Preparation): Promise<SavedResult | null> {
  const { source } = preparation.conversation.messages[item.message] as ReadMessage;
  return save(item, mediaBytes(item.result.media, source), preparation);
}

async function save(item: Item, chunks: Iterable<Uint8Array>, preparation: Preparation): Promise<SavedResult | null> {
  const { ports, session } = preparation;
  const made = await ports.safeMade(madeBy(item.answers));
  const spill = startSpill(ports.place, { scope: ports.scope, session, tool: item.tool, call: item.call, ...made });
  for (const bytes of chunks) await spill.add(bytes);
  const { artifact, fault } = await spill.end();
  if (fault !== null) preparation.fault(fault);
  if (artifact === null || artifact.saved === "no") return null;
  return savedResult(artifact);
}

/** What is known of an artifact where it is named. */
export function savedResult({ id, saved, bytes, redactions: { count } }: Artifact): SavedResult {
  return { id, saved, savedBytes: bytes, ...(count > 0 && { redactions: { count } }) };
}

/** What stands for media. Those that are given by a URL or an id are not known, only where they are. */
export function mediaNote({ count, bytes, data = [] }: WireMedia, why: string): string {
  return mediaLeftOut({ count, bytes, isAddress: data.length > 0 && data.every(isAddress) }, why);
}

/** What is saved of a call: its input if that is text, or its one long string, or all of it as JSON. */
export function argumentsText({ input, long }: WireCall): string {
  if (long?.texts.length === 1) return long.texts[0] as string;
  return typeof input === "string" ? input : JSON.stringify(input, null, 1);
}

/** What is saved of media: the bytes of one, or the JSON of several, or of what no data is known of the JSON of its message. */
export function mediaBytes({ data }: WireMedia, message: unknown): Iterable<Uint8Array> {
  const one = binaryIn(data);
  return one === null ? encodeText(JSON.stringify(data ?? loaded(message)) ?? "") : [one];
}

/** Says where media are that are no longer shown. Empty if nobody kept them. */
export async function mediaLine(
  { data }: WireMedia,
  saved: SavedResult | null,
  tool: string,
  session: string | null,
  ports: Pick<PreparePorts, "access" | "accessTo">,
): Promise<string> {
  if (saved === null || binaryIn(data) === null) return savedLine(saved, tool, session, ports);
  return `[${binaryKeptText(savedCopyOf(saved, await ports.accessTo({ id: saved.id, session, tool })))}]`;
}

function binaryIn(data: WireMedia["data"]): Uint8Array | null {
  const [one, ...more] = data ?? [];
  if (more.length > 0) return null;
  if (ArrayBuffer.isView(one)) return new Uint8Array(one.buffer, one.byteOffset, one.byteLength);
  return typeof one === "string" ? decoded(one) : null;
}

/** A text with one more line, if there is one. */
export function withLine(text: string, line: string): string {
  return line === "" ? text : `${text}\n${line}`;
}
