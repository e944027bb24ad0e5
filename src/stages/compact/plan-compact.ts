import type { WireRole } from "../../contract/wire.ts";

/** One message as the plan sees it. */
export interface PlannedMessage {
  role: WireRole;
  tokens: number;
}

/** A result and the message of its call. */
export interface PlannedPair {
  message: number;
  callMessage: number | null;
}

/** What has to fit, in tokens. */
export interface CompactRoom {
  /** All messages together, afterwards. */
  targetTokens: number;
  /** Of it, for the summary. */
  summaryTokens: number;
  keepTurns: number;
  keepTokens: number;
}

/** Messages before `head` stay, those before `cut` are summarised, the others stay. */
export interface CompactPlan {
  head: number;
  cut: number;
  droppedTokens: number;
  keptTokens: number;
}

/**
 * Chooses what is summarised. A cut stands before an assistant's turn, so that roles go on taking turns after the summary,
 * and never between a call and its result. Null if there is no such place.
 */
export function planCompact(
  messages: readonly PlannedMessage[],
  pairs: readonly PlannedPair[],
  room: CompactRoom,
): CompactPlan | null {
  const head = messages.findIndex(({ role }) => role !== "system" && role !== "other");
  if (head === -1) return null;
  const places = cutPlaces(messages, pairs, head);
  if (places.length === 0) return null;
  const tails = tailTokens(messages);
  const before = messages.slice(0, head).reduce((sum, { tokens }) => sum + tokens, 0);
  const most = room.targetTokens - before - room.summaryTokens;
  const tailAt = (at: number) => tails[at] as number;
  const byTokens = places.find((at) => tailAt(at) <= Math.min(most, room.keepTokens));
  const byTurns = places.at(-room.keepTurns) ?? places[0];
  const fitting = [byTokens, byTurns].filter((at) => at !== undefined && tailAt(at) <= most) as number[];
  // Where nothing fits the newest turn stays all the same.
  const cut = fitting.length === 0 ? (places.at(-1) as number) : Math.min(...fitting);
  const droppedTokens = messages
    .slice(head, cut)
    .reduce((sum, { role, tokens }) => sum + (role === "system" ? 0 : tokens), 0);
  return { head, cut, droppedTokens, keptTokens: before + tailAt(cut) };
}

function cutPlaces(messages: readonly PlannedMessage[], pairs: readonly PlannedPair[], head: number): number[] {
  // How many pairs a cut before each message would split.
  const opened = new Int32Array(messages.length + 1);
  for (const { message, callMessage } of pairs) {
    if (callMessage === null || callMessage >= message) continue;
    opened[callMessage + 1] = (opened[callMessage + 1] ?? 0) + 1;
    opened[message + 1] = (opened[message + 1] ?? 0) - 1;
  }
  const [turns, users]: [number[], number[]] = [[], []];
  let split = 0;
  messages.forEach(({ role }, at) => {
    split += opened[at] ?? 0;
    if (at <= head || split > 0) return;
    // Some formats spread one turn over several messages, which belong together.
    if (role === "assistant" && messages[at - 1]?.role !== "assistant") turns.push(at);
    if (role === "user") users.push(at);
  });
  return turns.length > 0 ? turns : users;
}

function tailTokens(messages: readonly PlannedMessage[]): number[] {
  const tails: number[] = [];
  let sum = 0;
  for (let at = messages.length - 1; at >= 0; at--) tails[at] = sum += messages[at]?.tokens ?? 0;
  return tails;
}
