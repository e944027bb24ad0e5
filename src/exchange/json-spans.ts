import { tried } from "../values.ts";
// Finds where values stand in the bytes of a JSON text, without parsing them. What is not JSON is mostly noticed, but not
// always: whoever needs a value parses its span.

/** Where a value stands: from its first byte to before the byte after it. */
export interface Span {
  from: number;
  to: number;
}

/** A field of an object. Its name may occur more than once in one object: the last one counts, as for `JSON.parse`. */
export interface MemberSpan extends Span {
  name: string;
  /** The first byte of the name. */
  nameFrom: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/** Strings up to this are read byte by byte: a native search costs more to start. */
const SHORT_BYTES = 48;

/** Thrown inside for what is not JSON. Functions that are exported return null instead. */
class NotJson extends Error {}

/** Returns the fields of the object that starts at a place, or null if there is none. `to` is after its bracket. */
export function membersOf(bytes: Uint8Array, from: number): { members: MemberSpan[]; to: number } | null {
  const members: MemberSpan[] = [];
  const to = tried(() => readMembers(bytes, from, (member) => void members.push(member)));
  return to === null ? null : { members, to };
}

/** Returns the elements of the list that starts at a place, or null if there is none. */
export function elementsOf(bytes: Uint8Array, from: number): { elements: Span[]; to: number } | null {
  if (bytes[from] !== OPEN_ARRAY) return null;
  const elements: Span[] = [];
  const to = moreElements(bytes, from + 1, elements);
  return to === null ? null : { elements, to };
}

/**
 * Adds the elements of a list from a place on: after its opening bracket, or after an element. Returns the place after the
 * closing bracket, or null if the list has none.
 */
export function moreElements(bytes: Uint8Array, from: number, elements: Span[]): number | null {
  return tried(() => {
    let at = skipSpace(bytes, from);
    if (bytes[at] === CLOSE_ARRAY && elements.length === 0) return at + 1;
    let isNext = elements.length === 0;
    for (;;) {
      if (!isNext) {
        if (bytes[at] === CLOSE_ARRAY) return at + 1;
        if (bytes[at] !== COMMA) throw new NotJson();
        at = skipSpace(bytes, at + 1);
      }
      const to = skipValue(bytes, at);
      elements.push({ from: at, to });
      at = skipSpace(bytes, to);
      isNext = false;
    }
  });
}

/**
 * Returns the fields of the object that starts at a place, or null if there is none. From place 0 it must be all of the text.
 * `endOf` may know where a value ends.
 */
export function readObject(
  bytes: Uint8Array,
  from: number,
  endOf: (name: string, from: number) => number | null,
): MemberSpan[] | null {
  const members: MemberSpan[] = [];
  const to = tried(() => readMembers(bytes, skipSpace(bytes, from), (member) => void members.push(member), endOf));
  return to === null || (from === 0 && skipSpace(bytes, to) !== bytes.length) ? null : members;
}

function readMembers(
  bytes: Uint8Array,
  from: number,
  add: (member: MemberSpan) => void,
  endOf?: (name: string, from: number) => number | null,
): number {
  if (bytes[from] !== OPEN_OBJECT) throw new NotJson();
  let at = skipSpace(bytes, from + 1);
  if (bytes[at] === CLOSE_OBJECT) return at + 1;
  for (;;) {
    if (bytes[at] !== QUOTE) throw new NotJson();
    const nameFrom = at;
    at = skipString(bytes, at);
    const name = parsed(bytes, nameFrom, at);
    at = skipSpace(bytes, at);
    if (bytes[at] !== COLON) throw new NotJson();
    const valueFrom = skipSpace(bytes, at + 1);
    at = endOf?.(name, valueFrom) ?? skipValue(bytes, valueFrom);
    add({ name, nameFrom, from: valueFrom, to: at });
    at = skipSpace(bytes, at);
    if (bytes[at] === CLOSE_OBJECT) return at + 1;
    if (bytes[at] !== COMMA) throw new NotJson();
    at = skipSpace(bytes, at + 1);
  }
}

/** Steps over one value. Brackets are counted, so depth costs no stack. */
function skipValue(bytes: Uint8Array, from: number): number {
  const first = bytes[from];
  if (first === QUOTE) return skipString(bytes, from);
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return skipWord(bytes, from);
  let depth = 0;
  for (let at = from; at < bytes.length; ) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = skipString(bytes, at);
      continue;
    }
    at++;
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth++;
    else if ((byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) && --depth === 0) return at;
  }
  throw new NotJson();
}

function skipString(bytes: Uint8Array, from: number): number {
  const near = Math.min(bytes.length, from + SHORT_BYTES);
  let at = from + 1;
  while (at < near) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    at += byte === BACKSLASH ? 2 : 1;
  }
  for (;;) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) throw new NotJson();
    let slashes = 0;
    while (quote - 1 - slashes >= at && bytes[quote - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

/** Steps over a number, true, false or null. */
function skipWord(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at] as number;
    if (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY || isSpace(byte)) break;
    at++;
  }
  if (at === from) throw new NotJson();
  return at;
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && isSpace(bytes[at] as number)) at++;
  return at;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function parsed(bytes: Uint8Array, from: number, to: number): string {
  const name = parseSpan(bytes, { from, to });
  if (typeof name !== "string") throw new NotJson();
  return name;
}

/** Returns the value that stands in a span. Throws where it is not JSON. */
export function parseSpan(bytes: Uint8Array, { from, to }: Span): unknown {
  return JSON.parse(asBuffer(bytes).toString("utf8", from, to));
}

/** The same bytes with Node's own methods, which are faster. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
