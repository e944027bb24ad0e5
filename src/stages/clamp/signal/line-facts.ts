import { CONCEPT, conceptFeature, conceptOf, FLAG, hashesOf, LINE_FEATURES, WAY, wordHash } from "./line-features.ts";
import { LINE_WEIGHTS } from "./weights.ts";

// What bytes are to a line, and small looks at them.

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

/** Past a date or time of day that a log puts before each line: alone, in brackets (`[task 2024-05-01T10:00:00Z]`), with a month's name, or in seconds since 1970. */
export function pastTimestamp(bytes: Uint8Array, start: number, stop: number): number {
  if (bytes[start] === 91) {
    const closed = pastStampedBracket(bytes, start, stop);
    if (closed > start) return closed;
  }
  if (CLASS[bytes[start] as number] === UPPER && bytes[start + 3] === 32) return pastMonth(bytes, start, stop);
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
  if (colons < 2 || at - start < 8) return pastUnixTime(bytes, start, stop);
  return pastBar(bytes, bracket === 1 && bytes[at] === 93 ? at + 1 : at, stop);
}

/** Past the mark that parts a time from the text: ` | `. */
function pastBar(bytes: Uint8Array, at: number, stop: number): number {
  return at + 2 < stop && bytes[at] === 32 && bytes[at + 1] === 124 && bytes[at + 2] === 32 ? at + 2 : at;
}

/** `1120972565` or `1286536308.779`: seconds or milliseconds since 1970, as servers, proxies and kernels write them. */
function pastUnixTime(bytes: Uint8Array, start: number, stop: number): number {
  let at = start;
  while (at < stop && CLASS[bytes[at] as number] === DIGIT) at++;
  if (bytes[start] !== 49 || (at - start !== 10 && at - start !== 13)) return start;
  if (bytes[at] === 46)
    do at++;
    while (at < stop && CLASS[bytes[at] as number] === DIGIT);
  // A number that stands alone is the line's text.
  return at < stop && bytes[at] === 32 ? at : start;
}

const MONTHS = new Set("JanFebMarAprMayJunJulAugSepOctNovDec".match(/.../g));
const LONGEST_BRACKET = 48;

/** `[task 2024-05-01T10:00:00Z]`: brackets with a word or none, and a time. */
function pastStampedBracket(bytes: Uint8Array, start: number, stop: number): number {
  let colons = 0;
  for (let at = start + 1; at < stop && at < start + LONGEST_BRACKET; at++) {
    const byte = bytes[at] as number;
    if (byte === 58 && CLASS[bytes[at - 1] as number] === DIGIT && CLASS[bytes[at + 1] as number] === DIGIT) colons++;
    if (byte === 93) return colons === 2 ? at + 1 : start;
  }
  return start;
}

/** `Jun  3 15:42:50`, as the system's log has it. */
function pastMonth(bytes: Uint8Array, start: number, stop: number): number {
  const name = String.fromCharCode(bytes[start] as number, bytes[start + 1] as number, bytes[start + 2] as number);
  if (!MONTHS.has(name)) return start;
  let at = start + 3;
  while (at < stop && at < start + 10 && (bytes[at] === 32 || CLASS[bytes[at] as number] === DIGIT)) at++;
  // The hour was read with the day.
  const from = bytes[at - 3] === 32 ? at - 2 : at;
  const end = bytes[at] === 58 ? pastTimestamp(bytes, from, stop) : start;
  return end > from ? end : start;
}

const LEVELS = hashesOf("trace debug info notice warn warning error fatal critical severe");

/** Past a level and the mark behind it, which a log puts after the time: `INFO - `. */
export function pastLevel(bytes: Uint8Array, start: number, stop: number): number {
  let at = start;
  while (at < stop && at < start + 9 && CLASS[bytes[at] as number] === UPPER) at++;
  if (at - start < 4 || (at < stop && bytes[at] !== 32 && bytes[at] !== 58)) return start;
  if (!LEVELS.has(wordHash(bytes, start, at))) return start;
  if (bytes[at] === 58) return at + 1;
  let to = at;
  while (to < stop && bytes[to] === 32) to++;
  const isMark = bytes[to] === 45 || bytes[to] === 124 || bytes[to] === 58;
  return isMark && bytes[to + 1] === 32 ? to + 1 : at;
}

/** Past a word in brackets that a log puts before each line: `[info] `. */
export function pastTag(bytes: Uint8Array, start: number, stop: number): number {
  if (bytes[start] !== 91) return start;
  let at = start + 1;
  while (at < stop && at < start + 9 && ((bytes[at] as number) | 32) >= 97 && ((bytes[at] as number) | 32) <= 122) at++;
  if (at - start < 4 || at >= stop || bytes[at] !== 93) return start;
  return at + 1 === stop || bytes[at + 1] === 32 || bytes[at + 1] === 9 ? at + 1 : start;
}

