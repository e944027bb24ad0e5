import { decode } from "../fit.ts";

/** Above this a decoder is faster than joining characters. */
const SHORT_BYTES = 64;

/** Bytes as text. Most tokens are short ASCII, for which a decoder takes longer than the rest of the work. */
export function textOf(bytes: Uint8Array): string {
  if (bytes.length > SHORT_BYTES) return decode(bytes);
  let text = "";
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte > 127) return decode(bytes);
    text += String.fromCharCode(byte);
  }
  return text;
}
