// How many bytes stand behind an encoded text, without decoding it.

const BASE64 = new Uint8Array(128);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
  BASE64[char.charCodeAt(0)] = 1;
}
const PADDING = 0x3d;
const PERCENT = 0x25;

/** True for a `data:` URL. */
export function isDataUrl(text: string): boolean {
  return /^\s*data:/i.test(text.slice(0, 64));
}

/**
 * Bytes that a base64 text (either alphabet, white space and padding allowed) or a `data:` URL of any encoding decodes
 * to. Padding ends the text; characters outside the alphabet are skipped, as lenient decoders do.
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
    // Both halves of a surrogate pair count two: four bytes in all.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit & 0xf800) === 0xd800 ? 2 : 3;
  }
  return bytes;
}

function isEscape(text: string, at: number): boolean {
  return /^[0-9a-f]{2}$/i.test(text.slice(at + 1, at + 3));
}
