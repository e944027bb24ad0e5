import type { Wire, WireEdit, WireMessage, WireRole } from "../contract/wire.ts";
import { isRecord, type JsonRecord } from "../values.ts";
import { addCall, addResult, addText, readBlocks, settleRole, writeBlocks } from "./blocks.ts";
import { typedShape, writeContent } from "./content.ts";
import { withLongTexts } from "./long-texts.ts";
import { emptyView, makeWire } from "./make-wire.ts";
import { countMedium, type Medium, mostTokens, readMedium } from "./media.ts";
import { idOf, jsonChars, pick, textOrNull, withField } from "./record.ts";

// Reads messages of pi and OpenClaw sessions, and the lines of their transcripts, which hold such messages. Older
// sessions and other harnesses use other names for the same fields. All of them are read.

const AT = "content";
const shape = { ...typedShape(mediumIn), needed: true };

const ROLES = new Map<unknown, WireRole>([
  ["system", "system"],
  ["user", "user"],
  ["custom", "user"],
  ["hookMessage", "user"],
  ["branchSummary", "user"],
  ["compactionSummary", "user"],
  ["bashExecution", "user"],
  ["assistant", "assistant"],
  ["toolResult", "result"],
  ["tool_result", "result"],
  ["tool", "result"],
  ["function", "result"],
]);

const CALL_TYPES = new Set(["toolCall", "toolUse", "functionCall", "tool_call", "tool_use", "function_call"]);
const RESULT_TYPES = new Set(["toolResult", "tool_result", "functionResult", "function_result"]);
const BROKEN_OFF = new Set<unknown>(["aborted", "error"]);

/** Reads session messages of pi and OpenClaw, and the entries of their transcripts. */
export const pi: Wire = makeWire({
  name: "pi",
  sign: signPi,
  read(entry) {
    if (isRecord(entry.message) && entry.role === undefined) {
      const view = readMessage(entry.message);
      return { ...view, id: idOf(entry.id) ?? view.id };
    }
    return typeof entry.role === "string" ? readMessage(entry) : readOtherEntry(entry);
  },
  write(entry, edits) {
    if (isRecord(entry.message) && entry.role === undefined) {
      return withField(entry, "message", writeMessage(entry.message, edits));
    }
    return typeof entry.role === "string" ? writeMessage(entry, edits) : entry;
  },
  missing(calls, text) {
    const [call] = calls;
    if (call === undefined || call.id === null) return null;
    const content = [{ type: "text", text }];
    return { role: "toolResult", toolCallId: call.id, toolName: call.tool, content, isError: true };
  },
  say: (text) => ({ role: "user", content: [{ type: "text", text }] }),
  sent(entry) {
    const message = isRecord(entry.message) && entry.role === undefined ? entry.message : entry;
    if (message.excludeFromContext === true) return null;
    const fields = pick(message, SENT);
    if (!Array.isArray(fields.content)) return fields;
    // Calls of a turn that broke off were never answered, and pi sends none without an answer.
    const isSent = (block: unknown) => !isBrokenOff(message) || !isRecord(block) || !CALL_TYPES.has(String(block.type));
    return { ...fields, content: fields.content.filter(isSent).map(sentBlock) };
  },
});

/** The fields that pi sends on. It keeps others in a message: a tool's details, usage, times, the model's name. */
const SENT = ["role", "content", "toolCallId", "toolName", "isError", "command", "output", "summary"];

/** The text from which a call's arguments were read is not sent beside them. */
function sentBlock(block: unknown): unknown {
  if (!isRecord(block) || block.partialJson === undefined || block.arguments === undefined) return block;
  const { partialJson: _partialJson, ...sent } = block;
  return sent;
}

function readMessage(message: JsonRecord): WireMessage {
  const view = emptyView(ROLES.get(message.role) ?? "other");
  view.id = idOf(message.id) ?? (isRecord(message.__openclaw) ? idOf(message.__openclaw.id) : null);
  view.aborted = isBrokenOff(message);
  const { content } = message;
  if (view.role === "result") {
    addResult(view, { at: AT, ...resultOf(message) }, content, shape);
    return view;
  }
  if (message.role === "bashExecution") return readCommand(view, message);
  if (typeof message.summary === "string") addText(view, message.summary);
  else if (typeof content === "string") addText(view, content);
  else if (Array.isArray(content)) readBlocks(view, content, (block, at) => readBlock(view, block, at));
  else view.malformed += 1;
  return settleRole(view);
}

function readBlock(view: WireMessage, block: JsonRecord, at: number): void {
  const type = String(block.type);
  if (type === "text") addText(view, block.text);
  else if (CALL_TYPES.has(type)) {
    const field = inputField(block);
    const input = field === null ? block.partialJson : block[field];
    const isFixed = field === null || view.aborted || isSigned(block);
    addCall(
      view,
      idOf(block.id) ?? callIdOf(block),
      block.name ?? block.toolName,
      input,
      isFixed ? null : { at: String(at) },
    );
  } else if (RESULT_TYPES.has(type)) addResult(view, { at: String(at), ...resultOf(block) }, block.content, shape);
  else if (typeof block.type !== "string") view.malformed += 1;
  else {
    const medium = mediumIn(block);
    if (medium !== null) countMedium(view.media, medium);
    else view.chars += jsonChars(typeof block.thinking === "string" ? block.thinking : block);
  }
}

