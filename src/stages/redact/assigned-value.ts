import { BLANK, type ByteSet, byteSet, bytesOf, DIGIT, outside, startsWith, union, WORD } from "./byte-set.ts";
import { isRandom, likelySecret, notPlaceholder, startOf } from "./likely-secret.ts";
import type { Found, Look } from "./redaction-rule.ts";
import { BEHIND_BYTES, MAX_SECRET_BYTES, type Window } from "./window.ts";

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
const LEAST_PAT_BYTES = 20;
const MAX_NAME_BYTES = 40;

/** The name of an assembly's fingerprint, which is public. */
const PUBLIC_NAME = bytesOf("publickey").reverse();

/** "Key" names a secret after one of these, with "_", "-" or nothing between; other keys are those of maps and tables. */
const KEY_SORTS = [
  ..."access account api app application auth client encryption functions license master private service session".split(
    " ",
  ),
  ..."shared signing storage subscription webhook".split(" "),
].map((word) => bytesOf(word).reverse());

const LOGIN = bytesOf("login").reverse();
const VALUE = bytesOf("value");
const SPACE: ByteSet = union(BLANK, byteSet("\r\n"));
/** Between a name and the word "value": the name's field ends, and on the next line or on this one another begins. */
const BEFORE_VALUE: ByteSet = union(SPACE, byteSet(",\"'\\"));
const AROUND: ByteSet = byteSet("\"'\\");
const MAX_INDENT = 64;
const CODE_PARAMETER: ByteSet = byteSet("0-9;:?");
const MAX_CODE_BYTES = 24;
const ESCAPE = 27;

/** What is remembered of a window's values: how far the last quoted one and the last plain one go on. */
const QUOTED = {};
const WALK = {};

const SUFFIXES = ["key_base", "key", "value", "string"].map(bytesOf);

/** Thrown and caught here: keeps "more bytes are needed" out of every line that reads one. */
const MORE = Symbol("more");

/** Finds the value that is given to a name such as `password` (which ends at `nameEnd`), in whatever notation. */
export function findAssigned(window: Window, nameAt: number, nameEnd: number): Look {
  try {
    return findValue(window, nameAt, nameEnd);
  } catch (error) {
    if (error === MORE) return "more";
    throw error;
  }
}

function peek(window: Window, at: number): number {
  if (at < window.end) return window.bytes[at] as number;
  if (window.final) return -1;
  throw MORE;
}

function skip(window: Window, set: ByteSet, from: number, most: number): number {
  let at = from;
  while (at - from < most && set[peek(window, at)] === 1) at++;
  return at;
}

function findValue(window: Window, nameAt: number, nameEnd: number): Look {
  if (lower(window.bytes[nameAt] as number) === 107 && !isSecretKey(window, nameAt)) return "none";
  if (PUBLIC_NAME.every((byte, index) => (window.byteAt(nameAt - 1 - index) | 32) === byte)) return "none";
  const separated = skipSeparator(window, nameAt, nameEnd);
  if (separated < 0) return "none";
  let at = separated;
  while (peek(window, at) === BACKSLASH && at - separated < 3) at++;
  const quote = NOT_QUOTE.get(peek(window, at));
  if (quote === undefined && at > separated) return "none";
  const found =
    quote === undefined
      ? plainValue(window, nameAt, separated)
      : quotedValue(window, nameAt, at + 1, quote, at - separated);
  // Text after a tag with an attribute is a value if it is all that the element holds: a label is not.
  const isInElement = window.bytes[separated - 1] === 62 && QUOTES[window.bytes[separated - 2] as number] === 1;
  if (isInElement && peek(window, found.to) !== 60) return "none";
  // "p" or "P" begins the names of passwords, and of private keys, which are long anyway.
  const first = window.bytes[nameAt] as number;
  const password = (first | 32) === 112 && ((window.bytes[nameAt + 1] as number) | 32) !== 114;
  const known = Math.min(found.to, nameAt + MAX_SECRET_BYTES);
  const isSecret = likelySecret(window.bytes, found.from, known, { password, quoted: quote !== undefined });
  // A name such as HEX_PAT may be that of a pattern.
  const isPattern = first === 95 && lower(window.bytes[nameAt + 1] as number) === 112;
  if (isPattern && !(known - found.from >= LEAST_PAT_BYTES && isRandom(window.bytes, found.from, known))) return "none";
  return isSecret ? found : "none";
}

function isSecretKey(window: Window, keyAt: number): boolean {
  const last = window.byteAt(keyAt - 1);
  const end = last === 95 || last === 45 ? keyAt - 2 : keyAt - 1;
  return KEY_SORTS.some((word) => word.every((byte, index) => lower(window.byteAt(end - index)) === byte));
}

