/** Counts the UTF-16 units that bytes decode to, cut anywhere, an invalid sequence counting as one U+FFFD. */
export class CharCounter {
  private chars = 0;
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** The decoder may hold the start of a character. */
  private decoding = false;

  /** Counts those of bytes[start, end). `isAscii` is true if they are known to be ASCII. */
  add(bytes: Uint8Array, start: number, end: number, isAscii: boolean): void {
    if (!this.decoding && (isAscii || areAscii(bytes, start, end))) {
      this.chars += end - start;
    } else {
      this.chars += this.decoder.decode(bytes.subarray(start, end), { stream: true }).length;
      this.decoding = true;
    }
  }

  /** Returns the count so far, with a sequence that was cut short at the end, and begins anew. */
  end(): number {
    const chars = this.chars + (this.decoding ? this.decoder.decode().length : 0);
    this.chars = 0;
    this.decoding = false;
    return chars;
  }
}

function areAscii(bytes: Uint8Array, start: number, end: number): boolean {
  let all = 0;
  for (let at = start; at < end; at++) all |= bytes[at]!;
  return all < 0x80;
}

export const BACKSPACE = 0x08;
export const TAB = 0x09;
export const LINE_FEED = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
export const ESCAPE = 0x1b;
export const SPACE = 0x20;
export const ZERO = 0x30;

/** Matches what a measure is counted in, as a whole word: `ms`, `seconds`, `MiB/s`. */
export const UNIT_WORD = String.raw`(?:[mnu\u00b5\u03bc]?s|secs?|seconds?|mins?|minutes?|hours?|bytes|[kmgt]i?b)(?:\/s|ps)?(?!\w)`;

/** Matches the name of one of several that are numbered from 0, up to its number. */
export const NUMBERED_NAME =
  "(?<![a-z])(?:chunk|core|[cg]pu|node|partition|pod|rank|replica|shard|slot|thread|worker)[-_ =#]?";

// What a byte can be, as bits of BYTE_KIND.
/** A code to a terminal, line feeds included. */
export const CONTROL = 1;
export const DIGIT = 2;
export const LETTER = 4;
export const HEX = 8;
/** Joins digits to one number or time: `.`, `,` or `:`. */
export const JOINT = 16;
export const BLANK = 32;

/**
 * Tab, form feed and vertical tab are text. So are NUL, DEL and the separators 0x1c to 0x1f: a terminal shows nothing
 * for them, but lists use them between items, which would run together. Bytes from 0x80 up are UTF-8, never C1 codes.
 */
export const BYTE_KIND: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte);
  if (/\d/.test(char)) return DIGIT | HEX;
  if (/[a-f]/i.test(char)) return LETTER | HEX;
  if (/[g-z]/i.test(char)) return LETTER;
  if (/[.,:]/.test(char)) return JOINT;
  if (byte === SPACE) return BLANK;
  return byte > 0 && byte < 0x1c && !/[\t\v\f]/.test(char) ? CONTROL : 0;
});

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/** Returns the place of the first control code from `start` on, or the length if there is none. */
export function nextControl(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && (bytes[at]! >= SPACE || (BYTE_KIND[bytes[at]!]! & CONTROL) === 0)) at++;
  return at;
}

/** Nobody has asked yet what may happen to lines of a shape. */
export const UNJUDGED = 0;

/** One line as it would be shown, with where it comes from. */
export class Line {
  bytes: Uint8Array = NO_BYTES;
  start = 0;
  /** The end of the text: the line feed, if there is one, stands here. */
  end = 0;
  /** 1 if the line ends in a line feed, 0 if it is the source's last. */
  breaks = 0;
  /** The source range, and the number of the line there. */
  from = 0;
  to = 0;
  number = 0;
  /** UTF-16 units in the source range, if the bytes are not exactly the source's; else -1. */
  rewrittenChars = -1;
  /** True if its bytes are known to be ASCII. */
  isAscii = false;
  /** True if the line is identical to the one before it. */
  repeats = false;
  /** What may happen to lines of its shape, if known. */
  verdict: number = UNJUDGED;

  /** The text and its line feed. */
  get shown(): Uint8Array {
    return this.bytes.subarray(this.start, this.end + this.breaks);
  }

  get size(): number {
    return this.end + this.breaks - this.start;
  }

  get chars(): number {
    if (this.rewrittenChars >= 0) return this.rewrittenChars;
    counter.add(this.bytes, this.start, this.end + this.breaks, this.isAscii);
    return counter.end();
  }

  get text(): string {
    return decoder.decode(this.bytes.subarray(this.start, this.end));
  }

  /** Makes the bytes its own if they lie in `chunk`, which will be used for something else. */
  leave(chunk: Uint8Array): void {
    if (this.bytes !== chunk) return;
    this.bytes = new Uint8Array(this.shown);
    this.end -= this.start;
    this.start = 0;
  }
}

const NO_BYTES = new Uint8Array(0);
const counter = new CharCounter();
const decoder = new TextDecoder();
