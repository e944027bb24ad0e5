import { createHash, randomBytes } from "node:crypto";
import { isRecord, LargeJson, tried } from "../../values.ts";
import type { Message } from "./json-rpc.ts";

// A message of hundreds of megabytes is mostly one long text, very many short ones, or a long list. To read it at once would
// take several times its size, so these are taken out first, and each passes through the clamp piece by piece.

/** A message without what is large in it. */
export interface LargeMessage {
  /** What was taken out is replaced by the name under which it stands in `texts`. Large structured content is a `LargeJson`. */
  message: Message;
  /** Equal texts stand here once. */
  texts: ReadonlyMap<string, () => Iterable<Uint8Array>>;
}

/** Texts from this size on are taken out. */
const LONG_BYTES = 256 * 1024;
/** Content of more blocks than this is one text, as in small messages, if it is as large as this. Structured content too is taken out from this size on. */
const MANY_BLOCKS = 63;
const MANY_BYTES = 4 * 1024 * 1024;
/** What is left of a message is read at once up to this. */
const MAX_REST_BYTES = 32 * 1024 * 1024;
/** A longer list is read this far at its start and at its end, which is enough for limits of `MOST_SHOWN_BYTES`: JSON in lines has many spaces. */
const SEEN_BYTES = 4 * 1024 * 1024;
export const MOST_SHOWN_BYTES = SEEN_BYTES / 16;
/** About how many bytes are between two places in which a list can be cut. */
const CUT_BYTES = 16 * 1024;
/** Fields whose value must pass whole. */
const MEDIA = new Set(["data", "blob"]);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const CODE = 0x75;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_RECORD = 0x7b;
const CLOSE_RECORD = 0x7d;

interface Span {
  from: number;
  to: number;
}

/** Reads a large answer. Null if that is not worth it: it has nothing large, or something that must pass whole. */
export function readLarge(parts: readonly Uint8Array[]): LargeMessage | null {
  const found = findLarge(parts);
  const spans = [...found.texts, ...(found.blocks ?? []), ...(found.structured ?? [])].toSorted(
    (a, b) => a.from - b.from,
  );
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  const left = bytes - spans.reduce((sum, { from, to }) => sum + to - from, 0);
  if (spans.length === 0 || left > MAX_REST_BYTES) return null;
  const mark = `spillway-${randomBytes(12).toString("hex")}-`;
  const texts = new Map<string, () => Iterable<Uint8Array>>();
  const names = new Map<string, string>();
  const rest: Uint8Array[] = [];
  let structured: LargeJson | null = null;
  let at = 0;
  for (const span of spans) {
    rest.push(...slice(parts, { from: at, to: span.from }));
    at = span.to;
    const pieces = () => slice(parts, span);
    if (span === found.structured?.[0]) {
      const seen = thinned(parts, span, found.left, mark);
      if (seen === null) return null;
      structured = new LargeJson(seen, () => reformatted(pieces(), true));
      rest.push(Buffer.from(`"${mark}json"`));
    } else if (span === found.blocks?.[0]) {
      texts.set(`${mark}blocks`, () => joinedTexts(pieces()));
      rest.push(Buffer.from(`[{"type":"text","text":"${mark}blocks"}`));
      for (const block of elements(pieces())) if (textIn(block) === null) rest.push(Buffer.from(","), block);
      rest.push(Buffer.from("]"));
    } else {
      const digest = digestOf(pieces());
      const name = names.get(digest) ?? `${mark}${names.size}`;
      names.set(digest, name);
      if (!texts.has(name)) texts.set(name, () => unescaped(pieces()));
      rest.push(Buffer.from(name));
    }
  }
  rest.push(...slice(parts, { from: at, to: bytes }));
  const message: Message | null = parse(Buffer.concat(rest).toString());
  if (!isRecord(message) || typeof message.method === "string" || hasMedia(message, texts)) return null;
  if (structured === null || !isRecord(message.result)) return { message, texts };
  // Some clients show their model both, so what is said in a text already goes.
  const json = texts.size === 0 ? "" : digestOf(reformatted(structured.lines(), false));
  const isSaid = [...texts.values()].some((text) => digestOf(reformatted(text(), false)) === json);
  const { structuredContent: _, ...result } = message.result;
  return { message: { ...message, result: isSaid ? result : { ...result, structuredContent: structured } }, texts };
}

