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
  return start.length >= UNMARKED_BYTES ? unmarkedOrder(start) : null;
}

/** The order in which these bytes could be the beginning of plain text in UTF-16 without a mark. */
function unmarkedOrder(start: Uint8Array): "utf-16le" | "utf-16be" | null {
  const zerosAt = start[0] === 0 ? 0 : 1;
  const isUtf16 = start
    .subarray(0, UNMARKED_BYTES)
    .every((byte, at) => (at % 2 === zerosAt ? byte === 0 : isPlain(byte)));
  if (!isUtf16) return null;
  return zerosAt === 1 ? "utf-16le" : "utf-16be";
}

function isPlain(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

/** Whether more bytes could tell that this is UTF-16. */
function isUndecided(start: Uint8Array): boolean {
  const [first] = start;
  if (first === undefined) return true;
  if (first === 0xff || first === 0xfe) return start.length < 4;
  return start.length < UNMARKED_BYTES && unmarkedOrder(start) !== null;
}

/** So many plain bytes in a row are no UTF-16: a command that writes UTF-8 follows one that does not. */
const MOST_PLAIN_BYTES = 64;

/** Decodes UTF-16 that is known by its first bytes, up to where plain text follows. The byte order mark is left out. */
export function startUtf16(): Utf16Decoder {
  const encoder = new TextEncoder();
  let held: Uint8Array = NOTHING;
  let isDecided = false;
  let isUtf16 = false;
  let decoder: TextDecoder | null = null;
  let sourceBytes = 0;

  function pass(bytes: Uint8Array, isEnd: boolean): Uint8Array {
    if (decoder === null) return bytes;
    const plain = plainRun(bytes);
    const isOver = plain.length >= MOST_PLAIN_BYTES;
    // A run at the end may go on in the next chunk.
    const to = isOver || !isEnd ? plain.at : bytes.length;
    const decoded = encoder.encode(decoder.decode(bytes.subarray(0, to), { stream: !isOver && !isEnd }));
    if (isOver) decoder = null;
    else held = new Uint8Array(bytes.subarray(to));
    return isOver ? joined(decoded, bytes.subarray(to)) : decoded;
  }

  function take(chunk: Uint8Array, isEnd: boolean): Uint8Array {
    const bytes = held.length === 0 ? chunk : joined(held, chunk);
    held = NOTHING;
    if (!isDecided && !isEnd && isUndecided(bytes)) {
      held = new Uint8Array(bytes); // the chunk is only lent
      return NOTHING;
    }
    if (!isDecided) {
      isDecided = true;
      const encoding = utf16Of(bytes);
      isUtf16 = encoding !== null;
      if (encoding !== null) decoder = new TextDecoder(encoding);
    }
    return pass(bytes, isEnd);
  }

  return {
    get isUtf16() {
      return isUtf16;
    },
    get sourceBytes() {
      return sourceBytes;
    },
    add(chunk) {
      sourceBytes += chunk.length;
      return take(chunk, false);
    },
    end: () => take(NOTHING, true),
  };
}

/** The first run of plain bytes that is too long for UTF-16, or else the one at the end. */
function plainRun(bytes: Uint8Array): { at: number; length: number } {
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    length = isPlain(bytes[at] as number) ? length + 1 : 0;
    if (length === MOST_PLAIN_BYTES) return { at: at + 1 - length, length };
  }
  return { at: bytes.length - length, length };
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}
