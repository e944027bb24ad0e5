import { CONTROLS, strangeBytes } from "./scan.ts";

/** The first bytes that identify a format. `at` is their offset. */
const FORMATS: [name: string, bytes: string, at?: number][] = [
  ["PNG image", "\x89PNG\r\n\x1a\n"],
  ["JPEG image", "\xff\xd8\xff"],
  ["GIF image", "GIF87a"],
  ["GIF image", "GIF89a"],
  ["WebP image", "WEBP", 8],
  ["PDF document", "%PDF-"],
  ["ZIP archive", "PK\x03\x04"],
  ["gzip data", "\x1f\x8b"],
  ["bzip2 data", "BZh"],
  ["xz data", "\xfd7zXZ\x00"],
  ["Zstandard data", "\x28\xb5\x2f\xfd"],
  ["7-Zip archive", "7z\xbc\xaf\x27\x1c"],
  ["tar archive", "ustar", 257],
  ["ELF executable", "\x7fELF"],
  ["Mach-O executable", "\xcf\xfa\xed\xfe"],
  ["Windows executable", "MZ\x90\x00"],
  ["WebAssembly module", "\x00asm"],
  ["Java class", "\xca\xfe\xba\xbe"],
  ["SQLite database", "SQLite format 3\x00"],
  ["MP4 media", "ftyp", 4],
  ["Ogg media", "OggS"],
  ["WAVE audio", "WAVE", 8],
  ["WOFF font", "wOF"],
  ["UTF-16 text", "\xff\xfe"],
  ["UTF-16 text", "\xfe\xff"],
];

/** If a text happens to begin like a format, its share of strange bytes is below this. */
const STRANGE_SHARE = 0.01;

/**
 * If the share of bytes that no text has is above this, an output is binary. Names that are separated by NUL stay below
 * it.
 */
const BINARY_SHARE = 0.1;

/**
 * Text in an older encoding, such as Latin-1, has no control characters and a smaller share of bytes that are not
 * UTF-8, unless it is short.
 */
const OLD_TEXT_SHARE = 0.3;
const OLD_TEXT_BYTES = 16;

/** Names the format of a binary output by its start. Returns null if the output is text. */
export function describeBinary(sample: Uint8Array): string | null {
  const strange = strangeBytes(sample);
  if (strange === 0) return startsWith(sample, "%PDF-", 0) ? "PDF document" : null;
  const format = FORMATS.find(([, bytes, at]) => startsWith(sample, bytes, at ?? 0));
  if (format !== undefined && strange > sample.length * STRANGE_SHARE) return format[0];
  if (strange <= sample.length * BINARY_SHARE) return null;
  const isOldText = strange <= Math.max(OLD_TEXT_BYTES, sample.length * OLD_TEXT_SHARE);
  return isOldText && !sample.some((byte) => CONTROLS[byte] === 1) ? null : "binary data";
}

function startsWith(sample: Uint8Array, bytes: string, at: number): boolean {
  if (sample.length < at + bytes.length) return false;
  for (let i = 0; i < bytes.length; i++) if (sample[at + i] !== bytes.charCodeAt(i)) return false;
  return true;
}
