/** An output as it came: its text, its lines, and where each character stands in its bytes. Counted here and nowhere else. */
export class Source {
  constructor(bytes) {
    this.bytes = Buffer.from(bytes);
    this.text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.bytes);
    this.isValid = Buffer.from(this.text).equals(this.bytes);
    /** Where each line begins, in characters. */
    this.starts = [];
    for (let at = 0; at < this.text.length; at = this.text.indexOf("\n", at) + 1 || this.text.length)
      this.starts.push(at);
    this.size = sizeOf(this.text);
    this.total = { bytes: this.bytes.length, lines: this.starts.length };
  }

  /** The text of a line (from 1), without its break. */
  line(number) {
    return this.text.slice(this.starts[number - 1], this.endOf(number)).replace(/\n$/, "");
  }

  /** Where a line ends, its break included. */
  endOf(number) {
    return this.starts[number] ?? this.text.length;
  }

  /** The line (from 1) in which a character stands. */
  lineAt(char) {
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= char) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }

  /** Bytes from one character to another. */
  bytesBetween(from, to) {
    if (this.isValid) return Buffer.byteLength(this.text.slice(from, to));
    return this.#places()[to] - this.#places()[from];
  }

  /** The character that stands so many bytes after another; -1 if that is inside of one. */
  charAfter(from, bytes) {
    if (bytes === 0) return from;
    if (this.isValid) {
      const rest = this.text.slice(from);
      const seen = Buffer.from(rest.slice(0, bytes)).subarray(0, bytes).toString();
      return Buffer.byteLength(seen) === bytes &&
        !seen.endsWith("\ufffd") === !rest.startsWith("\ufffd", seen.length - 1)
        ? from + seen.length
        : -1;
    }
    return this.#places().indexOf(this.#places()[from] + bytes);
  }

  /** The byte at which each character begins; an invalid sequence is one character, as the Encoding Standard has it. */
  #places() {
    if (this.places !== undefined) return this.places;
    const places = [];
    const { bytes } = this;
    for (let at = 0; at < bytes.length; ) {
      const { length, units } = sequence(bytes, at);
      places.push(at);
      if (units === 2) places.push(at);
      at += length;
    }
    places.push(bytes.length);
    if (places.length !== this.text.length + 1) throw new Error("the checker decodes otherwise than the platform");
    this.places = places;
    return places;
  }
}

/** How many bytes the character at a place takes, and how many UTF-16 units it becomes. */
function sequence(bytes, at) {
  const lead = bytes[at];
  const need =
    lead < 0x80
      ? 0
      : lead >= 0xc2 && lead <= 0xdf
        ? 1
        : lead >= 0xe0 && lead <= 0xef
          ? 2
          : lead >= 0xf0 && lead <= 0xf4
            ? 3
            : -1;
  if (need <= 0) return { length: 1, units: 1 };
  let low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  let high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  for (let done = 1; done <= need; done++) {
    const byte = bytes[at + done];
    if (byte === undefined || byte < low || byte > high) return { length: done, units: 1 };
    low = 0x80;
    high = 0xbf;
  }
  return { length: need + 1, units: need === 3 ? 2 : 1 };
}

/** UTF-8 bytes, UTF-16 units and lines of a text. A break behind the last line begins no further one. */
export function sizeOf(text) {
  let breaks = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) breaks++;
  return {
    bytes: Buffer.byteLength(text),
    chars: text.length,
    lines: breaks + (text === "" || text.endsWith("\n") ? 0 : 1),
  };
}
