/** Bytes in UTF-16 to UTF-8, chunk by chunk. Other bytes pass as they are. */
export interface Utf16Decoder {
  /** Gives what can be decided so far: the first bytes are held back while they leave it open. */
  add(chunk: Uint8Array): Uint8Array;
  /** Gives what was held back. An odd byte at the end becomes U+FFFD. */
  end(): Uint8Array;
  /** True once it is known. */
  readonly isUtf16: boolean;
  /** Bytes that came, the byte order mark included. */
  readonly sourceBytes: number;
}

const NOTHING = new Uint8Array(0);

/** Programs on Windows write UTF-16 into pipes without a mark. So many bytes of plain text tell it. */
const UNMARKED_BYTES = 16;

/**
 * The encoding that a byte order mark names, or that every second byte being zero among letters tells; null if there is
 * neither. The mark of UTF-32 begins like one of UTF-16.
 */
export function utf16Of(start: Uint8Array): "utf-16le" | "utf-16be" | null {
  const [first, second, third, fourth] = start;
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (first === 0xff && second === 0xfe) return third === 0 && fourth === 0 ? null : "utf-16le";
  return start.length >= UNMARKED_BYTES && mayBeUnmarked(start) ? "utf-16le" : null;
}

/** Whether these bytes could be the beginning of plain text in UTF-16 without a mark. Only one order is in use. */
function mayBeUnmarked(start: Uint8Array): boolean {
  return start.subarray(0, UNMARKED_BYTES).every((byte, at) => (at % 2 === 1 ? byte === 0 : isPlain(byte)));
}

function isPlain(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

/** Whether more bytes could tell that this is UTF-16. */
function isUndecided(start: Uint8Array): boolean {
  const [first] = start;
  if (first === undefined) return true;
  if (first === 0xff || first === 0xfe) return start.length < 4;
  return start.length < UNMARKED_BYTES && mayBeUnmarked(start);
}

/** Decodes UTF-16 that is known by its first bytes. The byte order mark is left out. */
export function startUtf16(): Utf16Decoder {
  const encoder = new TextEncoder();
  let start: Uint8Array | null = NOTHING;
  let decoder: TextDecoder | null = null;
  let sourceBytes = 0;

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
    get sourceBytes() {
      return sourceBytes;
    },
    add(chunk) {
      sourceBytes += chunk.length;
      if (start === null) return pass(chunk);
      const bytes = new Uint8Array(start.length + chunk.length);
      bytes.set(start);
      bytes.set(chunk, start.length);
      if (isUndecided(bytes)) {
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
