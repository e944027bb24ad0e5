import { MAX_SECRET_BYTES } from "./bounds.ts";
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

const SUFFIXES = ["key", "value", "string"].map((word) => [...word].map((char) => char.charCodeAt(0)));

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
  const blanksEnd = skip(view, BLANK, at, MAX_BLANKS);
  const separatorEnd = skip(view, SEPARATOR, blanksEnd, 3);
  if (separatorEnd === blanksEnd) return !closed && blanksEnd > at && isFlag(view, nameAt) ? blanksEnd : -1;
  const arrowEnd = peek(view, separatorEnd) === 62 ? separatorEnd + 1 : separatorEnd;
  return skip(view, BLANK, arrowEnd, MAX_BLANKS);
}

/** `secretKey`, `token_value`: still the name of a secret. */
function skipSuffix(view: View, nameEnd: number): number {
  let at = nameEnd;
  const first = peek(view, at);
  if (first === 95 || first === 45) at++;
  const suffix = SUFFIXES.find((word) => (peek(view, at) | 32) === word[0]);
  if (suffix === undefined) return nameEnd;
  return suffix.every((byte, index) => (peek(view, at + index) | 32) === byte) ? at + suffix.length : nameEnd;
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
