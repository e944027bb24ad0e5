// Finds the field of a block that holds an image, a sound or a file, in the formats of MCP and of the large providers.

/** Blocks of these types have base64 in `data`. */
const MEDIA_TYPES = /^(?:image|audio|video|media|file|document|input_audio|input_image|input_file|base64)/i;
/** Fields that name the type of the bytes beside them. */
const MIME_FIELDS = ["mimeType", "mime_type", "media_type", "mediaType"];
/** Fields whose object holds only media. Base64 in its `data` needs no other sign. */
const MEDIA_HOLDERS = new Set(["inlineData", "inline_data", "input_audio", "audio", "image", "video"]);
/** Fields that may hold media. Those in ALWAYS_BASE64 hold only media if they hold text. */
const MEDIA_FIELDS = new Set(["data", "blob", "url", "image_url", "file_data", "fileData", "image", "audio", "bytes"]);
const ALWAYS_BASE64 = new Set(["blob", "file_data", "fileData"]);

/** What is known of a block, or of an object inside one, before its fields are shown. */
interface Holder {
  /** The field of its block that holds it, or null for the block itself. */
  field: string | null;
  /** Returns a field if it is text, otherwise undefined. */
  text(name: string): string | undefined;
}

/**
 * Returns the decoded size of the media in a field. Returns null if the field holds none; then it is shown like any
 * other.
 */
export function mediaBytes(name: string, value: unknown, holder: Holder): number | null {
  if (!MEDIA_FIELDS.has(name)) return null;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength;
  if (typeof value !== "string") return null;
  if (isDataUrl(value) || ALWAYS_BASE64.has(name)) return decodedBytes(value);
  // These are Bedrock's bytes after they were written as JSON.
  if (name === "bytes" && holder.field === "source") return decodedBytes(value);
  if (name === "data" && holdsMedia(holder)) return decodedBytes(value);
  if (name === "image" && holder.text("type") === "image" && !/^[a-z][a-z0-9+.-]*:/i.test(value.slice(0, 32))) {
    return decodedBytes(value);
  }
  return null;
}

function holdsMedia(holder: Holder): boolean {
  const type = holder.text("type") ?? "";
  if (type === "text") return false;
  if (MEDIA_TYPES.test(type) || MEDIA_HOLDERS.has(holder.field ?? "")) return true;
  const mime = MIME_FIELDS.map((field) => holder.text(field)).find((text) => text !== undefined);
  return mime !== undefined && !/^text\/|\bjson\b|\bxml\b/i.test(mime.slice(0, 256));
}

// Computes how many bytes an encoded text stands for, without decoding it.

const BASE64 = new Uint8Array(128);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
  BASE64[char.charCodeAt(0)] = 1;
}
const PADDING = 0x3d;
const PERCENT = 0x25;

function isDataUrl(text: string): boolean {
  return /^\s*data:/i.test(text.slice(0, 64));
}

/**
 * Returns how many bytes a text decodes to: base64 (either alphabet, with white space and padding) or a `data:` URL of
 * any encoding. Padding ends the text. Characters outside the alphabet are skipped, as lenient decoders do.
 */
export function decodedBytes(text: string): number {
  if (!isDataUrl(text)) return base64Bytes(text, 0, false);
  const comma = text.indexOf(",");
  if (comma < 0) return 0;
  return /;\s*base64\s*$/i.test(text.slice(0, comma))
    ? base64Bytes(text, comma + 1, true)
    : percentBytes(text, comma + 1);
}

function base64Bytes(text: string, from: number, percentEncoded: boolean): number {
  let digits = 0;
  for (let at = from; at < text.length; at++) {
    let unit = text.charCodeAt(at);
    if (unit === PERCENT && percentEncoded && isEscape(text, at)) {
      unit = Number.parseInt(text.slice(at + 1, at + 3), 16);
      at += 2;
    }
    if (unit === PADDING) break;
    digits += BASE64[unit] ?? 0;
  }
  return Math.floor((digits * 3) / 4);
}

function percentBytes(text: string, from: number): number {
  let bytes = 0;
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === PERCENT && isEscape(text, at)) at += 2;
    // Each half of a surrogate pair counts two bytes, which makes four.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit & 0xf800) === 0xd800 ? 2 : 3;
  }
  return bytes;
}

function isEscape(text: string, at: number): boolean {
  return /^[0-9a-f]{2}$/i.test(text.slice(at + 1, at + 3));
}
