import { WORD } from "./byte-set.ts";

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
const ODD = /[!#$%&*+=?@^~|]/;

/** Whether a value assigned to a name such as `password` or `token` is one, not a placeholder, a variable or code. */
export function likelySecret(bytes: Uint8Array, from: number, to: number, about: ValueAbout): boolean {
  const length = to - from;
  if (length < (about.password ? 6 : 10)) return false;
  const end = Math.min(to, from + MAX_LOOKED_AT);
  const traits = traitsOf(bytes, from, end);
  if (traits.distinct < 5 || traits.blanks > 2 || traits.letters + traits.digits === 0) return false;
  let text = "";
  for (let at = from; at < end; at++) text += String.fromCharCode(bytes[at] as number);
  return hasTraits(text, traits, about) && !isReference(text, about);
}

function isReference(text: string, { quoted }: ValueAbout): boolean {
  if (REFERENCE.test(text) || PLACEHOLDER.test(text) || VERSION_OR_DATE.test(text) || text.includes("://")) return true;
  return !quoted && CODE.test(text);
}

function hasTraits(text: string, traits: Traits, about: ValueAbout): boolean {
  if (traits.letters === 0) return about.password && traits.digits >= 6 && traits.digits === text.length;
  if (traits.digits === 0) return withoutDigits(text, traits, about);
  if (about.password) return true;
  return traits.blanks === 0 && (traits.turns >= 2 || (text.length >= 16 && traits.digits >= 3));
}

interface Traits {
  letters: number;
  digits: number;
  blanks: number;
  distinct: number;
  /** Changes between letter and digit. */
  turns: number;
  /** Changes between upper and lower case. */
  caseTurns: number;
}

const DIGITS = 1;
const UPPER = 2;
const LOWER = 3;
/** The look in which each byte was seen last: nothing to clear between looks. */
const seenIn = new Int32Array(256);
let look = 0;

function traitsOf(bytes: Uint8Array, from: number, to: number): Traits {
  const traits: Traits = { letters: 0, digits: 0, blanks: 0, distinct: 0, turns: 0, caseTurns: 0 };
  look = (look + 1) | 0;
  let last = 0;
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number;
    if (seenIn[byte] !== look) traits.distinct++;
    seenIn[byte] = look;
    if (byte === 32 || byte === 9) traits.blanks++;
    if (WORD[byte] === 0 || byte === 95) continue;
    const now = byte < 58 ? DIGITS : byte < 97 ? UPPER : LOWER;
    if (now === DIGITS) traits.digits++;
    else traits.letters++;
    if (last !== 0 && last !== now) {
      if (last === DIGITS || now === DIGITS) traits.turns++;
      else traits.caseTurns++;
    }
    last = now;
  }
  return traits;
}

// Words have no digits either: it takes odd characters or a case that changes too often for a name.
function withoutDigits(text: string, { caseTurns, blanks }: Traits, { password, quoted }: ValueAbout): boolean {
  if (blanks > 0) return false;
  if (text.length >= (password ? 8 : 16) && caseTurns * 3 >= text.length) return true;
  return password && text.length >= 8 && ODD.test(text) && (quoted || !LETTERS_PATH.test(text)) && !/[(){}]/.test(text);
}
