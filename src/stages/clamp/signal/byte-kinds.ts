// What bytes are to a line, and small looks at them.

export const OTHER = 0;
export const LOWER = 1;
export const UPPER = 2;
export const DIGIT = 3;
export const BLANK = 4;
export const HIGH = 5;
export const ESCAPE = 6;
export const CLASS = new Uint8Array(256);
for (let byte = 0; byte < 256; byte++) {
  if (byte >= 97 && byte <= 122) CLASS[byte] = LOWER;
  else if (byte >= 65 && byte <= 90) CLASS[byte] = UPPER;
  else if (byte >= 48 && byte <= 57) CLASS[byte] = DIGIT;
  else if (byte === 27) CLASS[byte] = ESCAPE;
  else if (byte <= 32 || byte === 127) CLASS[byte] = BLANK;
  else if (byte >= 128) CLASS[byte] = HIGH;
}
/** What a line begins or ends with: letters, digits and each mark of its own. */
export const EDGE = new Uint8Array(256);
{
  const marks = "[](){}<>'\"`-+*|$#=~^/.:,;!?%@\\_&";
  for (let byte = 0; byte < 256; byte++) {
    const kind = CLASS[byte];
    EDGE[byte] = kind === LOWER ? 1 : kind === UPPER ? 2 : kind === DIGIT ? 3 : kind === HIGH ? 4 : 0;
  }
  for (let at = 0; at < marks.length; at++) EDGE[marks.charCodeAt(at)] = Math.min(31, 5 + at);
}

export function onlyJoints(bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from > 4 || to === from) return false;
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number;
    if (byte !== 32 && byte !== 58 && byte !== 61 && byte !== 35 && byte !== 9) return false;
  }
  return true;
}

export function lengthBin(length: number): number {
  if (length < 20) return length < 5 ? 0 : length < 10 ? 1 : 2;
  if (length < 80) return length < 40 ? 3 : length < 60 ? 4 : 5;
  return length < 120 ? 6 : length < 200 ? 7 : length < 400 ? 8 : 9;
}

export function shareBin(part: number, whole: number): number {
  if (part === 0) return 0;
  const share = part / whole;
  return share < 0.06 ? 1 : share < 0.16 ? 2 : share < 0.35 ? 3 : 4;
}

/** 1 for a cross, 2 for a tick, else 0. All of them stand in the block U+2700, but one. */
export function highMark(bytes: Uint8Array, at: number, stop: number): number {
  const byte = bytes[at];
  if (at + 2 >= stop) return 0;
  if (byte === 0xe2 && bytes[at + 1] === 0x9c) {
    const third = bytes[at + 2] as number;
    if (third >= 0x95 && third <= 0x98) return 1;
    if (third === 0x93 || third === 0x94 || third === 0x85) return 2;
  }
  if (byte === 0xe2 && bytes[at + 1] === 0x9d && bytes[at + 2] === 0x8c) return 1;
  // The black circle of Erlang, jest and others.
  return byte === 0xe2 && bytes[at + 1] === 0x97 && bytes[at + 2] === 0x8f ? 1 : 0;
}

/** Past a terminal code. */
export function pastEscape(bytes: Uint8Array, at: number, stop: number): number {
  let to = at + 1;
  if (to < stop && bytes[to] === 91) {
    to++;
    while (to < stop && (bytes[to] as number) < 64) to++;
  }
  return to + 1;
}

/** Past a date or time of day that a log puts before each line. */
export function pastTimestamp(bytes: Uint8Array, start: number, stop: number): number {
  const bracket = bytes[start] === 91 ? 1 : 0;
  if (CLASS[bytes[start + bracket] as number] !== DIGIT) return start;
  let colons = 0;
  let dashes = 0;
  let at = start + bracket;
  for (; at < stop && at < start + 36; at++) {
    const byte = bytes[at] as number;
    if (byte === 58) colons++;
    else if (byte === 45 || byte === 47) dashes++;
    else if (CLASS[byte] !== DIGIT && byte !== 46 && byte !== 44 && byte !== 84 && byte !== 90 && byte !== 43) {
      if (byte !== 32 || dashes < 2 || colons > 0) break;
    }
  }
  if (colons < 2 || at - start < 8) return start;
  return bracket === 1 && bytes[at] === 93 ? at + 1 : at;
}

/** Past a word in brackets that a log puts before each line: `[info] `. */
export function pastTag(bytes: Uint8Array, start: number, stop: number): number {
  if (bytes[start] !== 91) return start;
  let at = start + 1;
  while (at < stop && at < start + 9 && ((bytes[at] as number) | 32) >= 97 && ((bytes[at] as number) | 32) <= 122) at++;
  if (at - start < 4 || at >= stop || bytes[at] !== 93) return start;
  return at + 1 === stop || bytes[at + 1] === 32 || bytes[at + 1] === 9 ? at + 1 : start;
}