function digestOf(pieces: Iterable<Uint8Array>): string {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
}

/** The message with each long text as it is to be shown. */
export function filled(message: Message, shown: ReadonlyMap<string, string>): Message {
  const fill = (value: unknown): unknown => {
    if (typeof value === "string") return shown.get(value) ?? value;
    if (Array.isArray(value)) return value.map(fill);
    if (value instanceof LargeJson) return value;
    return isRecord(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fill(each)])) : value;
  };
  return fill(message) as Message;
}

/** A message, or an array of them, in which every list or record that a field holds is empty: its id and method show. */
export function outlineOf(parts: readonly Uint8Array[]): string {
  const kept: Uint8Array[] = [];
  let [depth, deepest, from] = [0, 1, 0];
  const end = scanAll(parts, (byte, at) => {
    if (isOpening(byte)) {
      if (depth === 0 && byte === OPEN_LIST) deepest = 2;
      if (depth++ === deepest) kept.push(...slice(parts, { from, to: at + 1 }));
    } else if (isClosing(byte) && --depth === deepest) from = at;
  });
  kept.push(...slice(parts, { from, to: end }));
  return Buffer.concat(kept).toString();
}

function hasMedia(value: unknown, texts: LargeMessage["texts"], key = ""): boolean {
  if (typeof value === "string") return MEDIA.has(key) && texts.has(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, each]) => hasMedia(each, texts, name));
}

function parse(text: string, revive?: (name: string, value: unknown) => unknown): object | null {
  const value = tried((): unknown => JSON.parse(text, revive));
  return typeof value === "object" ? value : null;
}

/** What is large in a message: long texts without their quotes, content of many blocks, and structured content. */
interface Found {
  texts: Span[];
  blocks: [Span] | null;
  structured: [Span] | null;
  /** What is left out of lists in the structured content, and how many elements that are. */
  left: (Span & { count: number })[];
}

interface Level {
  from: number;
  isList: boolean;
  count: number;
  /** The name of the field that is being read. */
  field: Span | null;
  /** Where elements begin, at even distances. */
  starts: { at: number; index: number }[];
}

function findLarge(parts: readonly Uint8Array[]): Found {
  const found: Found = { texts: [], blocks: null, structured: null, left: [] };
  const levels: Level[] = [];
  const nameOf = ({ field }: Level) => (field === null ? "" : Buffer.concat([...slice(parts, field)]).toString());
  /** The name of a field of the result, if that is what the level inside it holds. */
  const fieldOfResult = () => {
    const [top, result] = levels;
    return top && result && levels.length === 2 && nameOf(top) === "result" ? nameOf(result) : "";
  };
  let text = -1;
  const visit = (byte: number, at: number) => {
    const level = levels.at(-1);
    if (byte === QUOTE && text === -1) text = at + 1;
    else if (byte === QUOTE) {
      if (at - text >= LONG_BYTES) found.texts.push({ from: text, to: at });
      // Only names of fields are short enough to be read here, and only those of the message and its result are needed.
      if (level && !level.isList && levels.length <= 2 && at - text < 32) level.field = { from: text, to: at };
      text = -1;
    } else if (byte === OPEN_LIST || byte === OPEN_RECORD)
      levels.push({ from: at, isList: byte === OPEN_LIST, count: 0, field: null, starts: [] });
    else if (byte === COMMA && level?.isList) {
      level.count++;
      const last = level.starts.at(-1)?.at ?? level.from;
      if (at - last >= CUT_BYTES) level.starts.push({ at: at + 1, index: level.count });
    } else if (level && (byte === CLOSE_LIST || byte === CLOSE_RECORD)) {
      levels.pop();
      const span = { from: level.from, to: at + 1 };
      const field = fieldOfResult();
      const isLarge = span.to - span.from >= MANY_BYTES;
      if (isLarge && field === "structuredContent") found.structured = [span];
      if (isLarge && field === "content" && level.isList && level.count >= MANY_BLOCKS) found.blocks = [span];
      const from = level.starts.find((start) => start.at >= level.from + SEEN_BYTES);
      const to = level.starts.findLast((start) => start.at <= at - SEEN_BYTES);
      if (from && to && to.index > from.index)
        found.left = [
          ...found.left.filter(outside({ from: from.at, to: to.at })),
          { from: from.at, to: to.at, count: to.index - from.index },
        ];
    }
  };
  scanAll(parts, visit);
  for (const span of [...(found.blocks ?? []), ...(found.structured ?? [])])
    found.texts = found.texts.filter(outside(span));
  return found;
}

