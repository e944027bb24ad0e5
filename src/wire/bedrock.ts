import type { Wire, WireCall, WireMessage } from "../contract/wire.ts";
import { isObject, isRecord, type JsonRecord } from "../values.ts";
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
import { type ContentShape, writeContent } from "./content.ts";
import { withLongTexts } from "./long-texts.ts";
import { emptyView, makeWire } from "./make-wire.ts";
import { anthropicTokens, countMedium, type Medium, readMedium } from "./media.ts";
import { idOf, jsonChars, jsonObject, jsonText, withField } from "./record.ts";

const MEDIA = ["image", "document", "video", "audio"];
const KNOWN = ["text", "toolUse", "toolResult", "cachePoint", "reasoningContent", "guardContent", "searchResult"];

const shape: ContentShape = {
  look(block) {
    if ("text" in block) return typeof block.text === "string" ? { text: block.text } : "malformed";
    if ("json" in block) return { text: jsonText(block.json) ?? "" };
    if (isRecord(block.searchResult)) return { text: searchText(block.searchResult) };
    const media = mediaIn(block);
    return media === undefined ? "other" : { medium: mediumOf(media) };
  },
  put(block, text) {
    if ("text" in block) return { ...block, text };
    const json = isObject(block.json) ? jsonObject(text) : null;
    return json === null ? { text } : { json };
  },
  say: (text) => ({ text }),
};

/** Reads messages of Bedrock Converse. */
export const bedrock: Wire = makeWire({
  name: "bedrock",
  sign,
  read(message) {
    const view = emptyView(message.role === "user" || message.role === "assistant" ? message.role : "other");
    if (Array.isArray(message.content)) readHostedBlocks(view, message.content, readBlock);
    else view.malformed += 1;
    return settleRole(view);
  },
  write(message, edits) {
    if (!Array.isArray(message.content)) return message;
    const blocks = writeBlocks(message.content, edits, (block, edit) => {
      const { toolUse, toolResult: result } = block;
      if (isRecord(toolUse) && toolUse.type !== "server_tool_use")
        return withField(
          block,
          "toolUse",
          withField(toolUse, "input", withLongTexts(toolUse.input, edit.texts, "json")),
        );
      // A result in an assistant's message comes from a tool that the provider ran. It must not change.
      if (!isRecord(result) || message.role === "assistant") return block;
      return withField(block, "toolResult", withField(result, "content", writeContent(result.content, edit, shape)));
    });
    return withField(message, "content", blocks);
  },
  missing(calls, text) {
    const content = calls
      .filter(({ id }) => id !== null)
      .map(({ id }) => ({ toolResult: { toolUseId: id, content: [{ text }], status: "error" } }));
    return content.length === 0 ? null : { role: "user", content };
  },
  say: (text) => ({ role: "user", content: [{ text }] }),
});

function readBlock(view: WireMessage, hosted: WireCall[], block: JsonRecord, at: number): void {
  const { toolUse, toolResult } = block;
  const media = mediaIn(block);
  if ("text" in block) addText(view, block.text);
  else if (isRecord(toolUse)) {
    const { toolUseId, name, input, type } = toolUse;
    if (type === "server_tool_use") addHostedCall(view, hosted, idOf(toolUseId), name, input);
    else addCall(view, idOf(toolUseId), name, input, { at: String(at) });
  } else if (isRecord(toolResult)) {
    const isError = toolResult.status === "error";
    const result = { at: String(at), id: idOf(toolResult.toolUseId), tool: null, isError };
    const only: unknown =
      Array.isArray(toolResult.content) && toolResult.content.length === 1 ? toolResult.content[0] : null;
    const json = isRecord(only) && isObject(only.json) ? { json: only.json } : {};
    addResult(view, { ...result, ...json, fixed: view.role === "assistant" }, toolResult.content, shape);
  } else if (toolUse !== undefined || toolResult !== undefined) view.malformed += 1;
  else if (media !== undefined) countMedium(view.media, mediumOf(media));
  else if (!("cachePoint" in block)) view.chars += jsonChars(block);
}

function mediaIn(block: JsonRecord): unknown {
  return MEDIA.map((kind) => block[kind]).find((value) => value !== undefined);
}

function mediumOf(media: unknown): Medium {
  const holder = isRecord(media) && isRecord(media.source) ? (media.source.bytes ?? media.source) : media;
  return readMedium(holder, anthropicTokens);
}

function sign({ role, content }: JsonRecord): number {
  if ((role !== "user" && role !== "assistant") || !Array.isArray(content)) return -1;
  const blocks = content.slice(0, 16).filter(isRecord);
  if (blocks.some((block) => typeof block.type === "string")) return -1;
  if (blocks.some((block) => isRecord(block.toolUse) || isRecord(block.toolResult))) return 0.95;
  return blocks.some((block) => KNOWN.some((key) => key in block) || mediaIn(block) !== undefined) ? 0.85 : 0;
}
