import { isRecord, type JsonRecord } from "./record.ts";

const OWN_ROLES = new Set(["toolResult", "bashExecution", "branchSummary", "compactionSummary", "hookMessage"]);
const ENTRY_TYPES = new Set([
  "session",
  "compaction",
  "context_edit",
  "branch_summary",
  "model_change",
  "thinking_level_change",
  "custom",
  "custom_message",
  "label",
  "session_info",
  "usage",
  "leaf",
  "reset",
]);

/** How surely a message or a transcript's line is pi's or OpenClaw's. */
export function signPi(entry: JsonRecord): number {
  const { type, message, role } = entry;
  if (role === undefined) {
    if (type === "message") return isRecord(message) && typeof message.role === "string" ? 0.95 : -1;
    if (type === "session") return typeof entry.id === "string" ? 0.9 : -1;
    return typeof type === "string" && ENTRY_TYPES.has(type) && "timestamp" in entry ? 0.9 : -1;
  }
  if (typeof role !== "string" || entry.parts !== undefined) return -1;
  if (OWN_ROLES.has(role)) return 0.95;
  if (role !== "user" && role !== "assistant" && role !== "system" && role !== "custom") return -1;
  const { content, timestamp, stopReason, api } = entry;
  const blocks = Array.isArray(content) ? content.slice(0, 16).filter(isRecord) : [];
  if (blocks.some((block) => block.type === "toolCall" || "thinkingSignature" in block)) return 0.95;
  if (blocks.some((block) => typeof block.type !== "string" || /-|^(image_url|input_|output_)/.test(block.type)))
    return -1;
  const isStamped = typeof timestamp === "number";
  if (role === "assistant" && isStamped && (typeof stopReason === "string" || typeof api === "string")) return 0.9;
  if (blocks.some(({ type: name }) => name === "tool_use" || name === "tool_result")) return isStamped ? 0.6 : 0.3;
  return isStamped ? 0.45 : 0.3;
}
