import type { WireCall } from "../contract/wire.ts";
import { recallLine } from "../stages/mark/access.ts";
import { encodeText } from "../stages/measure/scan.ts";
import { type PruneCut, type PruneFrame, STEP, shortenedWeight } from "../stages/prune/prune-item.ts";
import { shortenTexts, trimmedChars, trimText } from "../stages/prune/trim-text.ts";
import type { Weight } from "../stages/prune/weight.ts";
import { startSpill } from "../stages/spill/spill.ts";
import { spillBatches } from "../stages/spill/spill-batches.ts";
import { jsonChars } from "../wire/record.ts";
import type { Item } from "./conversation.ts";
import { type SavedResult, savedCopyOf, savedLine } from "./form.ts";
import { madeBy, type Preparation, shownText, textOf } from "./preparation.ts";
import type { ReadCall } from "./read-message.ts";

/** The request as the plans see it. */
export function frameOf(preparation: Preparation): PruneFrame<Item> {
  const { conversation, pruning, windowTokens, ports, reader } = preparation;
  const { shownItems: items, assistants, firstUser, messages } = conversation;
  const isNamed = ports.place.store !== null && pruning.namesSaved;
  const sample = !isNamed ? null : { id: "a".repeat(12), saved: "yes" as const, savedBytes: 0 };
  const line = isNamed ? recallLine(savedCopyOf(sample, ports.access)) : "";
  const cleared = reader.weigh([withLine(pruning.hardClear.placeholder, line)]);
  const note = reader.weigh([
    withLine("\n...\n\n\n[Tool result trimmed: kept first 1500 chars and last 1500 chars of 100000 chars.]", line),
  ]);
  const afterShortening = ({ lengths, weight }: ReadCall, to: "trimmed" | "cleared") =>
    shortenedWeight(lengths, weight, to, pruning.softTrim, note);
  return {
    items,
    assistants,
    firstUser,
    messages: messages.length,
    total: preparation.total,
    windowTokens,
    afterTrim({ shown, made }: Item): Weight | null {
      if (made !== null) return afterShortening(made, "trimmed");
      const chars = trimmedChars(shown.chars, pruning.softTrim);
      if (chars === null) return null;
      const share = (pruning.softTrim.headChars + pruning.softTrim.tailChars) / shown.chars;
      return {
        chars: line === "" ? chars : chars + 1 + line.length,
        tokens: Math.ceil(shown.tokens * share) + note.tokens,
        bytes: Math.ceil(shown.bytes * share) + note.bytes,
      };
    },
    afterClear: ({ made }) => (made === null ? cleared : (afterShortening(made, "cleared") ?? made.weight)),
    joints,
    excessChars: () =>
      messages.reduce(
        (sum, { view }) => sum + view.calls.reduce((excess, call) => excess + callExcess(call), 0),
        items.reduce((sum, item) => sum + joints(item), 0),
      ),
  };
}

function joints({ form, result, isCall }: Item): number {
  return isCall ? 0 : Math.max(0, (form?.texts ?? result.texts).length - 1);
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
  for (const some of spillBatches(cuts, ({ item }) => item.read.texts.chars)) {
    const kept = hasStore ? await Promise.all(some.map(({ item }) => keep(item, preparation))) : [];
    for (const [at, { item, to }] of some.entries()) {
      const saved = kept[at] ?? null;
      // What could not be saved stays, unless the request would be refused with it.
      if (hasStore && saved === null && !forced && !preparation.isRecall(item.tool)) continue;
      const line = pruning.namesSaved ? await savedLine(saved, item.tool, preparation.session, ports) : "";
      if (item.made !== null) {
        const texts = shortenTexts(item.result.texts, to, pruning.softTrim, line);
        if (texts === null) continue;
        preparation.change(item, to, {
          step: STEP[to],
          texts,
          kept: saved,
          weight: reader.weigh(texts, item.made.long),
        });
        continue;
      }
      const text = to === "cleared" ? pruning.hardClear.placeholder : trimText(shownText(item), pruning.softTrim);
      if (text === null) continue;
      const texts = [withLine(text, line)];
      preparation.change(item, to, { step: STEP[to], texts, kept: saved, weight: reader.weigh(texts) });
    }
  }
}

/** What is kept of a result: by its admission, by an earlier form, or now. */
async function keep(item: Item, preparation: Preparation): Promise<SavedResult | null> {
  const { ports, session } = preparation;
  if (item.form?.kept) return item.form.kept;
  if (preparation.isRecall(item.tool)) return null;
  const { texts } = item.result;
  // What a model wrote is kept as it is, even if it looks like a text of ours.
  const known =
    item.made !== null ? undefined : texts.length === 1 ? ports.knownTexts.find(texts[0] as string) : undefined;
  if (known && known.id !== null) return { id: known.id, saved: known.saved, savedBytes: known.savedBytes };
  const made = await ports.safeMade(madeBy(item));
  const about = { scope: ports.scope, session, tool: item.tool, call: item.call, ...made };
  const spill = startSpill(ports.place, about);
  const text = textOf(item);
  // The text may stand in a file. While it is here, its digest is made too.
  item.read.sha256 ??= ports.sha256(text);
  for (const bytes of encodeText(item.made === null ? text : argumentsText(item.made.call))) await spill.add(bytes);
  const { artifact, fault } = await spill.end();
  if (fault !== null) preparation.fault(fault);
  if (artifact === null || artifact.saved === "no") return null;
  return { id: artifact.id, saved: artifact.saved, savedBytes: artifact.bytes };
}

/** What is saved of a call: its input if that is text, or its one long string, or all of it as JSON. */
export function argumentsText({ input, long }: WireCall): string {
  if (long?.texts.length === 1) return long.texts[0] as string;
  return typeof input === "string" ? input : JSON.stringify(input, null, 1);
}

function withLine(text: string, line: string): string {
  return line === "" ? text : `${text}\n${line}`;
}
