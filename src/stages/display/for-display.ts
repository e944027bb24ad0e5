import { counted } from "../../values.ts";
import { readField } from "../clamp/bound-open.ts";
import { boundValue, OMITTED_KEY } from "../clamp/bound-value.ts";
import { mediaBytes } from "../measure/media-bytes.ts";
import { splitsPair } from "../measure/scan.ts";
import { NUMBERS } from "../policy/defaults.ts";

/**
 * The most blocks that are shown of one result, also counting blocks inside blocks. If there are more, the first and
 * the last half are shown with a note between them.
 */
export const MAX_DISPLAY_BLOCKS = 200;
/** How many fields of one block are read. Further ones are only counted. */
const MAX_FIELDS = 1000;
/** How many blocks and objects inside them are read. Further ones are bounded as data. */
const MAX_PARTS = 1000;
/** Blocks that are nested deeper are bounded as data. */
const MAX_LEVELS = 6;
/** The most bytes for `details`, for `structuredContent`, and for all unknown fields of one block together. */
const DATA_BYTES = NUMBERS.detailsBytes.default;

/** Fields whose object is part of the block. Its text and media are shown in the same way. */
const PARTS = new Set(
  "source resource inlineData inline_data image_url input_audio image audio video document file media".split(" "),
);
/** Fields that hold text, blocks or one block. */
const CONTENT = new Set(["content", "contents", "parts", "output", "value"]);
const DATA = new Set(["details", "structuredContent"]);

/**
 * Returns a result as people see it. Texts have at most 8,000 characters, with a note of how much is missing. Images,
 * audio and files are replaced by `{ bytes, omitted: true }`, with the number of decoded bytes. `details`,
 * `structuredContent` and the other fields of a block together are bounded to 8,192 bytes of JSON each (see
 * `boundValue`). At most 200 blocks are shown.
 * Takes strings, blocks, lists of blocks and results of any format. Never throws, and never changes what it is given.
 */
export function forDisplay(result: unknown): unknown {
  try {
    return displayValue(result, null, { blocks: MAX_DISPLAY_BLOCKS, parts: MAX_PARTS, level: 0 });
  } catch {
    return boundValue(result, DATA_BYTES).value;
  }
}

interface View {
  /** How many blocks may still be shown. */
  blocks: number;
  parts: number;
  level: number;
}

function displayValue(value: unknown, field: string | null, view: View): unknown {
  if (typeof value === "string") return displayText(value);
  if (!isRecordOrList(value) || view.level >= MAX_LEVELS || view.parts <= 0) return boundValue(value, DATA_BYTES).value;
  view.level++;
  view.parts--;
  try {
    return Array.isArray(value) ? displayBlocks(value, view) : displayBlock(value, field, view);
  } finally {
    view.level--;
  }
}

/** Returns false for dates, Maps, bytes and the like. They are data, not blocks. */
function isRecordOrList(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return true;
  return !ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Object]";
}

function displayBlocks(blocks: readonly unknown[], view: View): unknown[] {
  const shown = Math.min(blocks.length, Math.max(0, view.blocks));
  view.blocks -= shown;
  const first = shown === blocks.length ? shown : Math.ceil(shown / 2);
  const displayed: unknown[] = [];
  for (let index = 0; index < first; index++) displayed.push(displayElement(readField(blocks, index), view));
  if (shown < blocks.length) {
    displayed.push({ type: "text", text: `... [${counted(blocks.length - shown, "block")} omitted]` });
  }
  for (let index = blocks.length - (shown - first); index < blocks.length; index++) {
    displayed.push(displayElement(readField(blocks, index), view));
  }
  return displayed;
}

/** In a list, JSON writes null for a value that it cannot hold. */
function displayElement(value: unknown, view: View): unknown {
  return displayValue(value, null, view) ?? null;
}

function displayBlock(block: object, field: string | null, view: View): unknown {
  const names = Object.keys(block);
  const holder = { field, text: (name: string) => textField(block, name) };
  const shown = new Map<string, unknown>();
  const unknown: Record<string, unknown> = Object.create(null);
  let omittedBytes: number | null = null;
  for (const name of names.slice(0, MAX_FIELDS)) {
    const value = readField(block, name);
    const media = mediaBytes(name, value, holder);
    if (media !== null) omittedBytes = (omittedBytes ?? 0) + media;
    else if (isText(name, value, holder.text("type"))) shown.set(name, displayText(value as string));
    else if (isPart(name) && isRecordOrList(value)) shown.set(name, displayValue(value, name, view));
    else if (DATA.has(name) && value !== undefined) shown.set(name, boundValue(value, DATA_BYTES).value);
    else unknown[name] = value;
  }
  if (names.length > MAX_FIELDS) unknown[OMITTED_KEY] = counted(names.length - MAX_FIELDS, "more key");
  return inOrder(names, shown, boundValue(unknown, DATA_BYTES).value, omittedBytes);
}

function isPart(name: string): boolean {
  return CONTENT.has(name) || PARTS.has(name);
}

/** Returns true for `text` and `content` in any block, and for `data` if the block says that it is text. */
function isText(name: string, value: unknown, type: string | undefined): boolean {
  if (typeof value !== "string") return false;
  return name === "text" || CONTENT.has(name) || (name === "data" && type === "text");
}

function textField(block: object, name: string): string | undefined {
  const value = readField(block, name);
  return typeof value === "string" ? value : undefined;
}

/** Returns the block's fields in their order, followed by notes and the number of omitted bytes. */
function inOrder(
  names: readonly string[],
  shown: ReadonlyMap<string, unknown>,
  unknown: unknown,
  omittedBytes: number | null,
): unknown {
  const rest = new Map(typeof unknown === "object" ? Object.entries(unknown as object) : [[OMITTED_KEY, unknown]]);
  const displayed: [string, unknown][] = [];
  for (const name of names.slice(0, MAX_FIELDS)) {
    if (shown.has(name)) displayed.push([name, shown.get(name)]);
    else if (rest.has(name)) displayed.push([name, rest.get(name)]);
    rest.delete(name);
  }
  displayed.push(...rest);
  if (omittedBytes !== null) displayed.push(["bytes", omittedBytes], ["omitted", true]);
  return Object.fromEntries(displayed);
}

/** Returns the start of a text within the limit, with a note of how much is missing. The note counts too. */
function displayText(text: string): string {
  const maxChars = NUMBERS.displayTextChars.default;
  if (text.length <= maxChars) return text.toWellFormed();
  const note = (chars: number) => `\n... [${counted(chars, "character")} omitted]`;
  // Reserves room for the largest possible count. The true one is never longer.
  const start = textStart(text, maxChars - note(text.length).length);
  return start + note(text.length - start.length);
}

/** Returns the first characters of a text. Never splits a surrogate pair. */
export function textStart(text: string, maxChars: number): string {
  return text.slice(0, splitsPair(text, maxChars) ? maxChars - 1 : maxChars).toWellFormed();
}
