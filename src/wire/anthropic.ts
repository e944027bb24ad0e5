import type { Wire, WireCall, WireMessage } from "../contract/wire.ts";
import { isRecord, type JsonRecord } from "../values.ts";
import {
  addCall,
  addHostedCall,
  addResult,
  addText,
  readHostedBlocks,
  searchText,
  settleRole,
  writeBlocks,
} from "./blocks.ts";
import { type ContentShape, typedShape, writeContent } from "./content.ts";
import { withLongTexts } from "./long-texts.ts";
import { emptyView, makeWire } from "./make-wire.ts";
import { anthropicTokens, countMedium, type Medium, readMedium } from "./media.ts";
import { idOf, jsonChars, jsonText, textOrNull, withField } from "./record.ts";

const plain = typedShape(mediumIn, "cache_control");

const resultShape: ContentShape = {
  ...plain,
  look(block) {
    if (block.type === "search_result") return { text: searchText(block) };
    const document = textDocument(block);
    return document === null ? plain.look(block) : { text: document };
  },
  // A search result is read as text. If it is changed, it becomes plain text.
  put(block, text) {
    if (block.type === "text") return { ...block, text };
    if (block.type === "document") return { ...block, source: { ...(block.source as JsonRecord), data: text } };
    const said = { type: "text", text };
    return block.cache_control === undefined ? said : { ...said, cache_control: block.cache_control };
  },
};

/** The shape of a server tool's result. An unknown block counts as its JSON. */
const serverShape: ContentShape = {
  ...plain,
  look(block) {
    const part = plain.look(block);
    return part === "other" ? { text: jsonText(block) ?? "" } : part;
  },
};

/** Reads messages of the Anthropic API. */
export const anthropic: Wire = makeWire({
  name: "anthropic",
  sign,
  read(message) {
    const view = emptyView(roleOf(message.role));
    const { content } = message;
    view.id = idOf(message.id);
    if (typeof content === "string") addText(view, content);
    else if (Array.isArray(content)) readHostedBlocks(view, content, readBlock);
    else view.malformed += 1;
    return settleRole(view);
  },
  write(message, edits) {
    if (!Array.isArray(message.content)) return message;
    const blocks = writeBlocks(message.content, edits, (block, edit) => {
      if (block.type === "tool_use") return withField(block, "input", withLongTexts(block.input, edit.texts, "json"));
      return block.type === "tool_result"
        ? withField(block, "content", writeContent(block.content, edit, resultShape))
        : block;
    });
    return withField(message, "content", blocks);
  },
  missing(calls, text) {
    const content = calls
      .filter(({ id }) => id !== null)
      .map(({ id }) => ({ type: "tool_result", tool_use_id: id, is_error: true, content: text }));
    return content.length === 0 ? null : { role: "user", content };
  },
  say: (text) => ({ role: "user", content: [{ type: "text", text }] }),
});

function readBlock(view: WireMessage, hosted: WireCall[], block: JsonRecord, index: number): void {
  const { type } = block;
  const at = String(index);
  if (type === "text") addText(view, block.text);
  else if (type === "tool_result") {
    const result = { at, id: idOf(block.tool_use_id), tool: null, isError: block.is_error === true, fixed: false };
    addResult(view, result, block.content, resultShape);
    // Signatures are of thinking only, which stands in blocks of its own.
  } else if (type === "tool_use") addCall(view, idOf(block.id), block.name, block.input, { at });
  else if (type === "server_tool_use" || type === "mcp_tool_use") {
    addHostedCall(view, hosted, idOf(block.id), block.name, block.input);
  } else if (typeof type === "string" && type.endsWith("_tool_result")) {
    const isError = block.is_error === true || String(isRecord(block.content) && block.content.type).endsWith("_error");
    const result = { at, id: idOf(block.tool_use_id), tool: null, isError, fixed: true };
    addResult(view, result, block.content, serverShape);
  } else if (typeof type !== "string") view.malformed += 1;
  else {
    const medium = mediumIn(block);
    if (medium !== null) countMedium(view.media, medium);
    else view.chars += jsonChars(typeof block.thinking === "string" ? block.thinking : block);
  }
}

function mediumIn(block: JsonRecord): Medium | null {
  return block.type === "image" || block.type === "document" ? readMedium(block.source, anthropicTokens) : null;
}

function textDocument({ type, source }: JsonRecord): string | null {
  if (type !== "document" || !isRecord(source) || source.type !== "text") return null;
  return textOrNull(source.data);
}

function roleOf(role: unknown): WireMessage["role"] {
  return role === "user" || role === "assistant" || role === "system" ? role : "other";
}

function sign({ role, content, parts }: JsonRecord): number {
  if ((role !== "user" && role !== "assistant" && role !== "system") || parts !== undefined) return -1;
  if (typeof content === "string") return 0.3;
  if (!Array.isArray(content)) return -1;
  let strength = 0.3;
  for (const block of content.slice(0, 16)) {
    if (!isRecord(block)) continue;
    if (typeof block.type !== "string") return -1;
    const isCall = /^(server_|mcp_)?tool_use$|tool_result$/.test(block.type);
    if (isCall && (typeof block.tool_use_id === "string" || typeof block.id === "string")) strength = 0.95;
    else if (block.type === "image" || block.type === "document") {
      if (!isRecord(block.source)) return -1;
      strength = Math.max(strength, 0.8);
    } else if (block.type === "thinking" && "signature" in block) strength = Math.max(strength, 0.8);
    else if (block.type === "redacted_thinking") strength = Math.max(strength, 0.8);
    else if (block.type === "text" && isRecord(block.cache_control)) strength = Math.max(strength, 0.45);
    else if (block.type !== "text" && !/^[a-z]+(_[a-z]+)*$/.test(block.type)) return -1;
    else if (/^(image_url|input_\w+|output_\w+|function_call|file|reasoning)$/.test(block.type)) return -1;
  }
  return strength;
}
