import {
  BLANK,
  CLASS,
  DIGIT,
  EDGE,
  ESCAPE,
  HIGH,
  highMark,
  isFailing,
  LineFacts,
  LOWER,
  lengthBin,
  onlyJoints,
  pastEscape,
  pastLevel,
  pastSource,
  pastTag,
  pastTimestamp,
  shareBin,
  UPPER,
} from "./line-facts.ts";
import {
  addLetter,
  BASE,
  CONCEPT,
  conceptFeature,
  conceptOf,
  FLAG,
  hashesOf,
  WAY,
  WORD_SEED,
  wordHash,
} from "./line-features.ts";

/** Beyond this a line's text tells nothing new about it. */
const MAX_SCANNED = 400;

/** A number after one of these says how a step ended; between the two only some words may stand. */
const EXITS = hashesOf("exit exited exits exiting exitcode returncode");
const EXIT_JOINTS = hashesOf("with code status error value a non zero was is of");

/** "t" of "can't": the only letter that is a word. */
const T_HASH = addLetter(WORD_SEED, 116);

/** Looks at lines, one after another. */
export class LineScan extends LineFacts {
  /** Looks at bytes[start, end): a line without its break. */
  scan(bytes: Uint8Array, start: number, end: number): void {
    this.begin();
    let last = end;
    while (last > start && CLASS[bytes[last - 1] as number] === BLANK) last--;
    let at = start;
    let indent = 0;
    for (; at < last; at++) {
      const byte = bytes[at] as number;
      if (byte === 32) indent++;
      else if (byte === 9) indent += 4;
      else if (byte === 27) at = pastEscape(bytes, at, last) - 1;
      else if (CLASS[byte] !== BLANK) break;
    }
    if (at >= last) {
      this.blank = true;
      this.shape = this.startShape = this.sort = this.textHash = this.template = 0;
      return;
    }
    let tag = 0;
    let isStamped = false;
    // What a log puts before each line tells nothing of the line, but for its level.
    for (let round = 0; round < MOST_PREFIXES; round++) {
      const stamped = pastTimestamp(bytes, at, last);
      const tagged = stamped > at ? at : pastTag(bytes, at, last);
      const leveled = stamped > at || tagged > at || !isStamped ? at : pastLevel(bytes, at, last);
      const known = Math.max(stamped, tagged, leveled);
      const to = known > at ? known : pastSource(bytes, at, last);
      if (to === at) break;
      isStamped ||= stamped > at;
      if (tagged > at) {
        tag = wordHash(bytes, at + 1, tagged - 1);
        this.#tag(tag, bytes[at + 1] as number);
      } else if (leveled > at) {
        const end = endOfWord(bytes, at, leveled);
        tag = wordHash(bytes, at, end);
        this.#tag(tag, bytes[at] as number);
      } else if (to > known && bytes[at] !== 35) tag = wordHash(bytes, at, to);
      // A level that tells of no failure is told with the text.
      if (conceptOf(tag) !== CONCEPT.info) this.prefix = to - start;
      indent = countBlanks(bytes, to, last);
      at = to + indent;
    }
    if (at >= last) {
      this.blank = true;
      this.shape = this.startShape = this.sort = this.textHash = this.template = 0;
      return;
    }
    this.indent = indent;
    this.#walk(bytes, at, last, indent);
    this.isStamped = isStamped;
    // With another tag, or without one, it is another line: what a tool first prints and then logs again is no copy.
    this.textHash ^= tag;
  }

