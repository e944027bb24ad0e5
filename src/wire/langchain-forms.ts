import { isRecord, type JsonRecord, withField } from "./record.ts";

/** Who speaks, by LangChain's names. */
export type MessageKind = "system" | "human" | "ai" | "tool" | "function" | "other";

const KINDS = new Map<string, MessageKind>([
  ["system", "system"],
  ["developer", "system"],
  ["human", "human"],
  ["user", "human"],
  ["ai", "ai"],
  ["assistant", "ai"],
  ["tool", "tool"],
  ["function", "function"],
]);

/** The fields of a message, wherever its form keeps them, and a way to put one back. */
export function openMessage(message: JsonRecord): {
  fields: JsonRecord;
  put(field: string, value: unknown): JsonRecord;
} {
  for (const inner of ["kwargs", "data"]) {
    const fields = message[inner];
    const isThis = inner === "kwargs" ? isSerialised(message) : typeof message.type === "string";
    if (!isThis || !isRecord(fields)) continue;
    return { fields, put: (field, value) => withField(message, inner, withField(fields, field, value)) };
  }
  return { fields: message, put: (field, value) => withField(message, field, value) };
}

/** What kind of message it is, in any form. */
export function kindOf(message: JsonRecord): MessageKind {
  if (!isSerialised(message)) {
    const name = message.role ?? message.type;
    return (typeof name === "string" ? KINDS.get(name) : undefined) ?? "other";
  }
  // ["langchain_core", "messages", "AIMessageChunk"]
  const name = String(message.id.at(-1));
  const kind = /^(System|Human|AI|Tool|Function)Message(Chunk)?$/.exec(name)?.[1]?.toLowerCase();
  return (kind === undefined ? undefined : KINDS.get(kind)) ?? "other";
}

function isSerialised(message: JsonRecord): message is JsonRecord & { id: unknown[] } {
  return Array.isArray(message.id) && isRecord(message.kwargs);
}

/** How surely a message is LangChain's. */
export function signLangchain(message: JsonRecord): number {
  const { lc, type, role, data, content } = message;
  if (isSerialised(message)) return message.id.includes("messages") ? 0.95 : -1;
  if (lc !== undefined) return -1;
  if (message.parts !== undefined || message.message !== undefined) return -1;
  const { fields } = openMessage(message);
  if (role === undefined) {
    const isKnown = typeof type === "string" && ["system", "human", "ai", "tool", "function"].includes(type);
    if (!isKnown) return -1;
    return isRecord(data) || typeof content === "string" || Array.isArray(content) ? 0.95 : -1;
  }
  if (typeof role !== "string" || !KINDS.has(role)) return -1;
  const calls = fields.tool_calls;
  const [first] = Array.isArray(calls) ? calls : [];
  if (isRecord(first)) return "args" in first ? 0.9 : -1;
  if (role === "human" || role === "ai") return 0.8;
  const isOwn = "response_metadata" in fields || "additional_kwargs" in fields || "lc_kwargs" in fields;
  if (isOwn) return 0.95;
  if (role === "tool") return typeof fields.tool_call_id === "string" ? 0.5 : -1;
  if (Array.isArray(content) && content.some((block) => isRecord(block) && /-|^tool_/.test(String(block.type))))
    return -1;
  return 0.3;
}