function outside({ from, to }: Span): (span: Span) => boolean {
  return (span) => span.from < from || span.to > to;
}

/** Goes through JSON in parts and calls `visit` for each quote, bracket and comma with its place in the part. Strings are passed over. */
function startScan(): (part: Uint8Array, visit: (byte: number, at: number) => void) => void {
  let isText = false;
  let isEscaped = false;
  return (part, visit) => {
    for (let at = 0; at < part.length; at++) {
      const byte = part[at] as number;
      if (isEscaped) isEscaped = false;
      else if (isText) {
        if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) {
          isText = false;
          visit(byte, at);
        }
      } else if (byte === QUOTE) {
        isText = true;
        visit(byte, at);
      } else if (byte === COMMA || isOpening(byte) || isClosing(byte)) visit(byte, at);
    }
  };
}

/** Calls `visit` with places in all parts together; gives how many bytes they have. */
function scanAll(parts: readonly Uint8Array[], visit: (byte: number, at: number) => void): number {
  const scan = startScan();
  let base = 0;
  for (const part of parts) {
    scan(part, (byte, at) => visit(byte, base + at));
    base += part.length;
  }
  return base;
}

function isOpening(byte: number): boolean {
  return byte === OPEN_LIST || byte === OPEN_RECORD;
}

function isClosing(byte: number): boolean {
  return byte === CLOSE_LIST || byte === CLOSE_RECORD;
}

/**
 * The value with as much of its long lists as may be shown. Their lengths are right, and what is not shown is not there. Null if it
 * is no JSON.
 */
function thinned(parts: readonly Uint8Array[], span: Span, left: Found["left"], mark: string): object | null {
  const pieces: Uint8Array[] = [];
  let at = span.from;
  const inside = left.filter((one) => !outside(span)(one)).sort((one, other) => one.from - other.from);
  for (const { from, to, count } of inside) {
    pieces.push(...slice(parts, { from: at, to: from }), Buffer.from(`"${mark}${count}",`));
    at = to;
  }
  pieces.push(...slice(parts, { from: at, to: span.to }));
  return parse(Buffer.concat(pieces).toString(), (_name, value) => {
    if (!Array.isArray(value)) return value;
    const gap = value.findIndex((one) => typeof one === "string" && one.startsWith(mark));
    if (gap === -1) return value;
    const list: unknown[] = value.slice(0, gap);
    list.length = gap + Number(String(value[gap]).slice(mark.length));
    for (const one of value.slice(gap + 1)) list.push(one);
    return list;
  });
}

/** The elements of a list, each as its JSON. */
function* elements(pieces: Iterable<Uint8Array>): Iterable<Buffer> {
  const scan = startScan();
  let depth = 0;
  let held: Uint8Array[] = [];
  for (const piece of pieces) {
    let from = 0;
    const ends: number[] = [];
    scan(piece, (byte, at) => {
      if (isOpening(byte) && depth++ === 0) from = at + 1;
      else if ((isClosing(byte) && --depth === 0) || (byte === COMMA && depth === 1)) ends.push(at);
    });
    for (const end of ends) {
      yield Buffer.concat([...held, piece.subarray(from, end)]);
      held = [];
      from = end + 1;
    }
    held.push(piece.subarray(from));
  }
}

/** The text of a block that is nothing but a text; null for other blocks. */
function textIn(block: Buffer): string | null {
  const read = parse(block.toString()) as { type?: unknown; text?: unknown } | null;
  return read?.type === "text" && typeof read.text === "string" ? read.text : null;
}

