import type { Wire } from "../contract/wire.ts";
import { aiSdk } from "./ai-sdk.ts";
import { anthropic } from "./anthropic.ts";
import { bedrock } from "./bedrock.ts";
import { gemini } from "./gemini.ts";
import { langchain } from "./langchain.ts";
import { mcp } from "./mcp.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import { pi } from "./pi.ts";
import { readsStored } from "./stored-message.ts";

const MIN_SCORE = 0.5;
const MIN_LEAD = 0.1;

/** Every message format that can be read. */
export const wires: readonly Wire[] = [
  anthropic,
  openaiChat,
  openaiResponses,
  gemini,
  bedrock,
  aiSdk,
  langchain,
  mcp,
  pi,
].map(readsStored);

/** Returns the format of that name, or null. */
export function wireNamed(name: string): Wire | null {
  return wires.find((wire) => wire.name === name) ?? null;
}

/** Returns the format of the messages if one is clearly likelier than every other, otherwise null. */
export function detectWire(messages: readonly unknown[]): Wire | null {
  let best: Wire | null = null;
  let [first, second] = [0, 0];
  for (const wire of wires) {
    const score = wire.detect(messages);
    if (score > first) [best, first, second] = [wire, score, first];
    else if (score > second) second = score;
  }
  return first >= MIN_SCORE && first - second >= MIN_LEAD ? best : null;
}

/**
 * Returns a format for a plain chat, which is the same in several formats: one that reads and writes it as all of them
 * do. Returns null if the chat is not plain.
 */
export function plainWire(messages: readonly unknown[]): Wire | null {
  const isPlain = (message: unknown) => {
    const { role, content } = (message ?? {}) as { role?: unknown; content?: unknown };
    return typeof role === "string" && typeof content === "string";
  };
  return messages.length > 0 && messages.every(isPlain) ? openaiChat : null;
}
