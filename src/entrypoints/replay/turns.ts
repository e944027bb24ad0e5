import { isRecord } from "../../values.ts";
import type { Rendered } from "./render.ts";

/** One request of a conversation and what the model answered. */
export interface Turn {
  /** The request holds the messages before this one. */
  end: number;
  /** The answer's messages: from `end` to before this one. */
  answerEnd: number;
  /** When it was sent, as far as messages say. */
  atMs: number | null;
  /** The tokens of the request as its provider counted them, as far as the answer says. */
  countedTokens: number | null;
}

/** Where requests were made: before each answer, which may be several messages in a row. */
export function turnsOf(messages: readonly unknown[], rendered: readonly Rendered[]): Turn[] {
  const turns: Turn[] = [];
  let atMs: number | null = null;
  for (const [index, { view }] of rendered.entries()) {
    const last = turns.at(-1);
    if (view.role !== "assistant") atMs = timeOf(messages[index]) ?? atMs;
    else {
      const countedTokens = countedIn(messages[index]);
      // What was counted by itself was a request of its own, such as one after an answer that broke off.
      if (last?.answerEnd === index && countedTokens === null) last.answerEnd = index + 1;
      else if (index > 0) turns.push({ end: index, answerEnd: index + 1, atMs, countedTokens });
    }
  }
  return turns;
}

/** Names of the parts of a request's tokens. In the first row they are apart from each other, in the second all is one. */
const PARTS = "input cacheRead cacheWrite input_tokens cache_read_input_tokens cache_creation_input_tokens".split(" ");
const ALL = ["prompt_tokens", "promptTokens"];

function countedIn(message: unknown): number | null {
  const { usage } = (message ?? {}) as { usage?: unknown };
  if (!isRecord(usage)) return null;
  const sum = (names: string[]) =>
    names.reduce((total, name) => total + (typeof usage[name] === "number" ? usage[name] : 0), 0);
  return sum(ALL) || sum(PARTS) || null;
}

function timeOf(message: unknown): number | null {
  if (typeof message !== "object" || message === null) return null;
  const { timestamp, createdAt, created_at } = message as Record<string, unknown>;
  const time = timestamp ?? createdAt ?? created_at;
  if (typeof time === "string") return Number.isNaN(Date.parse(time)) ? null : Date.parse(time);
  // Seconds and milliseconds are told apart by their size.
  return typeof time === "number" && time > 0 ? (time < 1e11 ? time * 1000 : time) : null;
}
