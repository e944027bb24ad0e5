import type { Limits } from "../contract/limits.ts";
import type { Wire, WireEdit, WireMessage } from "../contract/wire.ts";
import { isRecord, type JsonRecord } from "../values.ts";
import { addCall, addResult } from "./blocks.ts";
import { type ContentShape, readContent, typedShape, writeContent } from "./content.ts";
import { emptyView, makeWire } from "./make-wire.ts";
import { type Medium, mostTokens, readMedium } from "./media.ts";
import { idOf, isJsonText, jsonText, pick, withField } from "./record.ts";

// Reads results of tools/call, alone or in the JSON-RPC message that carries them. The request of tools/call is the
// call.

const AT = "content";
const plain = typedShape(mediumIn);

const shape: ContentShape = {
  ...plain,
  look(block) {
    const { resource } = block;
    if (block.type !== "resource") return plain.look(block);
    if (!isRecord(resource)) return "malformed";
    return typeof resource.text === "string"
      ? { text: resource.text }
      : { medium: readMedium(resource.blob ?? "", mostTokens) };
  },
  put(block, text) {
    return isRecord(block.resource) ? { ...block, resource: { ...block.resource, text } } : { ...block, text };
  },
};

/** Reads results of MCP tools. */
export const mcp: Wire = makeWire({
  name: "mcp",
  sign,
  read(message) {
    if (message.jsonrpc === undefined) return readResult(emptyView("result"), message, null);
    const view = emptyView("other");
    const { id, method, params, result } = message;
    view.id = idOf(id);
    if (method === "tools/call" && isRecord(params)) {
      view.role = "assistant";
      addCall(view, view.id, params.name, params.arguments);
    }
    return isRecord(result) && isToolResult(result) ? readResult({ ...view, role: "result" }, result, view.id) : view;
  },
  write(message, edits) {
    const edit = edits.find(({ at }) => at === AT);
    if (edit === undefined) return message;
    if (message.jsonrpc === undefined) return writeResult(message, edit);
    const { result } = message;
    return isRecord(result) && isToolResult(result) ? withField(message, "result", writeResult(result, edit)) : message;
  },
  missing(calls, text) {
    const [call] = calls;
    if (call === undefined) return null;
    const result = { content: [{ type: "text", text }], isError: true };
    return call.id === null ? result : { jsonrpc: "2.0", id: call.id, result };
  },
  // A server's results are not a conversation.
  say: () => null,
  // A host shows a model what a server says, and the structured content only where nothing else is said.
  sent(message) {
    const { result } = message;
    if (message.jsonrpc === undefined) return sentResult(message);
    return isRecord(result) ? { ...message, result: sentResult(result) } : message;
  },
});

function sentResult(result: JsonRecord): JsonRecord {
  const isSaid = Array.isArray(result.content) && result.content.length > 0;
  return pick(result, [isSaid ? AT : "structuredContent", "isError"]);
}

function readResult(view: WireMessage, result: JsonRecord, id: string | null): WireMessage {
  const about = { at: AT, id, tool: null, isError: result.isError === true, fixed: false };
  addResult(view, about, result.content, shape);
  if (result.content === undefined && !isStructured(result)) view.malformed += 1;
  // If there is no text, a model sees the structured content.
  if (view.results[0]?.texts.length === 0 && isStructured(result) && isListed(result)) {
    const text = jsonText(result.structuredContent);
    if (text !== null) view.results[0].texts.push(text);
  }
  return view;
}

function writeResult(result: JsonRecord, edit: WireEdit): JsonRecord {
  const { structuredContent, ...rest } = result;
  if (result.content === undefined && !isStructured(result)) return result;
  const isText = readContent(result.content, shape).texts.length > 0;
  const isShown =
    !isText && isStructured(result) && isListed(result) && edit.texts !== undefined && edit.texts.length > 0;
  if (isShown && edit.texts !== undefined && isJsonText(structuredContent, edit.texts.join("\n"))) {
    return withField(result, AT, writeContent(result.content, { at: AT, ...mediaOf(edit) }, shape));
  }
  return withField(isShown ? rest : result, AT, writeContent(result.content, edit, shape));
}

function mediaOf({ mediaText }: WireEdit): { mediaText?: string } {
  return mediaText === undefined ? {} : { mediaText };
}

function isStructured(result: JsonRecord): boolean {
  return isRecord(result.structuredContent) || Array.isArray(result.structuredContent);
}

function isListed({ content }: JsonRecord): boolean {
  return content === undefined || Array.isArray(content);
}

// An answer to sampling also has content, but it has a role too.
function isToolResult(result: JsonRecord): boolean {
  return (result.content !== undefined && result.role === undefined) || isStructured(result);
}

function mediumIn(block: JsonRecord): Medium | null {
  return block.type === "image" || block.type === "audio" ? readMedium(block.data, mostTokens) : null;
}

function sign(message: JsonRecord): number {
  if (message.jsonrpc === "2.0") return 0.95;
  if (message.role !== undefined || message.type !== undefined || message.parts !== undefined) return -1;
  if (!isToolResult(message)) return -1;
  const hasOwn = "isError" in message || "structuredContent" in message || "_meta" in message;
  return hasOwn ? 0.9 : 0.75;
}

/** Claude Code shows 2 KB of a result of more than 50,000 characters, unless its tool states more here. */
const SIZE_KEY = "anthropic/maxResultSizeChars";
/** The most that a tool may state. */
const MAX_STATED_CHARS = 500_000;

/** What a tool of MCP says of itself, with how long its results are once they are clamped. */
export function statedMeta(meta: unknown, { maxChars, maxBytes }: Limits): { _meta?: object } {
  const most = Math.min(maxChars ?? Infinity, maxBytes ?? Infinity, MAX_STATED_CHARS);
  const isBound = maxChars !== undefined || maxBytes !== undefined;
  return isBound ? { _meta: { ...(isRecord(meta) && meta), [SIZE_KEY]: most } } : {};
}