/** The texts of blocks, each from a line of its own. */
function* joinedTexts(pieces: Iterable<Uint8Array>): Iterable<Uint8Array> {
  let joined = "";
  let isOpen = false;
  for (const block of elements(pieces)) {
    const text = textIn(block);
    if (text === null || text === "") continue;
    joined += isOpen ? `\n${text}` : text;
    isOpen = !text.endsWith("\n");
    if (joined.length < CHUNK_BYTES) continue;
    yield Buffer.from(joined);
    joined = "";
  }
  yield Buffer.from(joined);
}

const CHUNK_BYTES = 64 * 1024;
const BREAK = 0x0a;
const SPACE = 0x20;
const COLON = 0x3a;
/** The most bytes that one byte becomes: a break and the spaces of a level before it. */
const DEEPEST = 512;

/** JSON with one element or field a line, or with no white space at all. Nothing in its strings and numbers changes. */
function* reformatted(pieces: Iterable<Uint8Array>, inLines: boolean): Iterable<Uint8Array> {
  let out = Buffer.allocUnsafe(CHUNK_BYTES + DEEPEST);
  let length = 0;
  let depth = 0;
  let [isText, isEscaped, isNew] = [false, false, false];
  const breakLine = () => {
    if (!inLines) return;
    out[length++] = BREAK;
    for (let space = Math.min(depth, DEEPEST - 8); space > 0; space--) out[length++] = SPACE;
  };
  for (const piece of pieces) {
    for (const byte of piece) {
      if (length >= CHUNK_BYTES) {
        yield out.subarray(0, length);
        out = Buffer.allocUnsafe(CHUNK_BYTES + DEEPEST);
        length = 0;
      }
      if (isText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isText = false;
        out[length++] = byte;
        continue;
      }
      if (byte <= SPACE) continue;
      if (isClosing(byte)) {
        depth--;
        if (!isNew) breakLine();
      } else if (isNew) breakLine();
      isNew = isOpening(byte);
      if (isNew) depth++;
      isText = byte === QUOTE;
      out[length++] = byte;
      if (byte === COMMA) breakLine();
      else if (byte === COLON && inLines) out[length++] = SPACE;
    }
  }
  yield out.subarray(0, length);
}

/** The bytes of a span, in parts. */
export function* slice(parts: readonly Uint8Array[], { from, to }: Span): Iterable<Uint8Array> {
  let base = 0;
  for (const part of parts) {
    const piece = part.subarray(Math.max(0, from - base), Math.max(0, Math.min(part.length, to - base)));
    if (piece.length > 0) yield piece;
    base += part.length;
    if (base >= to) return;
  }
}

/** The bytes that a JSON string stands for. */
function* unescaped(pieces: Iterable<Uint8Array>): Iterable<Uint8Array> {
  let held: Uint8Array = new Uint8Array();
  for (const piece of pieces) {
    const all = held.length === 0 ? piece : Buffer.concat([held, piece]);
    const end = wholeUntil(all);
    if (end > 0) yield decoded(all.subarray(0, end));
    held = all.slice(end);
  }
  if (held.length > 0) yield decoded(held);
}

function decoded(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  return Buffer.from(bytes.includes(BACKSLASH) ? (JSON.parse(`"${text}"`) as string) : text);
}

/** Up to where no character and no escape is broken. */
function wholeUntil(bytes: Uint8Array): number {
  const { length } = bytes;
  let at = bytes.indexOf(BACKSLASH);
  while (at !== -1) {
    const next = escapeEnd(bytes, at);
    if (next > length) return at;
    at = bytes.indexOf(BACKSLASH, next);
  }
  let end = length;
  while (end > 0 && length - end < 3 && ((bytes[end - 1] as number) & 0xc0) === 0x80) end--;
  const lead = bytes[end - 1] ?? 0;
  const wants = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return length - end + 1 < wants ? end - 1 : length;
}

/** Where an escape ends: two of `\u` may be the halves of one character. */
function escapeEnd(bytes: Uint8Array, at: number): number {
  if (bytes[at + 1] !== CODE) return at + 2;
  const isPart = (from: number, shape: RegExp) =>
    from + 2 > bytes.length || shape.test(String.fromCharCode(bytes[from] as number, bytes[from + 1] as number));
  // What is not there yet may be the other half.
  return isPart(at + 2, /d[89ab]/i) && isPart(at + 6, /\\u/) && isPart(at + 8, /d[c-f]/i) ? at + 12 : at + 6;
}
