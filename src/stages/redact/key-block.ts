import { BASE64, BLANK, type ByteSet, byteSet, bytesOf, startsWith, union } from "./byte-set.ts";
import type { Found, Look } from "./redaction-rule.ts";
import { MAX_SECRET_BYTES, type Window } from "./window.ts";

const DASHES = bytesOf("-----");
const END = bytesOf("-----END");
const MARK = bytesOf("[redacted:");
const PRIVATE_KEY = bytesOf("PRIVATE KEY");
const IN_LINE: ByteSet = new Uint8Array(256).fill(1).fill(0, 10, 11);
const HEADER_NAME: ByteSet = byteSet("A-Za-z", "-");
const LABEL: ByteSet = byteSet("A-Z0-9 ");
const MAX_LABEL_BYTES = 64;
/** What follows a line's last word of a key: quotes, commas and plus signs of the language it stands in. */
const TRAILING: ByteSet = union(BLANK, byteSet("\"'`,;)\\]}", "\r"));
/** A first line of a key is at least this long; no word of prose or code is. */
const FIRST_LINE_BYTES = 32;
/** From here on a word is a key's wherever it stands in a line. */
const LONG_WORD_BYTES = 16;
const MAX_HEADER_LINES = 20;
/** In a row, between the lines of a key. */
const MAX_BLANK_LINES = 20;
const PUTTY_END = bytesOf("Private-MAC");

/** Finds what follows a key's first line on that same line (a key in a string); `labelAt` is after "-----BEGIN ". */
export function findKeyStart(window: Window, _at: number, labelAt: number): Look {
  const labelEnd = window.runEnd(LABEL, labelAt);
  if (labelEnd - labelAt > MAX_LABEL_BYTES) return "none";
  if (labelEnd + DASHES.length > window.end && !window.final) return "more";
  const from = labelEnd + DASHES.length;
  if (!startsWith(window.bytes, labelEnd, DASHES) || indexOf(window.bytes, PRIVATE_KEY, labelAt, labelEnd) < 0)
    return "none";

  // Up to the next dashes: they begin the key's end, or another key.
  const lineEnd = Math.min(window.runEnd(IN_LINE, from), from + MAX_SECRET_BYTES);
  const undecided = lineEnd === window.end && lineEnd - from < MAX_SECRET_BYTES && !window.final;
  const searched = window.search(DASHES, from);
  const dashes = indexOf(window.bytes, DASHES, searched.to - window.start, lineEnd);
  // The last bytes may be the first of five dashes.
  const without = dashes < 0 ? lineEnd - DASHES.length + 1 : dashes;
  searched.to = Math.max(searched.to, without + window.start);
  if (undecided && (dashes < 0 || dashes + END.length > window.end)) return "more";
  const to = dashes < 0 ? lineEnd : dashes;
  const first = words(window, from, to, FIRST_LINE_BYTES)[0];
  // The key was replaced before.
  if (first === undefined && indexOf(window.bytes, MARK, from, to) >= 0) return "none";
  if (dashes >= 0 && startsWith(window.bytes, dashes, END)) {
    const all = words(window, from, dashes, 1);
    return all.length > 0 ? { from, to: dashes } : "none";
  }
  if (first === undefined) return { from, to: from, opensBlock: true };
  const { goesOn, to: last } = words(window, from, to, 1).at(-1) as Found;
  return { from: first.from, to: last, opensBlock: true, goesOn };
}

/** A PuTTY key begins after the line that says how many lines it has; `countAt` is after "Private-Lines: ". */
export function findPuttyKey(_window: Window, _at: number, countAt: number): Look {
  return { from: countAt, to: countAt, opensBlock: true };
}

/** The lines of a key block, from the one after its first line. */
export class KeyBlock {
  /** Where the next line begins; -1 outside a block. */
  at = -1;
  private headers = 0;
  private sawKey = false;
  private sawShort = false;
  private onFirstLine = false;
  private blanks = 0;

  /** Begins after the line in which a key's first line ends at `from`. */
  begin(from: number): void {
    this.at = from;
    this.headers = 0;
    this.sawKey = false;
    this.sawShort = false;
    this.onFirstLine = true;
    this.blanks = 0;
  }

