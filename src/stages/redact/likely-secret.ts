import { type ByteSet, byteSet, DIGIT, WORD } from "./byte-set.ts";

/** What is known of a value from where it stands. */
export interface ValueAbout {
  /** Its name says password, so even a short one counts. */
  password: boolean;
  quoted: boolean;
}

/** What a value is told by: its start. */
const MAX_LOOKED_AT = 96;
const REFERENCE =
  /^(?:\$[A-Za-z_{(]|<|%[A-Za-z_({]|\{\{|#\{|\[redacted:|-----|env[.:(]|0x|[.~]{0,2}\/[A-Za-z._-]{2,}(?:\/|$)|[A-Za-z]:\\|\\\\)/;
const PLACEHOLDER =
  /^your?[-_ ]|^my[-_](?:secret|password|token|api)|example|change[-_]?(?:me|it)|placeholder|redacted|replace[-_]|^(?:true|false|null|none|undefined|nil)\b/i;
const VERSION_OR_DATE = /^v?\d+(?:[.:/-]\d+)+\S{0,4}$|^\d{4}-\d\d-\d\d[T ]/;
const CODE = /^[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)*[([]|^(?:new|await|function|async)\b/;
const LETTERS_PATH = /^[A-Za-z_$]+(?:(?:\.|::|->|\/|-)[A-Za-z_$]+)*$/;
/** A variable, stars, or the mark of an earlier redaction, in the place of any secret. */
const STAND_IN = /^(?:\$|\{|%[A-Za-z({]|\[redacted:|\*+$|\.+$|x+$|your?[-_])/i;
const ODD: ByteSet = byteSet("!#$%&*+=?@^~|");

/** Returns true if a value assigned to a name such as `password` or `token` is one, not a placeholder, a variable or code. */
export function likelySecret(bytes: Uint8Array, from: number, to: number, about: ValueAbout): boolean {
  const length = to - from;
  if (length < (about.password ? 6 : 10)) return false;
  const end = Math.min(to, from + MAX_LOOKED_AT);
  const traits = traitsOf(bytes, from, end);
  if (traits.distinct < 5 || traits.blanks > 2 || !hasTraits(end - from, traits, about)) return false;
  // Reading it as text costs the most: only what may be one is.
  const text = startOf(bytes, from, to);
  const isOddOnly = traits.digits === 0 && !turnsOften(text.length, traits, about);
  if (isOddOnly && ((!about.quoted && LETTERS_PATH.test(text)) || /[(){}]/.test(text))) return false;
  return !isReference(text, about);
}

/** Random text of 20 characters has a digit; words joined by dashes rarely do. */
export function hasDigit(bytes: Uint8Array, from: number, to: number): boolean {
  const end = Math.min(to, from + MAX_LOOKED_AT);
  for (let at = from; at < end; at++) if (DIGIT[bytes[at] as number] === 1) return true;
  return false;
}

const looked = (bytes: Uint8Array, from: number, to: number): Traits =>
  traitsOf(bytes, from, Math.min(to, from + MAX_LOOKED_AT));

/** Capitals, small letters and digits change as often as in random characters or in base64. */
export function isJumbled(bytes: Uint8Array, from: number, to: number): boolean {
  const { turns, caseTurns } = looked(bytes, from, to);
  return (turns + caseTurns) * 5 >= Math.min(to - from, MAX_LOOKED_AT);
}

/** Jumbled, with digits and letters: no word, no name. */
export function isRandom(bytes: Uint8Array, from: number, to: number): boolean {
  const { digits, letters } = looked(bytes, from, to);
  return digits > 0 && letters > 0 && isJumbled(bytes, from, to);
}

/** Random with letters of both cases: no hash in hexadecimal digits. */
export function isMixed(bytes: Uint8Array, from: number, to: number): boolean {
  const { letters, capitals } = looked(bytes, from, to);
  return capitals > 0 && capitals < letters && isRandom(bytes, from, to);
}

/** Random with digits in several places: no name in camel case with a number in it. */
export function isScattered(bytes: Uint8Array, from: number, to: number): boolean {
  return looked(bytes, from, to).turns > 2 && isRandom(bytes, from, to);
}

const RANDOM_WORD_BYTES = 16;

/** One of the words in it is random. */
export function hasRandomWord(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from, start = from; at <= to; at++) {
    if (at < to && WORD[bytes[at] as number] === 1) continue;
    if (at - start >= RANDOM_WORD_BYTES && isRandom(bytes, start, at)) return true;
    start = at + 1;
  }
  return false;
}

/** Not a variable, not stars, not the mark of an earlier redaction. */
export function notPlaceholder(bytes: Uint8Array, from: number, to: number): boolean {
  return !STAND_IN.test(startOf(bytes, from, to));
}

/** What a value is told by, one character for each byte. */
export function startOf(bytes: Uint8Array, from: number, to: number): string {
  const end = Math.min(to, from + MAX_LOOKED_AT);
  let text = "";
  for (let at = from; at < end; at++) text += String.fromCharCode(bytes[at] as number);
  return text;
}

function isReference(text: string, { quoted }: ValueAbout): boolean {
  if (REFERENCE.test(text) || PLACEHOLDER.test(text) || VERSION_OR_DATE.test(text) || text.includes("://")) return true;
  return !quoted && CODE.test(text);
}

function hasTraits(length: number, traits: Traits, about: ValueAbout): boolean {
  const { letters, digits, blanks, turns, odd } = traits;
  if (letters === 0) return about.password && digits >= 6 && digits === length;
  // Words have no digits either: it takes odd characters or a case that changes too often for a name.
  if (digits === 0)
    return blanks === 0 && (turnsOften(length, traits, about) || (about.password && length >= 8 && odd > 0));
  if (about.password) return true;
  return blanks === 0 && (turns >= 2 || (length >= 16 && digits >= 3));
}

function turnsOften(length: number, { caseTurns }: Traits, { password }: ValueAbout): boolean {
  return length >= (password ? 8 : 16) && caseTurns * 3 >= length;
}

interface Traits {
  letters: number;
  capitals: number;
  digits: number;
  blanks: number;
  distinct: number;
  /** Changes between letter and digit. */
  turns: number;
  /** Changes between upper and lower case. */
  caseTurns: number;
  /** Characters that hardly stand in names, words and code. */
  odd: number;
}

const DIGITS = 1;
const UPPER = 2;
const LOWER = 3;
/** The look in which each byte was seen last: nothing to clear between looks. */
const seenIn = new Int32Array(256);
let look = 0;

function traitsOf(bytes: Uint8Array, from: number, to: number): Traits {
  let letters = 0;
  let capitals = 0;
  let digits = 0;
  let blanks = 0;
  let distinct = 0;
  let turns = 0;
  let caseTurns = 0;
  let odd = 0;
  look = (look + 1) | 0;
  let last = 0;
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number;
    if (seenIn[byte] !== look) {
      seenIn[byte] = look;
      distinct++;
    }
    if (WORD[byte] === 0 || byte === 95) {
      if (byte === 32 || byte === 9) blanks++;
      odd += ODD[byte] as number;
      continue;
    }
    const now = byte < 58 ? DIGITS : byte < 97 ? UPPER : LOWER;
    if (now === DIGITS) digits++;
    else letters++;
    if (now === UPPER) capitals++;
    if (last !== 0 && last !== now) {
      if (last === DIGITS || now === DIGITS) turns++;
      else caseTurns++;
    }
    last = now;
  }
  return { letters, capitals, digits, blanks, distinct, turns, caseTurns, odd };
}
