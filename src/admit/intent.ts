import { isRecord } from "../values.ts";

/** What a call is for, as far as is known: the last words of the user, and of the model before it. */
export interface Intent {
  user?: string;
  model?: string;
}

/** At most so many characters of each are handed over. */
const MAX_CHARS = 2000;

const SPEAKERS: Record<string, keyof Intent> = {
  user: "user",
  human: "user",
  assistant: "model",
  ai: "model",
  model: "model",
  gemini: "model",
};

/** The last words in a list of messages, of whatever framework, up to the one at `last`; null if it has none. */
export function lastWords(messages: unknown, last = Number.POSITIVE_INFINITY): Intent | null {
  if (!Array.isArray(messages)) return null;
  const words: Intent = {};
  for (let at = Math.min(last, messages.length - 1); at >= 0; at--) {
    if (words.user !== undefined && words.model !== undefined) break;
    const message: unknown = messages[at];
    if (!isRecord(message)) continue;
    const speaker = SPEAKERS[String(message.role ?? message.type)];
    if (speaker === undefined || words[speaker] !== undefined) continue;
    const text = textOf(message.content ?? message.parts);
    if (text !== "") words[speaker] = text;
  }
  return Object.keys(words).length === 0 ? null : words;
}

/** A message's texts, up to the bound. Mastra keeps them as parts of its content. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content.slice(0, MAX_CHARS).toWellFormed().trim();
  const parts = isRecord(content) ? content.parts : content;
  if (!Array.isArray(parts)) return "";
  let text = "";
  for (const part of parts) {
    if (text.length >= MAX_CHARS) break;
    if (isRecord(part) && typeof part.text === "string" && part.type !== "reasoning")
      text += `${text === "" ? "" : "\n"}${part.text.slice(0, MAX_CHARS)}`;
  }
  return textOf(text);
}
