/** Bytes in UTF-16 to UTF-8, chunk by chunk. Other bytes pass as they are. */
export interface Utf16Decoder {
  /** Gives what can be decided so far. The first byte alone decides nothing. */
  add(chunk: Uint8Array): Uint8Array;
  /** Gives what was held back. An odd byte at the end becomes U+FFFD. */
  end(): Uint8Array;
  /** True once the byte order mark was seen. */
  readonly isUtf16: boolean;
}

const NOTHING = new Uint8Array(0);

/** The encoding that a byte order mark names; null if there is none. The mark of UTF-32 begins like one of UTF-16. */
export function utf16Of(start: Uint8Array): "utf-16le" | "utf-16be" | null {
  const [first, second, third, fourth] = start;
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (first !== 0xff || second !== 0xfe || (third === 0 && fourth === 0)) return null;
  return "utf-16le";
}

/** Decodes UTF-16 that begins with a byte order mark. The mark itself is left out. */
export function startUtf16(): Utf16Decoder {
  const encoder = new TextEncoder();
  let start: Uint8Array | null = NOTHING;
  let decoder: TextDecoder | null = null;

  function pass(chunk: Uint8Array): Uint8Array {
    return decoder === null ? chunk : encoder.encode(decoder.decode(chunk, { stream: true }));
  }

  function decide(bytes: Uint8Array): Uint8Array {
    start = null;
    const encoding = utf16Of(bytes);
    if (encoding !== null) decoder = new TextDecoder(encoding);
    return pass(bytes);
  }

  return {
    get isUtf16() {
      return decoder !== null;
    },
    add(chunk) {
      if (start === null) return pass(chunk);
      const bytes = new Uint8Array(start.length + chunk.length);
      bytes.set(start);
      bytes.set(chunk, start.length);
      // Four bytes tell UTF-16 from UTF-32. What does not begin like them needs no more than its first byte.
      if (bytes.length < 4 && (bytes[0] === 0xff || bytes[0] === 0xfe || bytes.length === 0)) {
        start = bytes;
        return NOTHING;
      }
      return decide(bytes);
    },
    end() {
      const held = start === null ? NOTHING : decide(start);
      const last = decoder === null ? "" : decoder.decode();
      return last === "" ? held : new Uint8Array([...held, ...encoder.encode(last)]);
    },
  };
}
