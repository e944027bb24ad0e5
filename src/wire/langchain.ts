import type { Wire, WireCall, WireMessage } from "../contract/wire.ts";
import { addCall, addHostedCall, addMedia, addResult, addText, readBlocks, settleHosted } from "./blocks.ts";
import { type ContentShape, typedShape, writeContent } from "./content.ts";
import { jsonChars, jsonText } from "./json-text.ts";
import { kindOf, type MessageKind, openMessage, signLangchain } from "./langchain-forms.ts";
import { emptyView, makeWire } from "./make-wire.ts";
import { idOf, isRecord, type JsonRecord, textOrNull } from "./record.ts";

const AT = "content";
const MEDIA = /^(image|image_url|audio|input_audio|video|file|media|document|text-plain)$/;

const typed = typedShape(mediaBytesOf, "cache_control");
const resultShape: ContentShape = { ...typed, needed: true };

/** What a server tool found, as its JSON where it is not text. */
const serverShape: ContentShape = {
  ...typed,
  look(block) {
    const part = typed.look(block);
    return typeof part === "object" ? part : { text: jsonText(block) ?? "" };
  },
};

const ROLES: Record<MessageKind, WireMessage["role"]> = {
  system: "system",
  human: "user",
  ai: "assistant",
  tool: "result",
  function: "result",
  other: "other",
};

/** LangChain messages: serialised, stored, or plain. */
export const langchain: Wire = makeWire({
  name: "langchain",
  sign: signLangchain,
  read(message) {
    const { fields } = openMessage(message);
    const view = emptyView(ROLES[kindOf(message)]);
    const { content } = fields;
    view.id = idOf(fields.id);
    if (view.role === "result") {
      const result = { at: AT, id: idOf(fields.tool_call_id), tool: textOrNull(fields.name) };
      addResult(view, { ...result, isError: fields.status === "error", fixed: false }, content, resultShape);
      return view;
    }
    const hosted: WireCall[] = [];
    if (typeof content === "string") addText(view, content);
    else if (Array.isArray(content)) readBlocks(view, content, (block, at) => readBlock(view, hosted, block, at));
    else if (view.role !== "other") view.malformed += 1;
    settleHosted(view, hosted);
    if (view.role === "assistant") readCalls(view, fields);
    return view;
  },
  write(message, edits) {
    const edit = edits.find(({ at }) => at === AT);
    if (edit === undefined || ROLES[kindOf(message)] !== "result") return message;
    const { fields, put } = openMessage(message);
    return put("content", writeContent(fields.content, edit, resultShape));
  },
  missing(calls, text) {
    const [call] = calls;
    if (call === undefined || call.id === null) return null;
    return { type: "tool", tool_call_id: call.id, name: call.tool, content: text, status: "error" };
  },
  say: (text) => ({ type: "human", content: text }),
});

function readBlock(view: WireMessage, hosted: WireCall[], block: JsonRecord, at: number): void {
  const type = String(block.type);
  const bytes = mediaBytesOf(block);
  if (type === "text") addText(view, block.text);
  else if (bytes !== null) addMedia(view, bytes);
  // The same calls stand in tool_calls.
  else if (type === "tool_use" || type === "tool_call" || type === "function_call") return;
  else if (type === "server_tool_call" || type === "server_tool_use") {
    addHostedCall(view, hosted, idOf(block.id), block.name, block.args ?? block.input);
  } else if (type === "server_tool_call_result" || type.endsWith("_tool_result")) {
    const id = idOf(block.toolCallId ?? block.tool_call_id ?? block.tool_use_id);
    const result = { at: String(at), id, tool: null, isError: block.status === "error", fixed: true };
    addResult(view, result, block.output ?? block.content, serverShape);
  } else if (typeof block.type !== "string") view.malformed += 1;
  else view.chars += jsonChars(block.thinking ?? block.reasoning ?? block);
}

function readCalls(view: WireMessage, fields: JsonRecord): void {
  const { tool_calls: calls, additional_kwargs: more } = fields;
  const raw = isRecord(more) ? more.tool_calls : undefined;
  const listed = Array.isArray(calls) && calls.length > 0 ? calls : Array.isArray(raw) ? raw : [];
  readBlocks(view, listed, (call) => {
    const made = isRecord(call.function) ? call.function : call;
    addCall(view, idOf(call.id), made.name, made.args ?? made.arguments);
  });
  if (calls !== undefined && calls !== null && !Array.isArray(calls)) view.malformed += 1;
  // No tool runs what could not be parsed, so nobody answers it.
  if (Array.isArray(fields.invalid_tool_calls)) view.chars += jsonChars(fields.invalid_tool_calls);
}

function mediaBytesOf(block: JsonRecord): number | null {
  if (!MEDIA.test(String(block.type))) return null;
  const { data, url, image_url, source, file, input_audio, fileId, file_id } = block;
  return jsonChars(data ?? url ?? image_url ?? source ?? file ?? input_audio ?? fileId ?? file_id ?? "");
}
