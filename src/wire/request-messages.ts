import type { Wire } from "../contract/wire.ts";
import { isRecord, type JsonRecord } from "../values.ts";
import { aiSdk } from "./ai-sdk.ts";
import { anthropic } from "./anthropic.ts";
import { bedrock } from "./bedrock.ts";
import { gemini } from "./gemini.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import { withField } from "./record.ts";
import { detectWire } from "./registry.ts";

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
