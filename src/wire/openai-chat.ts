import type { Wire, WireEdit, WireMessage, WireRole } from "../contract/wire.ts";
import { isRecord, type JsonRecord } from "../values.ts";
import { addCall, addResult, addText, readBlocks, writeBlocks } from "./blocks.ts";
import { typedShape, writeContent } from "./content.ts";
import { type InputForm, withLongTexts } from "./long-texts.ts";
import { emptyView, makeWire } from "./make-wire.ts";
import { countMedium, type Medium, openaiTokens, readMedium } from "./media.ts";
import { idOf, jsonChars, textOrNull, withField } from "./record.ts";

const AT = "content";
const CALL = "tool_calls.";
const OLD_CALL = "function_call";
const shape = { ...typedShape(mediumIn, "cache_control"), needed: true };

const ROLES = new Map<unknown, WireRole>([
  ["system", "system"],
  ["developer", "system"],
  ["user", "user"],
  ["assistant", "assistant"],
  ["tool", "result"],
  ["function", "result"],
]);

/** Reads messages of OpenAI chat completions, also the older function messages. */
export const openaiChat: Wire = makeWire({
  name: "openai-chat",
  sign,
  read(message) {
    const view = emptyView(ROLES.get(message.role) ?? "other");
    const { content } = message;
    if (view.role === "result") {
      const result = { at: AT, id: idOf(message.tool_call_id), tool: textOrNull(message.name) };
      addResult(view, { ...result, isError: false, fixed: false }, content, shape);
      return view;
    }
    if (typeof content === "string") addText(view, content);
    else if (Array.isArray(content)) readBlocks(view, content, (block) => readPart(view, block));
    else if (content !== null && content !== undefined) view.malformed += 1;
    if (view.role === "assistant") readCalls(view, message);
    return view;
  },
  write(message, edits) {
    if (ROLES.get(message.role) === "assistant") return writeCalls(message, edits);
    const edit = edits.find(({ at }) => at === AT);
    if (edit === undefined || ROLES.get(message.role) !== "result") return message;
    return withField(message, "content", writeContent(message.content, edit, shape));
  },
  missing(calls, text) {
    const [call] = calls;
    if (call === undefined) return null;
    if (call.id === null) return { role: "function", name: call.tool, content: text };
    return { role: "tool", tool_call_id: call.id, content: text };
  },
  say: (text) => ({ role: "user", content: text }),
});

function readPart(view: WireMessage, part: JsonRecord): void {
  if (part.type === "text") addText(view, part.text);
  else if (typeof part.type !== "string") view.malformed += 1;
  else {
    const medium = mediumIn(part);
    if (medium !== null) countMedium(view.media, medium);
    else view.chars += jsonChars(part);
  }
}

function readCalls(view: WireMessage, message: JsonRecord): void {
  for (const field of ["reasoning_content", "reasoning", "refusal"]) {
    const text = message[field];
    if (typeof text === "string") view.chars += text.length;
  }
  if (message.reasoning_details !== undefined) view.chars += jsonChars(message.reasoning_details);
  const { tool_calls: calls, function_call: old } = message;
  if (Array.isArray(calls)) {
    readBlocks(view, calls, (call, at) => {
      const made = isRecord(call.function) ? call.function : isRecord(call.custom) ? call.custom : {};
      const place = isSigned(message, call) ? null : { at: `${CALL}${at}`, form: formOf(call) };
      addCall(view, idOf(call.id), made.name, made.arguments ?? made.input, place);
    });
  } else if (calls !== undefined && calls !== null) view.malformed += 1;
  if (isRecord(old)) addCall(view, null, old.name, old.arguments, { at: OLD_CALL });
}

function writeCalls(message: JsonRecord, edits: readonly WireEdit[]): JsonRecord {
  const { tool_calls: calls, function_call: old } = message;
  const one = edits.find(({ at }) => at === OLD_CALL);
  const listed = edits.flatMap(({ at, ...edit }) =>
    at.startsWith(CALL) ? { at: at.slice(CALL.length), ...edit } : [],
  );
  let written = message;
  if (Array.isArray(calls)) {
    const changed = writeBlocks(calls, listed, (call, { texts }) => {
      const [name, field] = isRecord(call.function) ? ["function", "arguments"] : ["custom", "input"];
      const made = call[name];
      if (!isRecord(made) || isSigned(message, call)) return call;
      return withField(call, name, withField(made, field, withLongTexts(made[field], texts, formOf(call))));
    });
    written = withField(message, "tool_calls", changed);
  }
  if (one === undefined || !isRecord(old)) return written;
  return withField(
    written,
    "function_call",
    withField(old, "arguments", withLongTexts(old.arguments, one.texts, "json")),
  );
}

/** Tools without a schema get plain text. */
function formOf(call: JsonRecord): InputForm {
  return isRecord(call.function) ? "json" : "text";
}

/** Returns true for a call that a provider behind this format signed. Google checks its signatures of calls. */
function isSigned({ reasoning_details: details }: JsonRecord, { extra_content: extra }: JsonRecord): boolean {
  if (isRecord(extra) && isRecord(extra.google) && extra.google.thought_signature !== undefined) return true;
  return Array.isArray(details) && details.some((one) => isRecord(one) && String(one.format).startsWith("google"));
}

function mediumIn({ type, ...part }: JsonRecord): Medium | null {
  return type === "image_url" || type === "input_audio" || type === "file"
    ? readMedium(part[type], openaiTokens)
    : null;
}

function sign(message: JsonRecord): number {
  const { role, content, tool_calls: calls } = message;
  if (typeof role !== "string" || !ROLES.has(role) || message.parts !== undefined) return -1;
  if (role === "tool") return typeof message.tool_call_id === "string" && !isForeign(content) ? 0.9 : -1;
  if (role === "function") return typeof message.name === "string" ? 0.9 : -1;
  if (role === "developer") return isForeign(content) ? -1 : 0.7;
  if (Array.isArray(calls) && calls.length > 0) {
    const [first] = calls;
    return isRecord(first) && (isRecord(first.function) || isRecord(first.custom)) ? 0.95 : -1;
  }
  if (isRecord(message.function_call)) return 0.9;
  if (isForeign(content)) return -1;
  const hasMedia = Array.isArray(content) && content.some((part) => isRecord(part) && mediumIn(part) !== null);
  return hasMedia ? 0.8 : 0.3;
}

function isForeign(content: unknown): boolean {
  if (!Array.isArray(content)) return content !== null && content !== undefined && typeof content !== "string";
  return content.some(
    (part) => isRecord(part) && !["text", "image_url", "input_audio", "file", "refusal"].includes(String(part.type)),
  );
}
