import type { WireMedia } from "../contract/wire.ts";
import { isRecord, type JsonRecord } from "../values.ts";
import { jsonChars } from "./record.ts";

// What images, sounds and files weigh, and the data that they hold.

/** One image, sound or file. */
export interface Medium {
  /** About how many bytes of the request it takes. */
  bytes: number;
  /** About how many tokens the provider counts for it. */
  tokens: number;
  /** Its base64, a URL, its bytes, or what else stands in its place. */
  data: unknown;
}

interface ImageSize {
  width: number;
  height: number;
}

/** Returns the tokens of an image, for the detail that the request asks for. */
export type TokenRule = (size: ImageSize, detail: unknown) => number;

/** What is counted for media of unknown size: about an image of 1280 by 960 pixels. */
export const MEDIA_TOKENS = 1600;

/** Anthropic: a token for each patch of 28 by 28 pixels, after scaling to 2,576 pixels and 4,784 tokens. Older models scale to fewer. */
export const anthropicTokens: TokenRule = (size) => patches(size, { edge: 28, maxEdge: 2576, maxPatches: 4784 });

/**
 * OpenAI: 1.2 tokens for each patch of 32 by 32 pixels. Models before GPT-5.4 count up to as many tokens, and fewer for large
 * images. If the request names no detail, newer models take an image as it is.
 */
export const openaiTokens: TokenRule = (size, detail) => {
  const most =
    detail === "low"
      ? { maxEdge: 512, maxPatches: 256 }
      : detail === "high"
        ? { maxEdge: 2048, maxPatches: 2500 }
        : { maxEdge: 6000, maxPatches: 10_000 };
  return Math.ceil(1.2 * patches(size, { edge: 32, ...most }));
};

/** Gemini: the same for every image, unless the request asks for another resolution. */
export const geminiTokens: TokenRule = () => 1120;

/** For formats that do not tell the provider: the most that one of them counts. */
export const mostTokens: TokenRule = (size, detail) =>
  Math.max(...[anthropicTokens, openaiTokens, geminiTokens].map((rule) => rule(size, detail)));

interface PatchRule {
  /** The side of a patch, in pixels. */
  edge: number;
  /** An image that is longer, or has more patches, is made smaller. */
  maxEdge: number;
  maxPatches: number;
}

/** How many patches cover an image. */
function patches({ width, height }: ImageSize, { edge, maxEdge, maxPatches }: PatchRule): number {
  const by = Math.min(1, maxEdge / Math.max(width, height));
  return Math.min(maxPatches, Math.ceil((width * by) / edge) * Math.ceil((height * by) / edge));
}

/** Reads what a block holds: its data, or the object around the data. */
export function readMedium(holder: unknown, rule: TokenRule, detail: unknown = detailOf(holder)): Medium {
  const data = dataIn(holder, 0);
  const size = imageSize(data);
  return { bytes: jsonChars(holder), tokens: size === null ? MEDIA_TOKENS : rule(size, detail), data };
}

/** Counts one more. */
export function countMedium(media: WireMedia, { bytes, tokens, data }: Medium): void {
  media.count += 1;
  media.bytes += bytes;
  media.tokens = (media.tokens ?? 0) + tokens;
  media.data = [...(media.data ?? []), data];
}

function detailOf(holder: unknown): unknown {
  return isRecord(holder) ? holder.detail : undefined;
}

/** The fields that hold data in the formats, and objects around it. */
const FIELDS = ["data", "bytes", "blob", "url", "file_data", "file_url", "fileUri", "source"];
const MAX_DEPTH = 3;

function dataIn(holder: unknown, depth: number): unknown {
  if (!isRecord(holder) || ArrayBuffer.isView(holder) || depth === MAX_DEPTH) return holder;
  const field = FIELDS.find((name) => holder[name] !== undefined && holder[name] !== null);
  return field === undefined ? holder : dataIn((holder as JsonRecord)[field], depth + 1);
}

/** The fields that name media which stand elsewhere. */
const IDS = ["file_id", "fileId", "s3Location"];

/** Tells whether this is no medium, but a URL or an id by which the provider finds it. */
export function isAddress(data: unknown): boolean {
  if (typeof data === "string") return /^(?!data:)[a-z][a-z0-9+.-]*:/i.test(data.slice(0, 32));
  return isRecord(data) && IDS.some((name) => data[name] !== undefined);
}

/** The size of a JPEG stands behind what cameras add, which may take this much. */
const HEAD_BYTES = 96 * 1024;

/** Returns the size that the first bytes of an image say, or null if they are not those of a PNG, GIF, WebP or JPEG. */
export function imageSize(data: unknown): ImageSize | null {
  const head = headOf(data, 32);
  if (head === null || head.length < 30) return null;
  const is = (text: string, at: number) => [...text].every((char, index) => head[at + index] === char.charCodeAt(0));
  const at16 = (at: number) => (head[at] as number) + ((head[at + 1] as number) << 8);
  if (is("PNG", 1)) return sized(big(head, 18), big(head, 22));
  if (is("GIF8", 0)) return sized(at16(6), at16(8));
  if (is("RIFF", 0) && is("WEBPVP8 ", 8)) return sized(at16(26) & 0x3fff, at16(28) & 0x3fff);
  if (is("RIFF", 0) && is("WEBPVP8X", 8)) return sized(at16(24) + 1, at16(27) + 1);
  if (is("RIFF", 0) && is("WEBPVP8L", 8)) {
    const bits = at16(21) + at16(23) * 0x10000;
    return sized((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1);
  }
  return head[0] === 0xff && head[1] === 0xd8 ? jpegSize(headOf(data, HEAD_BYTES) ?? head) : null;
}

function sized(width: number, height: number): ImageSize | null {
  return width > 0 && height > 0 ? { width, height } : null;
}

/** Goes from one segment to the next until the one that starts the frame. */
function jpegSize(head: Uint8Array): ImageSize | null {
  for (let at = 2; at + 9 <= head.length && head[at] === 0xff; ) {
    const marker = head[at + 1] as number;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return sized(big(head, at + 7), big(head, at + 5));
    at += marker === 0xff ? 1 : 2 + big(head, at + 2);
  }
  return null;
}

function big(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) + (bytes[at + 1] as number);
}

function headOf(data: unknown, length: number): Uint8Array | null {
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, Math.min(data.byteLength, length));
  return typeof data === "string" ? decoded(data, length) : null;
}

/** Returns the bytes of base64 or of a `data:` URL in base64, at most `length` of them; null if it is neither. */
export function decoded(text: string, length = Number.POSITIVE_INFINITY): Uint8Array | null {
  const [prefix] = /^data:[^,]{0,200};base64,/i.exec(text.slice(0, 256)) ?? [""];
  if (prefix === "" && /^[a-z][a-z0-9+.-]*:/i.test(text.slice(0, 32))) return null;
  const chars = text.slice(prefix.length, prefix.length + Math.ceil(length / 3) * 4);
  try {
    const binary = atob(chars.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(binary, (char) => char.charCodeAt(0));
  } catch {
    return null; // not base64
  }
}
