import type { Wire, WireMessage } from "../contract/wire.ts";
import { addCall, addMedia, addResult, addText, readBlocks } from "./blocks.ts";
import { writeContent } from "./content.ts";
import { jsonChars } from "./json-text.ts";
import { emptyView, makeWire } from "./make-wire.ts";
import { idOf, isRecord, type JsonRecord, textOrNull, withField } from "./record.ts";
import { AGENTS_CALL, answerCall, isAnswerable } from "./responses-answer.ts";
import { hostedShape, mediaBytesOf, outputShape, shellShape } from "./responses-output.ts";

// Items of a Responses request. The Agents SDK keeps the same items under names in camel case: both are read.

const AT = "output";
const ROLES = new Map<unknown, WireMessage["role"]>([
  ["system", "system"],
  ["developer", "system"],
  ["user", "user"],
  ["assistant", "assistant"],
]);

/** OpenAI responses: input items, and those of the Agents SDK. */
export const openaiResponses: Wire = makeWire({
  name: "openai-responses",
  sign,
  read(item) {
    const type = item.type ?? "message";
    const view = emptyView(type === "message" ? (ROLES.get(item.role) ?? "other") : "other");
    view.id = idOf(item.id);
    if (type === "message") readMessage(view, item.content);
    else if (typeof type !== "string") view.malformed += 1;
    else if (isOutput(type)) readOutput(view, item);
    else if (type === "reasoning") readReasoning(view, item);
    else if (type.endsWith("_call")) readCall(view, item, type);
    else view.chars += jsonChars(item);
    return view;
  },
  write(item, edits) {
    const edit = edits.find(({ at }) => at === AT);
    if (edit === undefined || typeof item.type !== "string" || !isOutput(item.type)) return item;
    if (isFixed(item.type)) return item;
    return withField(item, AT, writeContent(item.output, edit, shapeOf(item.type)));
  },
  missing(calls, text) {
    const [call] = calls;
    return call === undefined || call.id === null ? null : answerCall(call.id, call, text);
  },
  say: (text) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] }),
});

function readMessage(view: WireMessage, content: unknown): void {
  if (typeof content === "string") addText(view, content);
  else if (Array.isArray(content)) {
    readBlocks(view, content, (part) => {
      const bytes = mediaBytesOf(part);
      if (bytes !== null) addMedia(view, bytes);
      else if (/^(input_|output_)?text$/.test(String(part.type))) addText(view, part.text);
      else if (typeof part.type !== "string") view.malformed += 1;
      else view.chars += jsonChars(part);
    });
  } else view.malformed += 1;
}

function readOutput(view: WireMessage, item: JsonRecord): void {
  view.role = "result";
  const result = { at: AT, id: callIdOf(item) ?? idOf(item.id), tool: textOrNull(item.name) };
  const isError = item.status === "failed";
  addResult(view, { ...result, isError, fixed: isFixed(item.type) }, item.output, shapeOf(item.type));
}

function readReasoning(view: WireMessage, item: JsonRecord): void {
  view.role = "assistant";
  view.chars += jsonChars(item.summary ?? "") + jsonChars(item.content ?? "") + jsonChars(item.encrypted_content ?? "");
}

/** A call that we answer, or one that the provider answered in the same item. */
function readCall(view: WireMessage, item: JsonRecord, type: string): void {
  view.role = "assistant";
  view.aborted = item.status === "incomplete";
  const ownId = callIdOf(item);
  const tool = textOrNull(item.name) ?? type.slice(0, -"_call".length);
  const input = item.arguments ?? item.input ?? item.action ?? item.operation ?? item.queries ?? item.code ?? "";
  const found = item.output ?? item.results ?? item.outputs ?? item.result ?? item.error ?? null;
  const isOurs = ownId !== null && isAnswerable(type);
  // The provider answers it, or did so elsewhere.
  if (!isOurs && found === null) {
    view.chars += jsonChars(item);
    return;
  }
  addCall(view, ownId ?? idOf(item.id), tool, input);
  const [call] = view.calls;
  if (call !== undefined) call.kind = item.callId === undefined ? type : AGENTS_CALL;
  if (isOurs) return;
  const isError = item.status === "failed" || (item.error !== undefined && item.error !== null);
  const result = { at: AT, id: idOf(item.id), tool, isError, fixed: true };
  if (type === "image_generation_call") {
    view.results.push({ ...result, texts: [], media: { count: 1, bytes: jsonChars(found) } });
  } else addResult(view, result, found, hostedShape);
}

function isOutput(type: string): boolean {
  return type.endsWith("_call_output") || type.endsWith("_call_result");
}

// A screenshot may only be answered with a screenshot.
function isFixed(type: unknown): boolean {
  return type === "computer_call_output" || type === "computer_call_result";
}

function shapeOf(type: unknown): typeof outputShape {
  return type === "shell_call_output" ? shellShape : outputShape;
}

function callIdOf(item: JsonRecord): string | null {
  return idOf(item.call_id ?? item.callId);
}

function sign(item: JsonRecord): number {
  const { type, role, content } = item;
  if (item.parts !== undefined || item.message !== undefined) return -1;
  if (typeof type === "string" && (isOutput(type) || type.endsWith("_call"))) {
    return typeof (callIdOf(item) ?? item.id) === "string" ? 0.95 : 0.5;
  }
  if (type === "reasoning" || type === "item_reference") return 0.8;
  if ((type !== "message" && type !== undefined) || !ROLES.has(role)) return -1;
  if (item.tool_calls !== undefined || item.function_call !== undefined) return -1;
  const parts = Array.isArray(content) ? content.filter(isRecord) : [];
  if (parts.some((part) => /^(input|output)_(text|image|file)$/.test(String(part.type)))) return 0.9;
  if (parts.length > 0) return -1;
  return type === "message" ? 0.7 : 0.3;
}
