import { tokensAlone } from "./estimate-tokens.ts";
import { strangeBytes } from "./scan.ts";

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
 * The encoding that a byte order mark names, or that every second byte being zero among letters tells, or that letters of other
 * scripts tell; null if there is neither. The mark of UTF-32 begins like one of UTF-16.
 */
export function utf16Of(start: Uint8Array): "utf-16le" | "utf-16be" | null {
  const [first, second, third, fourth] = start;
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (first === 0xff && second === 0xfe) return third === 0 && fourth === 0 ? null : "utf-16le";
  return start.length >= UNMARKED_BYTES ? (unmarkedOrder(start) ?? wideOrder(start)) : null;
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

/** So many bytes tell letters of other scripts from binary; an output that ends before may have the fewer. */
const WIDE_BYTES = 128;
const LEAST_WIDE_BYTES = 32;
/** So many of the characters of a text are frequent ones, of binary read as UTF-16 one in forty. */
const COMMON_SHARE = 0.4;
const LEAST_DISTINCT = 8;

/**
 * The order in which these bytes are the beginning of a text in UTF-16 without a mark, in a script with frequent characters. Letters
 * of smaller scripts, such as Thai, cannot be told from measured values.
 */
function wideOrder(start: Uint8Array): "utf-16le" | "utf-16be" | null {
  const bytes = start.subarray(0, WIDE_BYTES);
  if (bytes.length < LEAST_WIDE_BYTES || strangeBytes(bytes.subarray(0, UNMARKED_BYTES)) === 0) return null;
  const [little, big] = [commonShare(bytes, 0), commonShare(bytes, 1)];
  if (Math.max(little, big) < COMMON_SHARE) return null;
  return little >= big ? "utf-16le" : "utf-16be";
}

/** The share of frequent characters; 0 if there is one that no text has, or if the same few come again and again. */
function commonShare(bytes: Uint8Array, lowAt: 0 | 1): number {
  const units = Array.from(
    { length: bytes.length >> 1 },
    (_, at) => (bytes[2 * at + lowAt] as number) | ((bytes[2 * at + 1 - lowAt] as number) << 8),
  );
  // The last one may be the first half of a pair.
  const whole = ((units.at(-1) ?? 0) & 0xfc00) === 0xd800 ? units.slice(0, -1) : units;
  if (!String.fromCharCode(...whole).isWellFormed()) return 0;
  if (units.some(isNoText) || new Set(units).size < LEAST_DISTINCT) return 0;
  const common = units.filter((unit) => unit < 0x80 || tokensAlone(unit) === 1);
  return common.length / units.length;
}

function isNoText(unit: number): boolean {
  return (unit < 0xa0 && !isPlain(unit)) || (unit >= 0xe000 && unit < 0xf900) || unit >= 0xfff0;
}

function isPlain(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

/** Returns true if more bytes could tell that this is UTF-16. */
function isUndecided(start: Uint8Array): boolean {
  const [first] = start;
  if (first === undefined) return true;
  if (first === 0xff || first === 0xfe) return start.length < 4;
  if (start.length < UNMARKED_BYTES) return true;
  return (
    start.length < WIDE_BYTES && unmarkedOrder(start) === null && strangeBytes(start.subarray(0, UNMARKED_BYTES)) > 0
  );
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