const LONGEST_NAME = 80;

/**
 * Past what says whose line it is where several write into one output: `web-1  | `, `[pod/web/app] `, `host app[4711]: `, and
 * BuildKit's `#12 3.401 `.
 */
export function pastSource(bytes: Uint8Array, start: number, stop: number): number {
  if (bytes[start] === 35) return pastStep(bytes, start, stop);
  const isBracket = bytes[start] === 91;
  const from = isBracket ? start + 1 : start;
  if (CLASS[bytes[from] as number] !== LOWER) return start;
  const end = pastName(bytes, from, stop);
  let at = end;
  while (at < stop && bytes[at] === 32) at++;
  if (!isBracket && bytes[at] !== 124)
    return at === end ? start : pastProcess(bytes, pastName(bytes, at, stop), stop, start);
  const isClosed = isBracket ? bytes[end] === 93 : at > end;
  // A word that tells something is the line's own.
  const isName = conceptOf(wordHash(bytes, from, end)) === -1;
  return isName && isClosed && isBlankAt(bytes, at + 1, stop) ? at + 1 : start;
}

function pastName(bytes: Uint8Array, start: number, stop: number): number {
  let at = start;
  while (at < stop && at < start + LONGEST_NAME && isNamePart(bytes[at] as number)) at++;
  return at;
}

/** Past the number of a process after its name, else `start`. */
function pastProcess(bytes: Uint8Array, from: number, stop: number, start: number): number {
  let at = from + 1;
  while (at < stop && CLASS[bytes[at] as number] === DIGIT) at++;
  const isNumber = bytes[from] === 91 && at > from + 1 && bytes[at] === 93 && bytes[at + 1] === 58;
  return isNumber && isBlankAt(bytes, at + 2, stop) ? at + 2 : start;
}

/** `#12 3.401 `: a step and its seconds. */
function pastStep(bytes: Uint8Array, start: number, stop: number): number {
  let at = start;
  for (const mark of [32, 46, 32]) {
    const from = ++at;
    while (at < stop && CLASS[bytes[at] as number] === DIGIT) at++;
    if (at === from || at >= stop || bytes[at] !== mark) return start;
  }
  return at;
}

function isNamePart(byte: number): boolean {
  const kind = CLASS[byte];
  return kind === LOWER || kind === DIGIT || byte === 45 || byte === 46 || byte === 47 || byte === 95;
}

function isBlankAt(bytes: Uint8Array, at: number, stop: number): boolean {
  return at >= stop || bytes[at] === 32 || bytes[at] === 9;
}

const MOST_FEATURES = 160;
/** Beside a word of one of these a level says nothing. */
const FAILING = [CONCEPT.error, CONCEPT.fail, CONCEPT.fatal, CONCEPT.panic, CONCEPT.exception];

/** True for a concept that tells of a failure by itself. */
export function isFailing(concept: number): boolean {
  return FAILING.includes(concept);
}

/** What one line is like. One object serves line after line. */
export class LineFacts {
  /** Sum of the weights of its features. */
  score = 0;
  /** Its features, `count` of them, once they are asked for. */
  features = new Uint16Array(0);
  count = 0;
  blank = false;
  /** So many bytes stand before its text: what a log puts there, such as a time. */
  prefix = 0;
  /** Has bytes that are not ASCII. */
  wide = false;
  indent = 0;
  /** Hash of its shape, and of the shape of its start. */
  shape = 0;
  startShape = 0;
  /** Hash of its first two tokens; one with a number or a path in it is like any other such. */
  sort = 0;
  /** Hash of its text. */
  textHash = 0;
  /** Hash of its words, without numbers and names. */
  template = 0;
  /** A time stands before it. */
  isStamped = false;
  /** Ends a step that failed (1) or went well (2). */
  exit = 0;
  isFrame = false;
  isHeader = false;
  isCommand = false;
  /** Has a word for a warning, or is an element of a report that tells of one. */
  isWarning = false;
  /** Says that something failed. */
  tellsFailure = false;
  /** Its first word, or a word in its first name, is one for a failure. */
  isVerdict = false;
  /** The concept of its first word, or -1. */
  firstConcept = -1;
  /** How many letters and digits it has. */
  alphanumeric = 0;
  #stamps = new Uint32Array(LINE_FEATURES);
  #stamp = 0;
  #infoWays = 0;

  /** From now on says which features a line has. */
  record(): void {
    this.features = new Uint16Array(MOST_FEATURES);
  }

