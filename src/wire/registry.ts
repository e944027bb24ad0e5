import type { Wire } from "../contract/wire.ts";
import { badInput } from "../errors.ts";
import { isRecord, type JsonRecord } from "../values.ts";
import { aiSdk } from "./ai-sdk.ts";
import { anthropic } from "./anthropic.ts";
import { bedrock } from "./bedrock.ts";
import { gemini } from "./gemini.ts";
import { langchain } from "./langchain.ts";
import { mcp } from "./mcp.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import { pi } from "./pi.ts";
import { withField } from "./record.ts";
import { readsStored } from "./stored-message.ts";

/** The messages of a request's body, and their format. */
export interface RequestMessages {
  wire: Wire;
  messages: readonly unknown[];
  /** Returns a copy of the body with other messages in their place. */
  put(messages: readonly unknown[]): unknown;
}

/** Fields of a body that only one API has. They decide if the messages alone do not. */
const SIGNS: [wire: Wire, fields: string[]][] = [
  [bedrock, ["toolConfig", "inferenceConfig", "additionalModelRequestFields", "guardrailConfig"]],
  [anthropic, ["anthropic_version", "anthropic_beta", "system", "stop_sequences", "thinking", "context_management"]],
  [
    openaiChat,
    ["functions", "max_completion_tokens", "response_format", "stream_options", "frequency_penalty", "stop"],
  ],
];

/** Finds the messages in a request's body. Returns null if there are none or their format is not sure. */
export function readRequest(body: unknown): RequestMessages | null {
  try {
    if (!isRecord(body)) return null;
    for (const field of ["messages", "contents", "input", "prompt"]) {
      const messages: unknown = body[field];
      if (!Array.isArray(messages)) continue;
      const wire = wireOf(field, messages, body);
      if (wire !== null) return { wire, messages, put: (changed) => withField(body, field, changed) };
    }
  } catch {}
  return null;
}

function wireOf(field: string, messages: readonly unknown[], body: JsonRecord): Wire | null {
  if (field === "contents") return fitting(gemini, messages);
  if (field === "input") return fitting(openaiResponses, messages);
  if (field === "prompt") return fitting(aiSdk, messages);
  return detectWire(messages) ?? fitting(toolSign(body) ?? fieldSign(body), messages);
}

// Returns null for lists of plain text. They are not messages: requests for embeddings have them under the same names.
function fitting(wire: Wire | null, messages: readonly unknown[]): Wire | null {
  return wire !== null && wire.detect(messages) > 0 ? wire : null;
}

function toolSign({ tools }: JsonRecord): Wire | null {
  const first: unknown = Array.isArray(tools) ? tools[0] : undefined;
  if (!isRecord(first)) return null;
  if (isRecord(first.function)) return openaiChat;
  return isRecord(first.input_schema) ? anthropic : null;
}

function fieldSign(body: JsonRecord): Wire | null {
  return SIGNS.find(([, fields]) => fields.some((field) => body[field] !== undefined))?.[0] ?? null;
}

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

/** Returns the same, and throws where there is none of that name. `option` is what was given. */
export function requireWire(name: string, option = "wire"): Wire {
  const wire = wireNamed(name);
  if (wire !== null) return wire;
  throw badInput(`${option} must be one of ${wires.map((one) => one.name).join(", ")}; got ${JSON.stringify(name)}`);
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
