import type { WireMessage } from "../contract/wire.ts";
import { isSpoken } from "../prepare/conversation.ts";
import { savedLine } from "../prepare/form.ts";
import { renderMessage, shorten } from "../stages/cap/render-message.ts";
import { turnsLeftOut } from "../stages/mark/texts.ts";
import { encodeText } from "../stages/measure/scan.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import type { RecoveryGoal } from "../stages/recover/recovery-goal.ts";
import { sayAfter } from "../wire/blocks.ts";
import { type CutTools, keep } from "./apply-cuts.ts";
import type { Draft } from "./draft.ts";

/** The tool name under which turns are saved. */
const TOOL = "conversation";
const BYTES_A_TOKEN = 4;
const WHOLE = { textChars: Infinity, resultChars: Infinity, inputChars: Infinity };

/**
 * Saves turns as one text, then returns the messages without them. A marker is in their place: at the end of the user's
 * message before them, because some providers want roles to alternate, or else in a message of its own. Prompts and
 * notes of the host stay. Returns null if the format has no place for a marker.
 */
export async function leaveOutTurns(
  draft: Draft,
  { from, to }: { from: number; to: number },
  goal: Pick<RecoveryGoal, "targetTokens" | "targetBytes">,
  tools: CutTools,
): Promise<unknown[] | null> {
  const { wire, messages } = draft;
  const views = messages.map((message) => wire.read(message));
  const isGone = (at: number) => at >= from && at < to && isSpoken(views[at] as WireMessage);
  const gone = messages.flatMap((message, at) => (isGone(at) ? [{ at, origin: tools.originOf(message) }] : []));
  const text = gone.map(({ at, origin }) => {
    const names = draft.items.filter((item) => item.message === at).map(({ tool }) => tool);
    return renderMessage(wire.read(origin), names, at, WHOLE);
  });
  const kept = await keep(encodeText(text.join("\n\n")), { tool: TOOL, call: null, input: null }, tools);
  // About a quarter of the room is for what the user asked.
  const room = Math.min(goal.targetTokens, goal.targetBytes / BYTES_A_TOKEN);
  const request = latestRequest(views, from, to);
  const marker = turnsLeftOut(
    gone.length,
    request && shorten(request, Math.max(NUMBERS.compactQuoteChars.default, Math.floor(room))),
    await savedLine(kept, TOOL, tools.session, tools.ports),
  );
  const before = messages.slice(0, from);
  const joined = views[from - 1]?.role === "user" ? sayAfter(before.at(-1), marker) : null;
  const said = joined ?? wire.say(marker);
  if (said === null) return null;
  const stays = messages.slice(from).filter((_message, at) => !isGone(from + at));
  return [...(joined === null ? before : before.slice(0, -1)), said, ...stays];
}

/** Returns what the user asked last, if that is among the messages that go. */
function latestRequest(views: readonly WireMessage[], from: number, to: number): string | null {
  const isAsked = ({ role, text }: WireMessage) => role === "user" && text !== null;
  if (views.slice(to).some(isAsked)) return null;
  const asked = views.slice(from, to).findLast(isAsked);
  return asked === undefined ? null : [asked.text, ...(asked.moreTexts ?? [])].join("\n");
}
