import type { Wire, WireCall, WireEdit, WireMessage } from "../contract/wire.ts";
import { isRecord, type JsonRecord } from "../values.ts";
import { addCall, addHostedCall, addResult, addText, readBlocks, settleHosted } from "./blocks.ts";
import { type ContentShape, typedShape, writeContent } from "./content.ts";
import { withLongTexts } from "./long-texts.ts";
import { emptyView, makeWire } from "./make-wire.ts";
import { countMedium, type Medium, mostTokens, readMedium } from "./media.ts";
import { idOf, jsonChars, jsonText, pick, textOrNull, withField } from "./record.ts";

const AT = "content";
const CALL = "tool_calls.";
const MEDIA = /^(image|image_url|audio|input_audio|video|file|media|document|text-plain)$/;

const typed = typedShape(mediumIn, "cache_control");
const resultShape: ContentShape = { ...typed, needed: true };

/** The shape of a server tool's result. What is not text counts as its JSON. */
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

/** Reads messages of LangChain: serialised, stored or plain. */
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
    if (ROLES[kindOf(message)] === "assistant") return writeCalls(message, edits);
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
  sent(message) {
    const { fields } = openMessage(message);
    const { content, tool_calls: calls, additional_kwargs: more } = fields;
    const raw = isRecord(more) ? pick(more, ["tool_calls"]) : {};
    const isListed = Array.isArray(calls) && calls.length > 0;
    return {
      role: kindOf(message),
      ...pick(fields, ["content", "name", "tool_call_id", "invalid_tool_calls"]),
      ...(Array.isArray(content) && { content: content.filter((block) => !isListed || !isCallBlock(block)) }),
      ...(isListed ? { tool_calls: calls } : raw),
    };
  },
});

/** Returns true for a block that says a call once more: the same calls are in tool_calls. */
function isCallBlock(block: unknown): boolean {
  return isRecord(block) && /^(tool_use|tool_call|function_call)$/.test(String(block.type));
}

function readBlock(view: WireMessage, hosted: WireCall[], block: JsonRecord, at: number): void {
  const type = String(block.type);
  const medium = mediumIn(block);
  if (type === "text") addText(view, block.text);
  else if (medium !== null) countMedium(view.media, medium);
  else if (isCallBlock(block)) return;
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
  const isFixed = isSigned(fields);
  readBlocks(view, listed, (call, at) => {
    const made = isRecord(call.function) ? call.function : call;
    addCall(view, idOf(call.id), made.name, made.args ?? made.arguments, isFixed ? null : { at: `${CALL}${at}` });
  });
  if (calls !== undefined && calls !== null && !Array.isArray(calls)) view.malformed += 1;
  // No tool runs a call that could not be parsed, so nobody answers it.
  if (Array.isArray(fields.invalid_tool_calls)) view.chars += jsonChars(fields.invalid_tool_calls);
}

/** Writes a call in every place that holds it, because it depends on the model which of them is sent. */
function writeCalls(message: JsonRecord, edits: readonly WireEdit[]): JsonRecord {
  const { fields } = openMessage(message);
  const { tool_calls: calls, additional_kwargs: more } = fields;
  const raw = isRecord(more) ? more.tool_calls : undefined;
  const listed = Array.isArray(calls) && calls.length > 0 ? calls : Array.isArray(raw) ? raw : [];
  const made = edits.flatMap(({ at, texts }) => {
    const call: unknown = at.startsWith(CALL) ? listed[Number(at.slice(CALL.length))] : undefined;
    return isRecord(call) ? { call, texts } : [];
  });
  if (made.length === 0 || isSigned(fields)) return message;
  const write = (list: unknown): unknown => {
    if (!Array.isArray(list)) return list;
    const written = list.map((one: unknown) => {
      if (!isRecord(one)) return one;
      const isCopy = list !== listed && (isCallBlock(one) || isRecord(one.function)) && idOf(one.id) !== null;
      const edit = made.find(({ call }) => call === one || (isCopy && idOf(call.id) === idOf(one.id)));
      return edit === undefined ? one : withInput(one, edit.texts);
    });
    return written.some((one, at) => one !== list[at]) ? written : list;
  };
  let written = message;
  for (const field of ["tool_calls", "content"]) {
    if (Array.isArray(fields[field])) written = openMessage(written).put(field, write(fields[field]));
  }
  if (!isRecord(more) || raw === undefined) return written;
  return openMessage(written).put("additional_kwargs", withField(more, "tool_calls", write(raw)));
}

function withInput(call: JsonRecord, texts: readonly string[] | undefined): JsonRecord {
  if (isRecord(call.function)) return withField(call, "function", withInput(call.function, texts));
  const field = ["args", "input", "arguments"].find((name) => call[name] !== undefined);
  return field === undefined ? call : withField(call, field, withLongTexts(call[field], texts, "json"));
}

/** Returns true for a message with signatures of Google, which checks those of calls. */
function isSigned({ additional_kwargs: more, content }: JsonRecord): boolean {
  if (isRecord(more) && Object.keys(more).some((name) => /signature/i.test(name))) return true;
  return Array.isArray(content) && content.some((block) => isRecord(block) && block.thoughtSignature !== undefined);
}

function mediumIn(block: JsonRecord): Medium | null {
  if (!MEDIA.test(String(block.type))) return null;
  const { data, url, image_url, source, file, input_audio, fileId, file_id } = block;
  const held = data ?? url ?? image_url ?? source ?? file ?? input_audio ?? { file_id: fileId ?? file_id };
  return readMedium(held, mostTokens);
}

/** The speaker of a message, under LangChain's names. */
type MessageKind = "system" | "human" | "ai" | "tool" | "function" | "other";

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

/** Returns the fields of a message, wherever its form keeps them, and a function that puts one back. */
function openMessage(message: JsonRecord): {
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

/** Returns the kind of a message in any form. */
function kindOf(message: JsonRecord): MessageKind {
  if (!isSerialised(message)) {
    const name = message.role ?? message.type;
    return (typeof name === "string" ? KINDS.get(name) : undefined) ?? "other";
  }
  // A serialised message has an id such as ["langchain_core", "messages", "AIMessageChunk"].
  const name = String(message.id.at(-1));
  const kind = /^(System|Human|AI|Tool|Function)Message(Chunk)?$/.exec(name)?.[1]?.toLowerCase();
  return (kind === undefined ? undefined : KINDS.get(kind)) ?? "other";
}

function isSerialised(message: JsonRecord): message is JsonRecord & { id: unknown[] } {
  return Array.isArray(message.id) && isRecord(message.kwargs);
}

/** Returns how surely a message is LangChain's. */
function signLangchain(message: JsonRecord): number {
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
