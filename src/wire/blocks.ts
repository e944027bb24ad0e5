import type { WireCall, WireEdit, WireMessage, WireResult } from "../contract/wire.ts";
import { isRecord, type JsonRecord } from "../values.ts";
import { type ContentShape, readContent } from "./content.ts";
import { type InputForm, longTextsIn } from "./long-texts.ts";
import { jsonChars, pick, withField } from "./record.ts";

// This file serves formats in which a message is a list of blocks, and some of the blocks are calls or results.

/** Reads each block. If a block cannot be read, it is counted and the others are still read. */
export function readBlocks(
  view: WireMessage,
  blocks: readonly unknown[],
  readOne: (block: JsonRecord, at: number) => void,
): void {
  for (let at = 0; at < blocks.length; at += 1) {
    const block = blocks[at];
    try {
      if (isRecord(block)) readOne(block, at);
      else view.malformed += 1;
    } catch {
      view.malformed += 1;
    }
  }
}

/** Reads blocks of which some are calls that the provider answers itself. */
export function readHostedBlocks(
  view: WireMessage,
  blocks: readonly unknown[],
  readOne: (view: WireMessage, hosted: WireCall[], block: JsonRecord, at: number) => void,
): void {
  const hosted: WireCall[] = [];
  readBlocks(view, blocks, (block, at) => readOne(view, hosted, block, at));
  settleHosted(view, hosted);
}

/** What a model reads of a search result. */
export function searchText({ title, source, content }: JsonRecord): string {
  const texts = (Array.isArray(content) ? content : []).map((inner) => (isRecord(inner) ? inner.text : null));
  return [title, source, ...texts].filter((text) => typeof text === "string").join("\n");
}

/** Returns the blocks with the edits made, or the same list if no edit changed a block. */
export function writeBlocks(
  blocks: readonly unknown[],
  edits: readonly WireEdit[],
  writeOne: (block: JsonRecord, edit: WireEdit) => JsonRecord,
): readonly unknown[] {
  let changed: unknown[] | null = null;
  for (const edit of edits) {
    const at = Number(edit.at);
    const block = (changed ?? blocks)[at];
    if (!isRecord(block) || String(at) !== edit.at) continue;
    const written = writeOne(block, edit);
    if (written === block) continue;
    changed ??= blocks.slice();
    changed[at] = written;
  }
  return changed ?? blocks;
}

/** Adds text outside results. */
export function addText(view: WireMessage, text: unknown): void {
  if (typeof text !== "string") view.malformed += 1;
  else {
    view.chars += text.length;
    if (view.text === null) view.text = text;
    else (view.moreTexts ??= []).push(text);
  }
}

/**
 * Adds a call, and counts the characters that a model reads of it. `place` says where its input is and how it is held, if
 * its long strings may be shown shorter.
 */
export function addCall(
  view: WireMessage,
  id: string | null,
  tool: unknown,
  input: unknown,
  place?: { at: string; form?: InputForm } | null,
): void {
  if (typeof tool !== "string") {
    view.malformed += 1;
    return;
  }
  const long = place && longTextsIn(input, place.form ?? "json");
  view.calls.push({ id, tool, input, ...(long && { long: { at: place.at, ...long } }) });
  view.chars += tool.length + jsonChars(input);
}

/**
 * Adds a call that the provider answers itself, mostly in the same message. Nobody else may answer it, so it is not
 * listed until its result is found.
 */
export function addHostedCall(
  view: WireMessage,
  hosted: WireCall[],
  id: string | null,
  tool: unknown,
  input: unknown,
): void {
  const before = view.calls.length;
  addCall(view, id, tool, input);
  hosted.push(...view.calls.splice(before));
}

/** Lists the hosted calls whose result is in this message. */
export function settleHosted(view: WireMessage, hosted: readonly WireCall[]): void {
  if (hosted.length === 0) return;
  const answered = new Set(view.results.map(({ id, tool }) => id ?? `tool ${tool}`));
  for (const call of hosted) if (answered.has(call.id ?? `tool ${call.tool}`)) view.calls.push(call);
}

/** Adds a result, and reads its content by its shape. */
export function addResult(
  view: WireMessage,
  { json, ...result }: Pick<WireResult, "at" | "id" | "tool" | "isError" | "fixed" | "json">,
  content: unknown,
  shape: ContentShape,
): void {
  const { texts, media, otherChars, malformed } = readContent(content, shape);
  view.results.push({ ...result, texts, ...(json !== undefined && texts.length === 1 && { json }), media });
  view.chars += otherChars;
  view.malformed += malformed;
}

/** If a message holds nothing but results, gives it the role "result". */
export function settleRole(view: WireMessage): WireMessage {
  const isOnly = view.text === null && view.calls.length === 0 && view.media.count === 0;
  if (view.results.length > 0 && isOnly && view.role !== "assistant") view.role = "result";
  return view;
}

// The code below finds media outside results, in all formats. A block is known by its type, or by the field that holds
// the data.

const TYPES = /^(image|image_url|input_image|document|file|input_file|input_audio|audio|video|media)$/;
const FIELDS = ["inlineData", "inline_data", "fileData", "file_data"];
/** A block of Bedrock has no type. Its only field names it. */
const BEDROCK = new Set(["image", "document", "video"]);

/** Some frameworks wrap what is sent. */
const WRAPPERS = ["kwargs", "data", "message"];

/** Returns a copy of a message with a text added at its end, or null if its content has no place for one. */
export function sayAfter(message: unknown, text: string): JsonRecord | null {
  if (!isRecord(message)) return null;
  for (const field of ["content", "parts"]) {
    const said: unknown = message[field];
    if (typeof said === "string") return withField(message, field, `${said}\n\n${text}`);
    if (!Array.isArray(said)) continue;
    const like: unknown = said.find((block) => isRecord(block) && typeof block.text === "string");
    return isRecord(like) ? withField(message, field, [...said, { ...pick(like, ["type"]), text }]) : null;
  }
  for (const inner of WRAPPERS) {
    const within = sayAfter(message[inner], text);
    if (within !== null) return withField(message, inner, within);
  }
  return null;
}

/** Returns a copy of a message in which a text replaces each image, sound and file outside results. */
export function replaceMedia(message: unknown, text: string): unknown {
  if (!isRecord(message)) return message;
  for (const field of ["content", "parts"]) {
    const blocks: unknown = message[field];
    if (!Array.isArray(blocks)) continue;
    const said = blocks.map((block) => (isRecord(block) ? (replaced(block, text) ?? block) : block));
    if (said.some((block, at) => block !== blocks[at])) return withField(message, field, said);
  }
  for (const inner of WRAPPERS) {
    const within: unknown = message[inner];
    const said = replaceMedia(within, text);
    if (said !== within) return withField(message, inner, said);
  }
  return message;
}

function replaced(block: JsonRecord, text: string): JsonRecord | null {
  const { type } = block;
  if (typeof type === "string") {
    if (!TYPES.test(type)) return null;
    const said = { type: type.startsWith("input_") && type !== "input_audio" ? "input_text" : "text", text };
    return block.cache_control === undefined ? said : { ...said, cache_control: block.cache_control };
  }
  const [only, ...more] = Object.keys(block);
  const isMedia = FIELDS.some((name) => name in block) || (more.length === 0 && BEDROCK.has(only ?? ""));
  return isMedia ? { text } : null;
}