  /** Takes the lines that end before `limit`, handing on what they have of the key. */
  advance(window: Window, limit: number, take: (found: Found) => void): void {
    while (this.at >= 0) {
      const lineEnd = window.runEnd(IN_LINE, this.at);
      const tooLong = lineEnd - this.at >= MAX_SECRET_BYTES;
      if (lineEnd === window.end && !tooLong && !window.final) return;
      if (lineEnd > limit && !tooLong) return;
      if (this.onFirstLine) this.onFirstLine = false;
      else if (!this.line(window, this.at, Math.min(lineEnd, this.at + MAX_SECRET_BYTES), take)) {
        this.at = -1;
        return;
      }
      if (tooLong || lineEnd >= window.end) this.at = -1;
      else this.at = lineEnd + 1;
    }
  }

  drop(count: number): void {
    if (this.at >= 0) this.at -= count;
  }

  /** False once the block is over. */
  private line(window: Window, from: number, to: number, take: (found: Found) => void): boolean {
    const footer = indexOf(window.bytes, END, from, to);
    const end = footer < 0 ? to : footer;
    if (this.sawKey && footer < 0) {
      if (startsWith(window.bytes, from, PUTTY_END)) return false;
      if (skipTrailing(window.bytes, from, end) === end) return this.blanks++ < MAX_BLANK_LINES;
    }
    const isAfterBlank = this.blanks > 0;
    this.blanks = 0;
    const long = words(window, from, end, this.sawKey ? LONG_WORD_BYTES : FIRST_LINE_BYTES);
    if (!this.sawKey && long.length === 0)
      return footer < 0 && this.headers++ < MAX_HEADER_LINES && isHeader(window.bytes, from, end);
    const last = lastWord(window, from, end);
    // After an empty line other text may follow a key that was cut off.
    const isAlone = last !== null && last.from === skipTrailing(window.bytes, from, end);
    if (isAfterBlank && footer < 0 && !isAlone && words(window, from, end, FIRST_LINE_BYTES).length === 0) return false;
    for (const word of long) take(word);
    if (long.length > 0) this.sawShort = false;
    if (last !== null && footer < 0 && last.to - last.from < LONG_WORD_BYTES) {
      // The last line of a key may be short; after it only a checksum, then the end.
      if (this.sawShort && window.bytes[last.from] !== 61) return false;
      this.sawShort = true;
      take(last);
    }
    this.sawKey = true;
    return footer < 0 && last !== null;
  }
}

/** Words of a key: stretches of base64 of a least length. One that goes on past `to` (a line over 16 KiB) is taken whole. */
function words(window: Window, from: number, to: number, least: number): Found[] {
  const list: Found[] = [];
  for (let at = from; at < to; at++) {
    if (BASE64[window.bytes[at] as number] === 0) continue;
    const start = at;
    while (at < to && BASE64[window.bytes[at] as number] === 1) at++;
    if (at - start < least) continue;
    const found: Found = { from: start, to: at };
    if (at === to && to - from >= MAX_SECRET_BYTES) {
      found.to = window.runEnd(BASE64, at);
      if (found.to === window.end && !window.final) found.goesOn = BASE64;
    }
    list.push(found);
  }
  return list;
}

function lastWord({ bytes }: Window, from: number, to: number): Found | null {
  let end = to;
  for (;;) {
    if (end > from && TRAILING[bytes[end - 1] as number] === 1) end--;
    // A spelled-out line break: \n, \r.
    else if (end > from + 1 && bytes[end - 2] === 92 && (bytes[end - 1] === 110 || bytes[end - 1] === 114)) end -= 2;
    else if (end > from && bytes[end - 1] === 43 && TRAILING[bytes[end - 2] as number] === 1) end--;
    else break;
  }
  let start = end;
  while (start > from && BASE64[bytes[start - 1] as number] === 1) start--;
  return start === end ? null : { from: start, to: end };
}

/** An empty line, or `Name: value` as old keys have before the key itself. */
function isHeader(bytes: Uint8Array, from: number, to: number): boolean {
  let at = skipTrailing(bytes, from, to);
  if (at === to) return true;
  const nameFrom = at;
  while (at < to && HEADER_NAME[bytes[at] as number] === 1) at++;
  return at > nameFrom && bytes[at] === 58;
}

function skipTrailing(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && TRAILING[bytes[at] as number] === 1) at++;
  return at;
}

function indexOf(bytes: Uint8Array, wanted: number[], from: number, to: number): number {
  for (let at = from; at + wanted.length <= to; at++)
    if (bytes[at] === wanted[0] && startsWith(bytes, at, wanted)) return at;
  return -1;
}