function isBrokenOff({ role, stopReason }: JsonRecord): boolean {
  return ROLES.get(role) === "assistant" && BROKEN_OFF.has(stopReason);
}

function inputField(block: JsonRecord): string | null {
  return ["arguments", "input", "args"].find((name) => block[name] !== undefined && block[name] !== null) ?? null;
}

/** Returns true for a call that Google signed. It checks its signatures of calls. */
function isSigned({ thoughtSignature }: JsonRecord): boolean {
  return thoughtSignature !== undefined && thoughtSignature !== null;
}

/** Reads a command that a person ran. The model reads it as that person's text. */
function readCommand(view: WireMessage, { command, output, excludeFromContext }: JsonRecord): WireMessage {
  if (excludeFromContext === true) return { ...view, role: "other" };
  addText(view, command);
  addText(view, output);
  return view;
}

function readOtherEntry(entry: JsonRecord): WireMessage {
  if (typeof entry.type !== "string") return { ...emptyView("other"), malformed: 1 };
  const view =
    entry.type === "custom_message" ? readMessage({ role: "custom", content: entry.content }) : emptyView("other");
  if (typeof entry.summary === "string") addText(view, entry.summary);
  view.id = idOf(entry.id);
  if (entry.type === "message") view.malformed += 1;
  return view;
}

function writeMessage(message: JsonRecord, edits: readonly WireEdit[]): JsonRecord {
  const whole = edits.find(({ at }) => at === AT);
  if (ROLES.get(message.role) === "result") {
    return whole === undefined ? message : withField(message, "content", writeContent(message.content, whole, shape));
  }
  if (!Array.isArray(message.content)) return message;
  const blocks = writeBlocks(message.content, edits, (block, edit) => {
    const type = String(block.type);
    if (RESULT_TYPES.has(type)) return withField(block, "content", writeContent(block.content, edit, shape));
    const isFixed = !CALL_TYPES.has(type) || isBrokenOff(message) || isSigned(block);
    const field = isFixed ? null : inputField(block);
    return field === null ? block : withField(block, field, withLongTexts(block[field], edit.texts, "json"));
  });
  return withField(message, "content", blocks);
}

function resultOf(record: JsonRecord): { id: string | null; tool: string | null; isError: boolean; fixed: boolean } {
  return {
    id: callIdOf(record),
    tool: textOrNull(record.toolName) ?? textOrNull(record.tool_name) ?? textOrNull(record.name),
    isError: record.isError === true || record.is_error === true,
    fixed: false,
  };
}

function callIdOf(record: JsonRecord): string | null {
  const { toolCallId, tool_call_id, toolUseId, tool_use_id, callId, call_id } = record;
  return idOf(toolCallId ?? tool_call_id ?? toolUseId ?? tool_use_id ?? callId ?? call_id);
}

function mediumIn(block: JsonRecord): Medium | null {
  if (block.type !== "image" && block.type !== "audio" && block.type !== "file") return null;
  return readMedium(block.data ?? block.source ?? block.url ?? "", mostTokens);
}

const SHARED_ROLES = new Set(["user", "assistant", "system", "custom"]);
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

/** Returns how surely an entry is a message or a transcript line of pi or OpenClaw. */
function signPi(entry: JsonRecord): number {
  const { role } = entry;
  if (role === undefined) return signLine(entry);
  if (typeof role !== "string" || entry.parts !== undefined) return -1;
  if (OWN_ROLES.has(role)) return 0.95;
  return SHARED_ROLES.has(role) ? signMessage(entry) : -1;
}

/** Judges a line of a transcript, which has a type and no role. */
function signLine(entry: JsonRecord): number {
  const { type, message } = entry;
  if (type === "message") return isRecord(message) && typeof message.role === "string" ? 0.95 : -1;
  if (type === "session") return typeof entry.id === "string" ? 0.9 : -1;
  return typeof type === "string" && ENTRY_TYPES.has(type) && "timestamp" in entry ? 0.9 : -1;
}

/** Judges a message whose role other formats have too, by its blocks and its time. */
function signMessage({ role, content, timestamp, stopReason, api }: JsonRecord): number {
  const blocks = Array.isArray(content) ? content.slice(0, 16).filter(isRecord) : [];
  if (blocks.some((block) => block.type === "toolCall" || "thinkingSignature" in block)) return 0.95;
  if (blocks.some((block) => typeof block.type !== "string" || /-|^(image_url|input_|output_)/.test(block.type)))
    return -1;
  const isStamped = typeof timestamp === "number";
  if (role === "assistant" && isStamped && (typeof stopReason === "string" || typeof api === "string")) return 0.9;
  if (blocks.some(({ type: name }) => name === "tool_use" || name === "tool_result")) return isStamped ? 0.6 : 0.3;
  return isStamped ? 0.45 : 0.3;
}
