import { BEHIND_BYTES, MAX_SECRET_BYTES } from "./bounds.ts";
import { BLANK, type ByteSet, byteSet, outside, union, WORD } from "./byte-set.ts";
import { likelySecret } from "./likely-secret.ts";
import type { Found, Look } from "./redaction-rule.ts";
import { FINDER_SLOTS, type View } from "./view.ts";

const QUOTES: ByteSet = byteSet("\"'`");
const BACKSLASH = 92;
const NOT_QUOTE = new Map([34, 39, 96].map((quote) => [quote, outside(byteSet(String.fromCharCode(quote)))]));
/** Ends a value that is not quoted, or may. */
const STOPS: ByteSet = byteSet("\"'`<,;&\\ \t\v\f");
const PLAIN: ByteSet = outside(union(STOPS, byteSet("\0-\x1f\x7f")));
const SEPARATOR: ByteSet = byteSet(":=");
const TRAILING: ByteSet = byteSet(",;:.)}]>");
const ENDS_FIELD: ByteSet = union(byteSet("\"'`}]\r\n"), BLANK);
const NAME: ByteSet = union(WORD, byteSet(".", "-[]%"));
const MAX_BLANKS = 8;
const MAX_NAME_BYTES = 40;

/** The name of an assembly's fingerprint, which is public. */
const PUBLIC_NAME = [..."publickey"].map((char) => char.charCodeAt(0)).reverse();

const LOGIN = [..."login"].map((char) => char.charCodeAt(0)).reverse();
const SPACE: ByteSet = union(BLANK, byteSet("\r\n"));
const CODE_PARAMETER: ByteSet = byteSet("0-9;:?");
const MAX_CODE_BYTES = 24;
const ESCAPE = 27;

const SUFFIXES = ["key_base", "key", "value", "string"].map((word) => [...word].map((char) => char.charCodeAt(0)));

/** Thrown and caught here: keeps "more bytes are needed" out of every line that reads one. */
const MORE = Symbol("more");

/** Finds the value that is given to a name such as `password` (which ends at `nameEnd`), in whatever notation. */
export function findAssigned(view: View, nameAt: number, nameEnd: number): Look {
  try {
    return findValue(view, nameAt, nameEnd);
  } catch (error) {
    if (error === MORE) return "more";
    throw error;
  }
}

function peek(view: View, at: number): number {
  if (at < view.end) return view.bytes[at] as number;
  if (view.final) return -1;
  throw MORE;
}

function skip(view: View, set: ByteSet, from: number, most: number): number {
  let at = from;
  while (at - from < most && set[peek(view, at)] === 1) at++;
  return at;
}

function findValue(view: View, nameAt: number, nameEnd: number): Look {
  if (PUBLIC_NAME.every((byte, index) => (view.byteAt(nameAt - 1 - index) | 32) === byte)) return "none";
  const separated = skipSeparator(view, nameAt, nameEnd);
  if (separated < 0) return "none";
  let at = separated;
  while (peek(view, at) === BACKSLASH && at - separated < 3) at++;
  const quote = NOT_QUOTE.get(peek(view, at));
  if (quote === undefined && at > separated) return "none";
  const found =
    quote === undefined
      ? plainValue(view, nameAt, separated)
      : quotedValue(view, nameAt, at + 1, quote, at - separated);
  // Within a value that is known to be a secret: covered already.
  if (quote === undefined && view.isKnown(found.from, found.to)) return "none";
  // "p" or "P" begins the names of passwords, and of private keys, which are long anyway.
  const first = view.bytes[nameAt] as number;
  const password = (first | 32) === 112 && ((view.bytes[nameAt + 1] as number) | 32) !== 114;
  const known = Math.min(found.to, nameAt + MAX_SECRET_BYTES);
  const isSecret = likelySecret(view.bytes, found.from, known, { password, quoted: quote !== undefined });
  if (!isSecret) return "none";
  if (quote === undefined) view.know(found.from, found.to);
  return found;
}

/** Where the value begins: after `=`, `:`, `=>`, `"]: ` and the like; -1 if none is given. */
function skipSeparator(view: View, nameAt: number, nameEnd: number): number {
  const suffixEnd = skipSuffix(view, nameEnd);
  let at = suffixEnd;
  while (peek(view, at) === BACKSLASH && at - suffixEnd < 3) at++;
  const escaped = at > suffixEnd;
  const closed = QUOTES[peek(view, at)] === 1;
  if (escaped && !closed) return -1;
  if (closed) at++;
  if (closed && peek(view, at) === 93) at++;
  if (!closed && peek(view, at) === 62) return at + 1;
  const blanksEnd = skipCodes(view, at);
  const separatorEnd = skip(view, SEPARATOR, blanksEnd, 3);
  if (separatorEnd === blanksEnd) {
    const mayFollow = !closed && blanksEnd > at && (isFlag(view, nameAt) || followsLogin(view, nameAt));
    return mayFollow ? blanksEnd : -1;
  }
  const arrowEnd = peek(view, separatorEnd) === 62 ? separatorEnd + 1 : separatorEnd;
  return skipCodes(view, arrowEnd);
}

