const CHUNK_CHARS = 1 << 16;
const encoder = new TextEncoder();

/**
 * Hands a string on as UTF-8, a bounded chunk at a time. A lone surrogate becomes U+FFFD. The bytes are only valid
 * during the call: they stand in one buffer that the next chunk overwrites.
 */
export function encodeText(text: string, take: (bytes: Uint8Array) => void): void {
  const buffer = new Uint8Array(Math.min(text.length, CHUNK_CHARS) * 3);
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + CHUNK_CHARS, text.length);
    if (end < text.length && splitsPair(text, end)) end--;
    const { written } = encoder.encodeInto(at === 0 && end === text.length ? text : text.slice(at, end), buffer);
    take(buffer.subarray(0, written));
    at = end;
  }
}

/** True if `at` stands between the two halves of a surrogate pair. */
export function splitsPair(text: string, at: number): boolean {
  return (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}
