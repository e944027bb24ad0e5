import { MAX_LINE_BYTES, MAX_SEQUENCE_BYTES } from "./bounds.ts";
import { BACKSPACE, BYTE_CLASS, CARRIAGE_RETURN, ESCAPE, LINE_FEED, PLAIN } from "./byte-class.ts";
import { DONE, EscapeSequence, MORE, RESTARTED } from "./escape-sequence.ts";
import { ScreenLine } from "./screen-line.ts";
import { afterColour } from "./strip-colours.ts";

const OPEN = 0;
const ENDED = 1;
const TOO_LONG = 2;

/**
 * What a terminal shows of one line with control codes in it. While the cursor stays at the end of the text (colours,
 * titles, links) the text is just copied; the first code that moves it takes the line to a screen.
 */
export class VisibleLine {
  /** The visible text once the line is finished. */
  bytes: Uint8Array;
  length = 0;
  private readonly text: Uint8Array = new Uint8Array(MAX_LINE_BYTES + MAX_SEQUENCE_BYTES + 8);
  private readonly sequence = new EscapeSequence();
  private readonly screen = new ScreenLine();
  private onScreen = false;
  /** A carriage return came and nothing was written since. */
  private returned = false;
  private endsInReturn = false;
  private erased = false;
  private state = OPEN;

  constructor() {
    this.bytes = this.text;
  }

  begin(): void {
    this.bytes = this.text;
    this.length = 0;
    this.onScreen = false;
    this.returned = false;
    this.endsInReturn = false;
    this.erased = false;
    this.sequence.active = false;
    this.state = OPEN;
  }

  /** The line's break was read. */
  get ended(): boolean {
    return this.state === ENDED;
  }

  /** More is visible than may be held. */
  get tooLong(): boolean {
    return this.state === TOO_LONG;
  }

  /** Takes bytes up to the line's end, or to where it grows too long; returns where it stopped. */
  feed(bytes: Uint8Array, start: number, end: number): number {
    let at = start;
    while (at < end) {
      if (this.sequence.active) {
        at += this.step(bytes[at]!);
      } else {
        if (!this.returned) at = this.onScreen ? this.screen.putPlain(bytes, at, end) : this.copy(bytes, at, end);
        if (at < end && !this.full) this.takeByte(bytes[at++]!);
      }
      if (this.state === ENDED) return at;
      if (this.full) {
        this.state = TOO_LONG;
        return at;
      }
    }
    return at;
  }

  /** Completes `bytes` and `length`. */
  finish(): void {
    if (this.sequence.active) this.abandon();
    if (this.onScreen) {
      this.length = this.screen.finish();
      this.bytes = this.screen.bytes;
    }
    if (this.state !== ENDED) return;
    if (this.endsInReturn) this.bytes[this.length++] = CARRIAGE_RETURN;
    this.bytes[this.length++] = LINE_FEED;
  }

  private get full(): boolean {
    return (this.onScreen ? this.screen.size : this.length) > MAX_LINE_BYTES;
  }

  /** Copies text and skips colours up to the next other code. */
  private copy(bytes: Uint8Array, start: number, end: number): number {
    const { text } = this;
    let length = this.length;
    let at = start;
    while (at < end && length <= MAX_LINE_BYTES) {
      const byte = bytes[at]!;
      if (byte < 0x20 && BYTE_CLASS[byte] !== PLAIN) {
        const after = afterColour(bytes, at, end);
        if (after === at) break;
        at = after;
      } else {
        text[length++] = byte;
        at++;
      }
    }
    if (at > start) this.endsInReturn = false;
    this.length = length;
    return at;
  }

  private takeByte(byte: number): void {
    if (byte === LINE_FEED) {
      this.state = ENDED;
      return;
    }
    this.endsInReturn = byte === CARRIAGE_RETURN;
    if (byte === CARRIAGE_RETURN) this.returned = this.onScreen || this.length > 0;
    else if (byte === ESCAPE) this.sequence.start();
    else if (BYTE_CLASS[byte] === PLAIN) this.put(byte);
    else if (byte === BACKSPACE && !this.returned && (this.onScreen || this.length > 0)) this.write().moveBy(-1);
  }

  /** One byte of a sequence; returns how many bytes that used up. */
  private step(byte: number): number {
    const outcome = this.sequence.take(byte);
    if (outcome === MORE) return 1;
    if (outcome === DONE) {
      this.endsInReturn = false;
      this.apply();
      return 1;
    }
    this.abandon();
    if (outcome === RESTARTED) this.sequence.start();
    return 0;
  }

  /** What looked like a sequence is text after all. */
  private abandon(): void {
    const { bytes, length } = this.sequence;
    this.sequence.active = false;
    if (length > 0) this.endsInReturn = false;
    for (let at = 0; at < length; at++) this.put(bytes[at]!);
  }

  private put(byte: number): void {
    if (this.onScreen || this.returned) this.write().put(byte);
    else this.text[this.length++] = byte;
  }

  /** The screen, ready to be written to. */
  private write(): ScreenLine {
    if (!this.onScreen) {
      this.onScreen = true;
      this.screen.begin(this.text, this.length, this.erased);
    }
    if (this.returned) this.screen.returnCarriage();
    this.returned = false;
    return this.screen;
  }

  private apply(): void {
    const { sequence } = this;
    if (sequence.command === 0x6d) return;
    const command = String.fromCharCode(sequence.command);
    const count = sequence.parameter(1) || 1;
    const area = sequence.parameter(0);
    const erases = command === "K" || (command === "J" && area < 2);
    const empty = !this.onScreen && this.length === 0;
    // At the end of the text there is nothing to erase, but the code tells that the line is being redrawn.
    if (erases && !this.onScreen && !this.returned && (area === 0 || empty)) this.erased = true;
    else if (empty) return;
    else if (erases) this.write().erase(area);
    else if (command === "G" || command === "`") this.write().moveTo(count - 1);
    else if (command === "C") this.write().moveBy(count);
    else if (command === "D") this.write().moveBy(-count);
    else if (command === "X") this.write().eraseHere(count);
    else if (command === "P") this.write().deleteHere(count);
    else if (command === "@") this.write().insertHere(count);
    else if ("ABEFHJLMSTdf".includes(command) || "DEM".includes(String.fromCharCode(sequence.shortCommand))) {
      this.write().leaveRow();
    }
  }
}