/** Where the value begins: after `=`, `:`, `=>`, `"]: ` and the like; -1 if none is given. */
function skipSeparator(window: Window, nameAt: number, nameEnd: number): number {
  const suffixEnd = skipSuffix(window, nameEnd);
  let at = suffixEnd;
  while (peek(window, at) === BACKSLASH && at - suffixEnd < 3) at++;
  const escaped = at > suffixEnd;
  const closed = QUOTES[peek(window, at)] === 1;
  if (escaped && !closed) return -1;
  if (closed) at++;
  if (closed && peek(window, at) === 93) at++;
  if (!escaped && peek(window, at) === 62) return at + 1;
  const blanksEnd = skipCodes(window, skipToValue(window, at));
  const separatorEnd = skip(window, SEPARATOR, blanksEnd, 3);
  if (separatorEnd === blanksEnd) {
    const mayFollow = !closed && blanksEnd > at && (isFlag(window, nameAt) || followsLogin(window, nameAt));
    return mayFollow ? blanksEnd : -1;
  }
  const arrowEnd = peek(window, separatorEnd) === 62 ? separatorEnd + 1 : separatorEnd;
  return skipCodes(window, arrowEnd);
}

/** `"name": "DB_PASSWORD", "value": "x"`, the same as YAML or as attributes of XML: behind the word that says the value follows. */
function skipToValue(window: Window, nameEnd: number): number {
  const from = skip(window, BEFORE_VALUE, nameEnd, MAX_INDENT);
  if (from === nameEnd || !VALUE.every((byte, index) => lower(peek(window, from + index)) === byte)) return nameEnd;
  return skip(window, AROUND, from + VALUE.length, 3);
}

/** Blanks, and the colours that programs set between a name and its value. */
function skipCodes(window: Window, from: number): number {
  let at = skip(window, BLANK, from, MAX_BLANKS);
  for (let codes = 0; codes < 4 && peek(window, at) === ESCAPE && peek(window, at + 1) === 91; codes++) {
    const end = skip(window, CODE_PARAMETER, at + 2, MAX_CODE_BYTES);
    if (peek(window, end) < 64) return at;
    at = skip(window, BLANK, end + 1, MAX_BLANKS);
  }
  return at;
}

/** `login me password hunter22`, on one line or two, as a netrc file has it. */
function followsLogin(window: Window, nameAt: number): boolean {
  let at = nameAt - 1;
  const back = (set: ByteSet, has: 0 | 1): number => {
    const from = at;
    for (let byte = window.byteAt(at); from - at < BEHIND_BYTES && byte >= 0 && set[byte] === has; )
      byte = window.byteAt(--at);
    return from - at;
  };
  if (back(SPACE, 1) === 0 || back(SPACE, 0) === 0 || back(SPACE, 1) === 0) return false;
  return nameAt - at < BEHIND_BYTES - LOGIN.length && LOGIN.every((byte, index) => window.byteAt(at - index) === byte);
}

/** `secretKey`, `token_value`: still the name of a secret. */
function skipSuffix(window: Window, nameEnd: number): number {
  let at = nameEnd;
  const first = peek(window, at);
  if (first === 95 || first === 45) at++;
  const suffix = SUFFIXES.find((word) => word.every((byte, index) => lower(peek(window, at + index)) === byte));
  return suffix === undefined ? nameEnd : at + suffix.length;
}

function lower(byte: number): number {
  return byte >= 65 && byte <= 90 ? byte + 32 : byte;
}

/** `--db-password hunter22`: only a flag's value may follow without a sign. */
function isFlag(window: Window, nameAt: number): boolean {
  let at = nameAt - 1;
  for (let steps = 0; steps < 20; steps++, at--) {
    const byte = window.byteAt(at);
    if (byte === 45 && window.byteAt(at - 1) === 45) return true;
    if (byte !== 45 && (byte < 0 || WORD[byte] === 0)) return false;
  }
  return false;
}

function quotedValue(window: Window, nameAt: number, from: number, inside: ByteSet, depth: number): Found {
  const walk = window.search(QUOTED, from);
  // Backslashes are counted from where a value begins, so only the same value goes on where it was left.
  if (walk.from !== from + window.start) walk.from = walk.to = from + window.start;
  for (let at = walk.to - window.start; ; walk.to = at + window.start) {
    const stop = window.runEnd(inside, at);
    if (stop - nameAt >= MAX_SECRET_BYTES) return ending(window, { from, to: stop }, inside);
    const byte = peek(window, stop);
    let backslashes = 0;
    while (stop - backslashes > from && window.bytes[stop - backslashes - 1] === BACKSLASH) backslashes++;
    const ends = depth === 0 ? backslashes % 2 === 0 : backslashes === depth;
    if (ends || byte < 0 || byte === 10 || byte === 13) return { from, to: depth === 0 || !ends ? stop : stop - depth };
    at = stop + 1;
  }
}

function plainValue(window: Window, nameAt: number, from: number): Found {
  const walk = window.search(WALK, from);
  for (let at = walk.to - window.start; ; walk.to = at + window.start) {
    const stop = window.runEnd(PLAIN, at);
    if (stop - nameAt >= MAX_SECRET_BYTES) return ending(window, { from, to: stop }, PLAIN);
    const byte = peek(window, stop);
    if (!goesOnAfter(window, byte, stop)) return { from, to: trimmed(window, from, stop) };
    at = stop + 1;
  }
}

