import type { Span } from "../../contract/span.ts";

/** A span that is held: its `length` bytes stand `at` bytes into what was rendered; a holder may have only part of them. */
export interface HeldSpan extends Omit<Span, "bytes"> {
  at: number;
  length: number;
}

/** The start or the end of what was rendered. */
export interface Region {
  bytes: Uint8Array;
  /** What was rendered before the region's first byte. */
  at: number;
  spans: HeldSpan[];
}

/** A span as the next after `last`, or null if it only lengthened it. */
function hold(span: Span, at: number, last: HeldSpan | undefined): HeldSpan | null {
  if (span.kind === "source" && last?.kind === "source" && last.to === span.from) {
    last.to = span.to;
    last.length += span.bytes.length;
    return null;
  }
  const { kind, from, to, line, breaks, chars, counts, bytes } = span;
  const held: HeldSpan = { kind, from, to, line, breaks, chars, at, length: bytes.length };
  if (counts !== undefined) held.counts = counts;
  return held;
}

/** Holds the first `capacity` bytes. */
export class StartHolder {
  #bytes = new Uint8Array(0);
  #length = 0;
  #spans: HeldSpan[] = [];
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  add(span: Span): void {
    const room = this.#capacity - this.#length;
    if (room <= 0) return;
    const bytes = span.bytes.length > room ? span.bytes.subarray(0, room) : span.bytes;
    const held = hold(span, this.#length, this.#spans.at(-1));
    if (held !== null) this.#spans.push(held);
    this.#bytes = withRoom(this.#bytes, this.#length, bytes.length, this.#capacity);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  region(): Region {
    return { bytes: this.#bytes.subarray(0, this.#length), at: 0, spans: this.#spans };
  }
}

/** Holds the last `capacity` bytes, in a buffer of at most twice that. */
export class EndHolder {
  #bytes = new Uint8Array(0);
  #length = 0;
  /** Rendered before the buffer's first byte. */
  #before = 0;
  #spans: HeldSpan[] = [];
  #gone = 0;
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  add(span: Span): void {
    const held = hold(span, this.#before + this.#length, this.#spans.at(-1));
    if (held !== null) this.#spans.push(held);
    this.#append(span.bytes);
    this.#forget();
  }

  region(): Region {
    const skip = Math.max(0, this.#length - this.#capacity);
    const at = this.#before + skip;
    const spans = this.#spans.slice(this.#gone).filter((span) => span.at + span.length > at || span.at >= at);
    return { bytes: this.#bytes.subarray(skip, this.#length), at, spans };
  }

  #append(bytes: Uint8Array): void {
    const capacity = this.#capacity;
    if (bytes.length >= capacity) {
      const skip = bytes.length - capacity;
      this.#before += this.#length + skip;
      this.#length = 0;
      this.#bytes = withRoom(this.#bytes, 0, capacity, capacity * 2);
      this.#bytes.set(bytes.subarray(skip));
      this.#length = capacity;
      return;
    }
    if (this.#length + bytes.length > capacity * 2) {
      const skip = this.#length - capacity;
      this.#bytes.copyWithin(0, skip, this.#length);
      this.#before += skip;
      this.#length = capacity;
    }
    this.#bytes = withRoom(this.#bytes, this.#length, bytes.length, capacity * 2);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Lets go of spans that ended before what is held. */
  #forget(): void {
    const start = this.#before + Math.max(0, this.#length - this.#capacity);
    while (this.#gone < this.#spans.length - 1) {
      const span = this.#spans[this.#gone] as HeldSpan;
      if (span.at + span.length > start) break;
      this.#gone++;
    }
    if (this.#gone > 1024) {
      this.#spans = this.#spans.slice(this.#gone);
      this.#gone = 0;
    }
  }
}

/** A buffer with room for `more` bytes after `length`, doubled where needed, up to `most`. */
function withRoom(bytes: Uint8Array<ArrayBuffer>, length: number, more: number, most: number): Uint8Array<ArrayBuffer> {
  if (length + more <= bytes.length) return bytes;
  const larger = new Uint8Array(Math.min(most, Math.max(length + more, bytes.length * 2, 4096)));
  larger.set(bytes.subarray(0, length));
  return larger;
}
