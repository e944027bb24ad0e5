const CHUNK_CHARS = 1 << 16;
const encoder = new TextEncoder();

/**
 * A string as UTF-8, a bounded chunk at a time. A lone surrogate becomes U+FFFD. Each chunk stands in one buffer that
 * the next overwrites: use it before asking for more.
 */
export function* encodeText(text: string): Generator<Uint8Array> {
  const buffer = new Uint8Array(Math.min(text.length, CHUNK_CHARS) * 3);
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + CHUNK_CHARS, text.length);
    if (end < text.length && splitsPair(text, end)) end--;
    const { written } = encoder.encodeInto(at === 0 && end === text.length ? text : text.slice(at, end), buffer);
    yield buffer.subarray(0, written);
    at = end;
  }
}

/** True if `at` stands between the two halves of a surrogate pair. */
export function splitsPair(text: string, at: number): boolean {
  return (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}