/** A comma, semicolon, ampersand or backslash belongs to the value unless the next field or an escape begins there. */
function goesOnAfter(window: Window, byte: number, at: number): boolean {
  if (byte === BACKSLASH) {
    const next = peek(window, at + 1);
    return next >= 0 && next !== 110 && next !== 114 && next !== 116 && next !== BACKSLASH && ENDS_FIELD[next] === 0;
  }
  if (byte !== 44 && byte !== 59 && byte !== 38) return false;
  const next = peek(window, at + 1);
  if (next < 0 || ENDS_FIELD[next] === 1) return false;
  const nameEnd = skip(window, NAME, at + 1, MAX_NAME_BYTES);
  return nameEnd === at + 1 || SEPARATOR[peek(window, nameEnd)] !== 1;
}

function trimmed(window: Window, from: number, to: number): number {
  let end = to;
  while (end > from && TRAILING[window.bytes[end - 1] as number] === 1) end--;
  return end;
}

/** Known to be a secret by its first 16 KiB: the rest is covered as far as it goes on. */
function ending(window: Window, found: Found, set: ByteSet): Found {
  if (found.to === window.end && !window.final) found.goesOn = set;
  return found;
}

/** What may stand between "://" and the first slash. */
const AUTHORITY: ByteSet = outside(byteSet(" \t\"'`<>\\/?#"));
const COLON = 58;
const DASH = 45;
const LEAST_TOKEN_BYTES = 20;
const MAX_TOKEN_BYTES = 1024;
const AT_SIGN = 64;
const MARK = bytesOf("[redacted");
const REFERENCE = /^(?:\$|\{|%[A-Za-z({]|\[redacted:|\*+$|x+$|<)/i;

/** Finds the password in `scheme://user:password@host`, or a token in its user's place; `start` is after "://". */
export function findUrlPassword(window: Window, _at: number, start: number): Look {
  const { bytes } = window;
  const stop = Math.min(window.runEnd(AUTHORITY, start), start + MAX_SECRET_BYTES);
  if (stop === window.end && stop - start < MAX_SECRET_BYTES && !window.final) return "more";
  let to = stop - 1;
  while (to > start && bytes[to] !== AT_SIGN) to--;
  if (to > start && isToken(bytes, start, to)) return { from: start, to };
  let from = start;
  while (from < to && (bytes[from] !== COLON || endsMark(bytes, from))) from++;
  from++;
  if (to - from < 1) return "none";
  return REFERENCE.test(startOf(bytes, from, to)) ? "none" : { from, to };
}

/** No name of a user is so long, without a dot, and of letters and digits in turn. */
function isToken(bytes: Uint8Array, from: number, to: number): boolean {
  let at = from;
  let digits = 0;
  let letters = 0;
  for (; at < to && (WORD[bytes[at] as number] === 1 || bytes[at] === DASH); at++) {
    if (DIGIT[bytes[at] as number] === 1) digits++;
    else letters++;
    if (at - from >= MAX_TOKEN_BYTES) break;
  }
  return (at === to || bytes[at] === COLON) && at - from >= LEAST_TOKEN_BYTES && digits >= 2 && letters >= 2;
}

/** The colon of an earlier redaction's mark divides nothing. */
function endsMark(bytes: Uint8Array, at: number): boolean {
  return startsWith(bytes, at - MARK.length, MARK);
}

/** How far behind the command its user is looked for. */
const LOOKED_AT = 256;
const PLAIN_QUOTES: ByteSet = byteSet("\"'");
const USER: ByteSet = outside(union(BLANK, byteSet("\"'`:\0-\x1f")));
const PASSWORD: ByteSet = outside(union(BLANK, byteSet("\"'`\0-\x1f")));
const FLAGS = [" -u", " --user"].map(bytesOf);
const EQUALS = 61;
const BREAK = 10;

/** Finds the password in `curl -u user:password`; `start` is after "curl". */
export function findCommandUser({ bytes, end, final }: Window, _at: number, start: number): Look {
  const limit = Math.min(end, start + LOOKED_AT);
  const found = bytes.subarray(start, limit).indexOf(BREAK);
  const to = found < 0 ? limit : start + found;
  if (found < 0 && limit === end && !final && limit < start + LOOKED_AT) return "more";
  for (let at = start; at < to; at++) {
    const flag = FLAGS.find((word) => startsWith(bytes, at, word));
    if (flag === undefined) continue;
    let from = at + flag.length;
    while (from < to && (BLANK[bytes[from] as number] === 1 || bytes[from] === EQUALS)) from++;
    if (PLAIN_QUOTES[bytes[from] as number] === 1) from++;
    while (from < to && USER[bytes[from] as number] === 1) from++;
    if (bytes[from] !== COLON || from >= to) continue;
    let stop = from + 1;
    while (stop < to && PASSWORD[bytes[stop] as number] === 1) stop++;
    if (stop > from + 1 && notPlaceholder(bytes, from + 1, stop)) return { from: from + 1, to: stop };
  }
  return "none";
}