  /** A tag before the text: the text is looked at as if it stood alone. */
  #tag(hash: number, first: number): void {
    this.put(FLAG.tag);
    const number = conceptOf(hash);
    if (number === -1) return;
    this.putConcept(number, WAY.plain);
    this.putConcept(number, WAY.first);
    if (CLASS[first] === UPPER) this.putConcept(number, WAY.caps);
  }

  #walk(bytes: Uint8Array, start: number, end: number, indent: number): void {
    const stop = Math.min(end, start + MAX_SCANNED);
    const first = bytes[start] as number;
    let digits = 0;
    let uppers = 0;
    let letters = 0;
    let marks = 0;
    let words = 0;
    let shape = 0x811c9dc5 | 0;
    let numbers = 0;
    let startShape = 0;
    let sort = 0;
    let tokens = 0;
    let named = 0; // tokens with a word in them
    // Words of a token are told apart, and so are tokens; one with a number or a path in it is like any other such.
    let template = 0x811c9dc5 | 0;
    let token = 0;
    let isMasked = false;
    let previous = 32;
    let isPart = false;
    let lastConcept = -1;
    let lastConceptEnd = -1;
    let afterNumber = 0; // 1 zero, 2 other: the last number with only blanks since
    let negated = false;
    let extensionEnd = -1;
    let exitAt = -1;
    let at = start;
    while (at < stop) {
      const byte = bytes[at] as number;
      const kind = CLASS[byte] as number;
      if (kind === ESCAPE) {
        at = pastEscape(bytes, at, stop);
        continue;
      }
      if (kind === LOWER || kind === UPPER) {
        const wordStart = at;
        let hash = WORD_SEED;
        let wordUppers = 0;
        let next = byte;
        if (kind === UPPER) {
          do {
            wordUppers++;
            hash = addLetter(hash, next | 32);
            next = ++at < stop ? (bytes[at] as number) : 32;
          } while (next >= 65 && next <= 90);
        }
        while (next >= 97 && next <= 122) {
          hash = addLetter(hash, next);
          next = ++at < stop ? (bytes[at] as number) : 32;
        }
        const wordLength = at - wordStart;
        shape = Math.imul(shape ^ hash, 0x01000193);
        token = Math.imul(token ^ hash, 0x01000193);
        letters += wordLength;
        uppers += wordUppers;
        words++;
        const splits = next >= 65 && next <= 90;
        const number = wordLength > 1 || hash === T_HASH ? conceptOf(hash) : -1;
        if (number !== -1) {
          const base = conceptFeature(number, 0);
          if (
            previous === 47 ||
            previous === 46 ||
            previous === 92 ||
            next === 47 ||
            next === 92 ||
            (next === 46 && at + 1 < stop && CLASS[bytes[at + 1] as number] === LOWER)
          )
            this.put(base + WAY.path);
          else if (isPart || splits || previous === 95 || next === 95) {
            // The first name on a line is often a verdict: TestUnexpectedFail, CASE_FAILED.
            this.put(base + WAY.part);
            if (named === 0 && tellsVerdict(number, negated)) this.isVerdict = true;
          } else {
            this.putConcept(number, WAY.plain);
            if (wordUppers === wordLength) {
              this.putConcept(number, WAY.caps);
              if (number === CONCEPT.fail) this.tellsFailure = true;
            }
            if (named <= (negated ? 1 : 0) && tellsVerdict(number, negated)) this.isVerdict = true;
            if (next === 58 || next === 33) this.putConcept(number, WAY.called);
            if (words === 1) {
              this.putConcept(number, WAY.first);
              this.firstConcept = number;
            }
            if (afterNumber === 2) {
              this.put(base + WAY.some);
              if (number === CONCEPT.fail || number === CONCEPT.error) this.tellsFailure = true;
            } else if (afterNumber === 1) this.put(base + WAY.zero);
            if (negated) this.put(base + WAY.negated);
            if (number === CONCEPT.exit && EXITS.has(hash)) exitAt = at;
          }
          lastConcept = number;
          lastConceptEnd = at;
        }
        if (exitAt !== -1 && exitAt !== at && !EXIT_JOINTS.has(hash)) exitAt = -1;
        negated = number === CONCEPT.not;
        if (previous === 46 && wordLength <= 5) extensionEnd = at;
        afterNumber = 0;
        isPart = splits;
        previous = 97;
        continue;
      }
      isPart = false;
      if (kind === DIGIT) {
        shape = Math.imul(shape ^ 48, 0x01000193);
        // The whole number at once.
        let value = 0;
        let to = at;
        while (to < stop && CLASS[bytes[to] as number] === DIGIT)
          value = Math.min(9999, value * 10 + (bytes[to++] as number) - 48);
        if ((previous === 58 || previous === 40) && extensionEnd === at - 1) this.put(FLAG["file:line"]);
        numbers = (Math.imul(numbers, 31) + value) | 0;
        const zero = value === 0;
        if (lastConcept !== -1 && onlyJoints(bytes, lastConceptEnd, at)) {
          this.put(conceptFeature(lastConcept, zero ? WAY["then zero"] : WAY["then some"]));
          if (
            !zero &&
            (lastConcept === CONCEPT.fail || (lastConcept === CONCEPT.error && bytes[lastConceptEnd] !== 32))
          )
            this.tellsFailure = true;
          if (lastConcept === CONCEPT.line && !zero) this.put(FLAG["file:line"]);
        }
        if (exitAt !== -1 && at - exitAt < 24) {
          const next = to < stop ? (bytes[to] as number) : 32;
          if (CLASS[next] !== LOWER && CLASS[next] !== UPPER) {
            this.exit = zero ? 2 : 1;
            exitAt = -1;
          }
        }
        afterNumber = CLASS[previous] === LOWER || previous === 46 ? 0 : zero ? 1 : 2;
        digits += to - at;
        at = to - 1;
        isMasked = true;
      } else if (kind === BLANK) {
        if (previous !== 32) {
          template = Math.imul(template ^ (isMasked ? 35 : token), 0x01000193);
          if (token !== 0) named++;
          token = 0;
          isMasked = false;
          shape = Math.imul(shape ^ 32, 0x01000193);
          if (++tokens === 2) {
            startShape = shape;
            sort = template;
          }
        }
      } else {
        if (kind === HIGH) {
          this.wide = true;
          const wide = highMark(bytes, at, stop);
          if (wide === 1) this.put(FLAG.cross);
          else if (wide === 2) this.put(FLAG.tick);
        } else {
          marks++;
          if (byte === 47) isMasked = true;
          if (byte !== 40) afterNumber = 0;
          this.lookAtMark(bytes, at, stop, previous);
        }
        shape = Math.imul(shape ^ byte, 0x01000193);
      }
      previous = kind === BLANK ? 32 : byte;
      at++;
    }
    for (let rest = stop; rest < end && !this.wide; rest++) this.wide = (bytes[rest] as number) >= 0x80;
    this.shape = shape;
    this.template = Math.imul(template ^ (isMasked ? 35 : token), 0x01000193);
    this.startShape = tokens >= 2 ? startShape : shape;
    this.sort = tokens >= 2 ? sort : this.template;
    this.textHash = shape ^ Math.imul(numbers, 0x9e3779b1) ^ (end - start);
    const length = end - start;
    const lastByte = bytes[end - 1] as number;
    this.alphanumeric = letters + digits;
    this.lookAtEdges(bytes, start, stop, lastByte);
    const scanned = stop - start;
    this.putNew(
      BASE.indent + (indent === 0 ? 0 : indent < 3 ? 1 : indent < 5 ? 2 : indent < 9 ? 3 : indent < 17 ? 4 : 5),
    );
    this.putNew(BASE.length + lengthBin(length));
    this.putNew(BASE.digits + shareBin(digits, scanned));
    this.putNew(BASE.capitals + shareBin(uppers, letters));
    this.putNew(BASE.marks + shareBin(marks, scanned));
    this.putNew(BASE.words + (words < 3 ? words : words < 5 ? 3 : words < 9 ? 4 : words < 16 ? 5 : 6));
    this.putNew(BASE.first + (EDGE[first] as number));
    this.putNew(BASE.last + (EDGE[lastByte] as number));
  }
}

/** True for a word that says that something failed: by itself, or `ok` after `not`. */
function tellsVerdict(concept: number, negated: boolean): boolean {
  return negated ? concept === CONCEPT.pass : isFailing(concept);
}

/** A log puts no more than so many things before a line. */
const MOST_PREFIXES = 5;

function endOfWord(bytes: Uint8Array, start: number, stop: number): number {
  let at = start;
  while (at < stop && CLASS[bytes[at] as number] === UPPER) at++;
  return at;
}

function countBlanks(bytes: Uint8Array, start: number, stop: number): number {
  let at = start;
  while (at < stop && (bytes[at] === 32 || bytes[at] === 9)) at++;
  return at - start;
}