  /** Adds a feature once. */
  put(feature: number): void {
    if (this.#stamps[feature] === this.#stamp) return;
    this.#stamps[feature] = this.#stamp;
    this.score += LINE_WEIGHTS[feature] as number;
    if (this.count < this.features.length) this.features[this.count++] = feature;
  }

  /** Adds a feature that nothing else adds, and that nobody asks for with `has`. */
  putNew(feature: number): void {
    this.score += LINE_WEIGHTS[feature] as number;
    if (this.count < this.features.length) this.features[this.count++] = feature;
  }

  /** Adds that a concept is there in a way. A level waits: beside a word that tells of a failure it says nothing. */
  putConcept(concept: number, way: number): void {
    if (concept === CONCEPT.info) this.#infoWays |= 1 << way;
    else this.put(conceptFeature(concept, way));
  }

  #putInfo(): void {
    if (this.#infoWays === 0 || this.#isFailing()) return;
    for (let rest = this.#infoWays; rest !== 0; rest &= rest - 1)
      this.put(conceptFeature(CONCEPT.info, 31 - Math.clz32(rest & -rest)));
  }

  /** True if a word for a failure stands on the line by itself or in a name. */
  #isFailing(): boolean {
    for (const concept of FAILING)
      if (this.#isPlain(concept) || this.has(conceptFeature(concept, WAY.part))) return true;
    return false;
  }

  has(feature: number): boolean {
    return this.#stamps[feature] === this.#stamp;
  }

  /** Forgets the line before. */
  begin(): void {
    this.score = 0;
    this.count = 0;
    this.blank = false;
    this.prefix = 0;
    this.wide = false;
    this.indent = 0;
    this.exit = 0;
    this.firstConcept = -1;
    this.isFrame = this.isHeader = this.isCommand = this.isWarning = this.tellsFailure = this.isVerdict = false;
    this.#stamp++;
    this.#infoWays = 0;
  }

  /** What the line bytes[start, stop) tells by its edges, and by all that was found on it. `last` is its last byte. */
  lookAtEdges(bytes: Uint8Array, start: number, stop: number, last: number): void {
    this.#putInfo();
    this.#lookAtStart(bytes, start, stop, last);
    this.#lookForNumber(bytes, start, stop);
    this.#lookForFrame(bytes, start, stop);
    this.#lookForExit();
    // In XML the element's name tells, and not a word in its attributes.
    this.isWarning = isElement(bytes, start) ? isFinding(bytes, start + 1, stop) : this.#isPlain(CONCEPT.warn);
    const cross = this.has(FLAG.cross);
    if (cross) this.tellsFailure = true;
    this.isHeader =
      cross ||
      this.has(conceptFeature(CONCEPT.fail, WAY.caps)) ||
      this.has(FLAG["numbered )"]) ||
      (last === 58 && (this.#isPlain(CONCEPT.fail) || this.#isPlain(CONCEPT.error)));
    if (this.isHeader) this.put(FLAG["failure header"]);
  }

  /** A rule, a gutter, a prompt, a tag. */
  #lookAtStart(bytes: Uint8Array, start: number, stop: number, last: number): void {
    const first = bytes[start] as number;
    const second = start + 1 < stop ? (bytes[start + 1] as number) : 32;
    const isSpaced = second === 32 || second === 9;
    if (this.alphanumeric === 0 && stop - start >= 3) this.put(isCaret(first, last) ? FLAG.caret : FLAG.rule);
    else if (stop - start >= 8 && first === second && isRule(first)) this.put(FLAG.rule);
    if (last === 58) this.put(FLAG["colon end"]);
    switch (first) {
      case 43:
        if (!isSpaced) this.put(FLAG.plus);
        else if (second === 32) this.put(FLAG.prompt);
        break;
      case 45:
        if (second !== 45) this.put(FLAG.minus);
        break;
      case 69:
        if (isSpaced && (start + 2 >= stop || bytes[start + 2] === 32)) this.put(FLAG["gutter E"]);
        break;
      case 62:
        if (isSpaced) this.put(FLAG["gutter >"]);
        break;
      case 124:
        this.put(FLAG["gutter |"]);
        break;
      case 91:
        this.put(FLAG.tag);
        break;
      case 36:
        if (isSpaced) this.put(FLAG.prompt);
        this.isCommand = isSpaced;
        break;
    }
  }

  /** `3) ` or `3. ` before the text. */
  #lookForNumber(bytes: Uint8Array, start: number, stop: number): void {
    let to = start;
    while (to < stop && CLASS[bytes[to] as number] === DIGIT) to++;
    if (to === start || to - start > 3) return;
    if (bytes[to] === 41) this.put(FLAG["numbered )"]);
    else if (bytes[to] === 46 && bytes[to + 1] === 32) this.put(FLAG["numbered ."]);
  }

  /** A frame of a stack trace. */
  #lookForFrame(bytes: Uint8Array, start: number, stop: number): void {
    const second = start + 1 < stop ? (bytes[start + 1] as number) : 32;
    this.isFrame =
      (this.firstConcept === CONCEPT.at && second === 116) ||
      (this.firstConcept === CONCEPT.file && this.has(FLAG.quote) && this.has(FLAG["file:line"])) ||
      (bytes[start] === 35 && CLASS[second] === DIGIT) ||
      isAddressFrame(bytes, start, stop);
    if (this.isFrame) this.put(FLAG.frame);
  }

  /** How a step ended: by an exit code that was found on the line, or by the words of `make` and other builders. */
  #lookForExit(): void {
    if (this.exit === 0) {
      const isMake =
        this.firstConcept === CONCEPT.make &&
        (this.has(FLAG.stars) || this.has(conceptFeature(CONCEPT.error, WAY.called)));
      if (isMake || (this.#isPlain(CONCEPT.build) && this.has(conceptFeature(CONCEPT.fail, WAY.caps)))) this.exit = 1;
    }
    if (this.exit === 1) {
      this.put(FLAG["exit non-zero"]);
      this.tellsFailure = true;
    } else if (this.exit === 2) this.put(FLAG["exit zero"]);
  }

  #isPlain(concept: number): boolean {
    return this.has(conceptFeature(concept, WAY.plain));
  }

  /** What the punctuation mark at `at` tells; `previous` is the byte before it. */
  lookAtMark(bytes: Uint8Array, at: number, stop: number, previous: number): void {
    const next = at + 1 < stop ? (bytes[at + 1] as number) : 32;
    const before = CLASS[previous] as number;
    const after = CLASS[next] as number;
    switch (bytes[at]) {
      case 37:
        if (before === DIGIT) this.put(FLAG.percent);
        break;
      case 58:
        if (previous === 58) this.put(FLAG["::"]);
        else if (hasSlashes(bytes, at + 1, stop)) this.put(FLAG.url);
        break;
      case 42:
        if (previous === 42 && next === 42) this.put(FLAG.stars);
        break;
      case 34:
      case 39:
        this.put(FLAG.quote);
        break;
      case 96:
        this.put(FLAG.backtick);
        break;
      case 62:
        if (previous === 45 || previous === 61) this.put(FLAG.arrow);
        break;
      case 40:
        if (isLetter(before)) this.put(FLAG.call);
        break;
      case 61:
        if (previous !== 61) this.put(FLAG["="]);
        break;
      case 47:
        if (before === LOWER && after === LOWER) this.put(FLAG.path);
        break;
      case 46:
        if (before === LOWER && isLetter(after)) this.put(FLAG.dotted);
        break;
    }
  }
}

function hasSlashes(bytes: Uint8Array, at: number, stop: number): boolean {
  return at + 1 < stop && bytes[at] === 47 && bytes[at + 1] === 47;
}

function isLetter(kind: number): boolean {
  return kind === LOWER || kind === UPPER;
}

const FINDINGS = hashesOf(
  "error warning failure problem message msg issue violation defect finding bug buginstance longmessage shortmessage",
);

function isElement(bytes: Uint8Array, start: number): boolean {
  return bytes[start] === 60 && isLetter(CLASS[bytes[start + 1] as number] as number);
}

/** True for an element of a report in XML that is called by what it tells: `<problem>`. */
function isFinding(bytes: Uint8Array, start: number, stop: number): boolean {
  let at = start;
  while (at < stop && isLetter(CLASS[bytes[at] as number] as number)) at++;
  return FINDINGS.has(wordHash(bytes, start, at));
}

/** True for a line of marks that points at something above it. */
function isCaret(first: number, last: number): boolean {
  return first === 94 || first === 126 || last === 94;
}

/** True for what rules are made of: = - * # */
function isRule(byte: number): boolean {
  return byte === 61 || byte === 45 || byte === 42 || byte === 35;
}

/** `#3 0x4fb97b in ...` behind a few marks that a tool puts before each line. */
function isAddressFrame(bytes: Uint8Array, start: number, stop: number): boolean {
  let at = start;
  while (at < stop && at < start + 10 && CLASS[bytes[at] as number] !== LOWER && bytes[at] !== 35) at++;
  if (bytes[at] !== 35 || CLASS[bytes[at + 1] as number] !== DIGIT) return false;
  do at++;
  while (at < stop && CLASS[bytes[at] as number] === DIGIT);
  return bytes[at] === 32 && bytes[at + 1] === 48 && bytes[at + 2] === 120;
}
