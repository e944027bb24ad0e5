import type { Rendered } from "./render.ts";

/** One request of a conversation and what the model answered. */
export interface Turn {
  /** The request holds the messages before this one. */
  end: number;
  /** The answer's messages: from `end` to before this one. */
  answerEnd: number;
  /** When it was sent, as far as messages say. */
  atMs: number | null;
}

/** Where requests were made: before each answer, which may be several messages in a row. */
export function turnsOf(messages: readonly unknown[], rendered: readonly Rendered[]): Turn[] {
  const turns: Turn[] = [];
  let atMs: number | null = null;
  for (const [index, { view }] of rendered.entries()) {
    const last = turns.at(-1);
    if (view.role !== "assistant") atMs = timeOf(messages[index]) ?? atMs;
    else if (last?.answerEnd === index) last.answerEnd = index + 1;
    else if (index > 0) turns.push({ end: index, answerEnd: index + 1, atMs });
  }
  return turns;
}

function timeOf(message: unknown): number | null {
  if (typeof message !== "object" || message === null) return null;
  const { timestamp, createdAt, created_at } = message as Record<string, unknown>;
  const time = timestamp ?? createdAt ?? created_at;
  if (typeof time === "string") return Number.isNaN(Date.parse(time)) ? null : Date.parse(time);
  // Seconds and milliseconds are told apart by their size.
  return typeof time === "number" && time > 0 ? (time < 1e11 ? time * 1000 : time) : null;
}
