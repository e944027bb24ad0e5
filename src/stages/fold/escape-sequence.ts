import { MAX_SEQUENCE_BYTES } from "./bounds.ts";
import { BYTE_CLASS, ESCAPE, PLAIN } from "./byte-class.ts";

/** The sequence goes on. */
export const MORE = 0;
/** It ended with this byte. */
export const DONE = 1;
/** It was none: what it took is text, and the byte was not taken. */
const ABANDONED = 2;
/** As ABANDONED, and a new sequence began with the escape just before this byte. */
export const RESTARTED = 3;

const BEL = 0x07;
const OPENING = 0;
const CSI = 1;
const STRING = 2;
const STRING_ESCAPE = 3;
const INTERMEDIATE = 4;

/**
 * One escape sequence, byte by byte, after its ESC: CSI, two-byte, charset selection, and the strings (OSC, DCS, APC, PM,
 * SOS) up to BEL or ST. A string that meets its line's end or another control code is text: a stray introducer hides nothing.
 */
export class EscapeSequence {
  /** What was taken since the ESC. */
  readonly bytes: Uint8Array = new Uint8Array(MAX_SEQUENCE_BYTES);
  length = 0;
  active = false;
  private state = OPENING;

  start(): void {
    this.length = 0;
    this.active = true;
    this.state = OPENING;
  }

  take(byte: number): number {
    switch (this.state) {
      case OPENING:
        if (byte === 0x5b) return this.enter(CSI, byte);
        if (byte === 0x5d || byte === 0x50 || byte === 0x58 || byte === 0x5e || byte === 0x5f) {
          return this.enter(STRING, byte);
        }
        if (byte >= 0x20 && byte <= 0x2f) return this.enter(INTERMEDIATE, byte);
        return byte >= 0x30 && byte <= 0x7e ? this.finish(byte) : this.abandon();
      case CSI:
        if (byte >= 0x40 && byte <= 0x7e) return this.finish(byte);
        return byte >= 0x20 && byte <= 0x3f ? this.more(byte) : this.abandon();
      case INTERMEDIATE:
        if (byte >= 0x30 && byte <= 0x7e) return this.finish(byte);
        return byte >= 0x20 && byte <= 0x2f ? this.more(byte) : this.abandon();
      case STRING:
        if (byte === BEL) return this.finish(byte);
        if (byte === ESCAPE) {
          this.state = STRING_ESCAPE;
          return MORE;
        }
        return BYTE_CLASS[byte] === PLAIN ? this.more(byte) : this.abandon();
      default:
        if (byte === 0x5c) return this.finish(byte);
        this.active = false;
        return RESTARTED;
    }
  }

  /** The byte that says what a finished sequence does; 0 unless it is a CSI sequence without a private prefix. */
  get command(): number {
    const first = this.bytes[1]!;
    if (this.bytes[0] !== 0x5b || (this.length > 2 && first >= 0x3c && first <= 0x3f)) return 0;
    return this.bytes[this.length - 1]!;
  }

  /** The final byte of a finished two-byte sequence, else 0. */
  get shortCommand(): number {
    return this.length === 1 ? this.bytes[0]! : 0;
  }

  /** The first parameter of a finished CSI sequence; `absent` if it is not given. */
  parameter(absent: number): number {
    let value = -1;
    for (let at = 1; at < this.length; at++) {
      const digit = this.bytes[at]! - 0x30;
      if (digit < 0 || digit > 9) break;
      value = Math.min((value < 0 ? 0 : value) * 10 + digit, 1_000_000);
    }
    return value < 0 ? absent : value;
  }

  private enter(state: number, byte: number): number {
    this.state = state;
    return this.more(byte);
  }

  private more(byte: number): number {
    if (this.length === MAX_SEQUENCE_BYTES) return this.abandon();
    this.bytes[this.length++] = byte;
    return MORE;
  }

  private finish(byte: number): number {
    if (this.length === MAX_SEQUENCE_BYTES) return this.abandon();
    this.bytes[this.length++] = byte;
    this.active = false;
    return DONE;
  }

  private abandon(): number {
    this.active = false;
    return ABANDONED;
  }
}
