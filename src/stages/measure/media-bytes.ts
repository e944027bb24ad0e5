import { decodedBytes, isDataUrl } from "./decoded-bytes.ts";

// Which field of a block holds an image, a sound or a file, in the formats of MCP and of the large providers.

/** Blocks of these types have base64 in `data`. */
const MEDIA_TYPES = /^(?:image|audio|video|media|file|document|input_audio|input_image|input_file|base64)/i;
/** Fields that say of what sort the bytes beside them are. */
const MIME_FIELDS = ["mimeType", "mime_type", "media_type", "mediaType"];
/** Fields whose object holds media and nothing else: base64 in its `data` needs no other sign. */
const MEDIA_HOLDERS = new Set(["inlineData", "inline_data", "input_audio", "audio", "image", "video"]);
/** Fields that may hold media, and those that hold only media when they hold text. */
const MEDIA_FIELDS = new Set(["data", "blob", "url", "image_url", "file_data", "fileData", "image", "audio", "bytes"]);
const ALWAYS_BASE64 = new Set(["blob", "file_data", "fileData"]);

/** What is known of a block, or of an object inside one, before its fields are shown. */
interface Holder {
  /** The field under which it stands in its block; null for the block itself. */
  field: string | null;
  /** A field of it that may be text; undefined if it is none. */
  text(name: string): string | undefined;
}

/** True bytes of the media in a field; null where it holds none, and is shown like any other. */
export function mediaBytes(name: string, value: unknown, holder: Holder): number | null {
  if (!MEDIA_FIELDS.has(name)) return null;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength;
  if (typeof value !== "string") return null;
  if (isDataUrl(value) || ALWAYS_BASE64.has(name)) return decodedBytes(value);
  // Bedrock's bytes, once they were written as JSON.
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