/** Blanks, and the colours that programs set between a name and its value. */
function skipCodes(view: View, from: number): number {
  let at = skip(view, BLANK, from, MAX_BLANKS);
  for (let codes = 0; codes < 4 && peek(view, at) === ESCAPE && peek(view, at + 1) === 91; codes++) {
    const end = skip(view, CODE_PARAMETER, at + 2, MAX_CODE_BYTES);
    if (peek(view, end) < 64) return at;
    at = skip(view, BLANK, end + 1, MAX_BLANKS);
  }
  return at;
}

/** `login me password hunter22`, on one line or two, as a netrc file has it. */
function followsLogin(view: View, nameAt: number): boolean {
  let at = nameAt - 1;
  const back = (set: ByteSet, has: 0 | 1): number => {
    const from = at;
    for (let byte = view.byteAt(at); from - at < BEHIND_BYTES && byte >= 0 && set[byte] === has; )
      byte = view.byteAt(--at);
    return from - at;
  };
  if (back(SPACE, 1) === 0 || back(SPACE, 0) === 0 || back(SPACE, 1) === 0) return false;
  return nameAt - at < BEHIND_BYTES - LOGIN.length && LOGIN.every((byte, index) => view.byteAt(at - index) === byte);
}

/** `secretKey`, `token_value`: still the name of a secret. */
function skipSuffix(view: View, nameEnd: number): number {
  let at = nameEnd;
  const first = peek(view, at);
  if (first === 95 || first === 45) at++;
  const suffix = SUFFIXES.find((word) => word.every((byte, index) => lower(peek(view, at + index)) === byte));
  return suffix === undefined ? nameEnd : at + suffix.length;
}

function lower(byte: number): number {
  return byte >= 65 && byte <= 90 ? byte + 32 : byte;
}

/** `--db-password hunter22`: only a flag's value may follow without a sign. */
function isFlag(view: View, nameAt: number): boolean {
  let at = nameAt - 1;
  for (let steps = 0; steps < 20; steps++, at--) {
    const byte = view.byteAt(at);
    if (byte === 45 && view.byteAt(at - 1) === 45) return true;
    if (byte !== 45 && (byte < 0 || WORD[byte] === 0)) return false;
  }
  return false;
}

function quotedValue(view: View, nameAt: number, from: number, inside: ByteSet, depth: number): Found {
  for (let at = from; ; ) {
    const stop = view.runEnd(FINDER_SLOTS.quoted, inside, at);
    if (stop - nameAt >= MAX_SECRET_BYTES) return ending(view, { from, to: stop }, inside);
    const byte = peek(view, stop);
    let backslashes = 0;
    while (stop - backslashes > from && view.bytes[stop - backslashes - 1] === BACKSLASH) backslashes++;
    const ends = depth === 0 ? backslashes % 2 === 0 : backslashes === depth;
    if (ends || byte < 0 || byte === 10 || byte === 13) return { from, to: depth === 0 || !ends ? stop : stop - depth };
    at = stop + 1;
  }
}

function plainValue(view: View, nameAt: number, from: number): Found {
  for (let at = view.walkedTo(from); ; view.walk(at)) {
    const stop = view.runEnd(FINDER_SLOTS.plain, PLAIN, at);
    if (stop - nameAt >= MAX_SECRET_BYTES) return ending(view, { from, to: stop }, PLAIN);
    const byte = peek(view, stop);
    if (!goesOnAfter(view, byte, stop)) return { from, to: trimmed(view, from, stop) };
    at = stop + 1;
  }
}

/** A comma, semicolon, ampersand or backslash belongs to the value unless the next field or an escape begins there. */
function goesOnAfter(view: View, byte: number, at: number): boolean {
  if (byte === BACKSLASH) {
    const next = peek(view, at + 1);
    return next >= 0 && next !== 110 && next !== 114 && next !== 116 && next !== BACKSLASH && ENDS_FIELD[next] === 0;
  }
  if (byte !== 44 && byte !== 59 && byte !== 38) return false;
  const next = peek(view, at + 1);
  if (next < 0 || ENDS_FIELD[next] === 1) return false;
  const nameEnd = skip(view, NAME, at + 1, MAX_NAME_BYTES);
  return nameEnd === at + 1 || SEPARATOR[peek(view, nameEnd)] !== 1;
}

function trimmed(view: View, from: number, to: number): number {
  let end = to;
  while (end > from && TRAILING[view.bytes[end - 1] as number] === 1) end--;
  return end;
}

/** Known to be a secret by its first 16 KiB: the rest is covered as far as it goes on. */
function ending(view: View, found: Found, set: ByteSet): Found {
  if (found.to === view.end && !view.final) found.goesOn = set;
  return found;
}
