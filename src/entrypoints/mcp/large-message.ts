import { createHash, randomBytes } from "node:crypto";
import { isRecord } from "../../values.ts";
import type { Message } from "./json-rpc.ts";

// A message of hundreds of megabytes is mostly one long text. To read it at once would take several times its size, so the
// long texts are taken out first, and each passes through the clamp piece by piece.

/** A message without its long texts. */
export interface LargeMessage {
  /** Each long text is replaced by the name under which it stands in `texts`. */
  message: Message;
  /** Equal texts stand here once. */
  texts: ReadonlyMap<string, () => Iterable<Uint8Array>>;
}

/** Texts from this size on are taken out. */
const LONG_BYTES = 256 * 1024;
/** What is left of a message is read at once up to this. */
const MAX_REST_BYTES = 32 * 1024 * 1024;
/** Fields whose value must pass whole. */
const MEDIA = new Set(["data", "blob"]);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const CODE = 0x75;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_RECORD = 0x7b;
const CLOSE_RECORD = 0x7d;

interface Span {
  from: number;
  to: number;
}

/** Reads a large answer. Null if that is not worth it: it has no long texts, or some that must pass whole. */
export function readLarge(parts: readonly Uint8Array[]): LargeMessage | null {
  const spans = longTexts(parts);
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  const left = bytes - spans.reduce((sum, { from, to }) => sum + to - from, 0);
  if (spans.length === 0 || left > MAX_REST_BYTES) return null;
  const mark = `spillway-${randomBytes(12).toString("hex")}-`;
  const texts = new Map<string, () => Iterable<Uint8Array>>();
  const names = new Map<string, string>();
  const rest: Uint8Array[] = [];
  let at = 0;
  for (const span of spans) {
    const hash = createHash("sha256");
    for (const piece of slice(parts, span)) hash.update(piece);
    const digest = hash.digest("hex");
    const name = names.get(digest) ?? `${mark}${names.size}`;
    names.set(digest, name);
    if (!texts.has(name)) texts.set(name, () => unescaped(slice(parts, span)));
    rest.push(...slice(parts, { from: at, to: span.from }), Buffer.from(name));
    at = span.to;
  }
  rest.push(...slice(parts, { from: at, to: bytes }));
  const message = parse(Buffer.concat(rest).toString());
  if (message === null || typeof message.method === "string" || hasMedia(message, texts)) return null;
  return { message, texts };
}

/** The message with each long text as it is to be shown. */
export function filled(message: Message, shown: ReadonlyMap<string, string>): Message {
  const fill = (value: unknown): unknown => {
    if (typeof value === "string") return shown.get(value) ?? value;
    if (Array.isArray(value)) return value.map(fill);
    return isRecord(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fill(each)])) : value;
  };
  return fill(message) as Message;
}

/** A message, or an array of them, in which every list or record that a field holds is empty: its id and method show. */
export function outlineOf(json: Buffer): string {
  const kept: Buffer[] = [];
  const deepest = /^\s*\[/.test(json.toString("latin1", 0, 64)) ? 2 : 1;
  let depth = 0;
  let from = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) at = stringEnd(json, at);
    else if (byte === OPEN_LIST || byte === OPEN_RECORD) {
      if (depth++ === deepest) kept.push(json.subarray(from, at + 1));
    } else if ((byte === CLOSE_LIST || byte === CLOSE_RECORD) && --depth === deepest) from = at;
  }
  kept.push(json.subarray(from));
  return Buffer.concat(kept).toString();
}

/** Where the quote is that ends a string. */
function stringEnd(json: Buffer, start: number): number {
  for (let end = json.indexOf(QUOTE, start + 1); end !== -1; end = json.indexOf(QUOTE, end + 1)) {
    let slash = end;
    while (json[slash - 1] === BACKSLASH) slash--;
    if ((end - slash) % 2 === 0) return end;
  }
  return json.length;
}

function hasMedia(value: unknown, texts: LargeMessage["texts"], key = ""): boolean {
  if (typeof value === "string") return MEDIA.has(key) && texts.has(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, each]) => hasMedia(each, texts, name));
}

function parse(text: string): Message | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

/** Where the strings are that are long, without their quotes. */
function longTexts(parts: readonly Uint8Array[]): Span[] {
  const spans: Span[] = [];
  let base = 0;
  let from = -1;
  let skip = 0;
  for (const part of parts) {
    let at = skip;
    let quote = -1;
    skip = 0;
    for (;;) {
      if (quote < at) quote = part.indexOf(QUOTE, at);
      const slash = from === -1 ? -1 : part.indexOf(BACKSLASH, at);
      if (slash !== -1 && (quote === -1 || slash < quote)) {
        // What is escaped is not looked at, also where the next part has it.
        at = slash + 2;
        skip = Math.max(0, at - part.length);
        continue;
      }
      if (quote === -1) break;
      const isEnd = from !== -1;
      if (isEnd && base + quote - from >= LONG_BYTES) spans.push({ from, to: base + quote });
      from = isEnd ? -1 : base + quote + 1;
      at = quote + 1;
    }
    base += part.length;
  }
  return spans;
}

function* slice(parts: readonly Uint8Array[], { from, to }: Span): Iterable<Uint8Array> {
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
