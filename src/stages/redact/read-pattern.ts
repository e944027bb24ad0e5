import { ANY, anyCase, BLANK, type ByteSet, byteSet, DIGIT, outside, WORD } from "./byte-set.ts";

/** What stands once in a pattern: a byte, a group with the ways it can go, or a place such as `\b`. */
export type Atom =
  | { kind: "byte"; set: ByteSet }
  | { kind: "group"; ways: Part[][]; captures: boolean }
  | { kind: "place"; sign: "\\b" | "^" | "$" };

/** An atom and how often it may stand one after another; `max` is Infinity where there is no end. */
export interface Part {
  atom: Atom;
  min: number;
  max: number;
}

/** The most a count may say: `{n,m}`. */
const MAX_COUNT = 4096;
const CLASSES: Record<string, ByteSet> = {
  d: DIGIT,
  D: outside(DIGIT),
  w: WORD,
  W: outside(WORD),
  s: BLANK,
  S: outside(BLANK),
};
const CONTROLS: Record<string, number> = { t: 9, n: 10, v: 11, f: 12, r: 13, e: 27 };
const NO_BYTES: ByteSet = new Uint8Array(256);
const NO_BREAK = "a line break is not supported: a pattern matches within one line";

/**
 * Reads a regular expression over bytes into the ways it can go; what may be matched in linear time is for the caller to
 * say. Throws an Error that says what is wrong: lookaround, back-references and lazy counts are refused here.
 */
export function readPattern(pattern: string, ignoreCase: boolean): Part[][] {
  const reader = new Reader(pattern, ignoreCase);
  const ways = reader.choice();
  if (reader.at < pattern.length) throw new Error(`")" at ${reader.at} closes nothing`);
  return ways;
}

/** A text as parts, one for each of its bytes. */
export function literalParts(text: string, ignoreCase: boolean): Part[] {
  if (/[\r\n]/.test(text)) throw new Error(NO_BREAK);
  return [...encoder.encode(text)].map((byte) => ({
    atom: { kind: "byte", set: single(byte, ignoreCase) },
    min: 1,
    max: 1,
  }));
}

const encoder = new TextEncoder();
/** Sets of one byte, and of a class by how it is written: patterns have the same ones again and again. */
const singles = new Map<number, ByteSet>();
const classes = new Map<string, ByteSet>();
const MAX_CLASSES = 500;

function single(byte: number, ignoreCase: boolean): ByteSet {
  const key = ignoreCase ? byte + 256 : byte;
  const known = singles.get(key);
  if (known !== undefined) return known;
  const set = new Uint8Array(256);
  set[byte] = 1;
  const cased = ignoreCase ? anyCase(set) : set;
  singles.set(key, cased);
  return cased;
}

class Reader {
  at = 0;
  private readonly text: string;
  private readonly ignoreCase: boolean;

  constructor(text: string, ignoreCase: boolean) {
    this.text = text;
    this.ignoreCase = ignoreCase;
  }

  choice(): Part[][] {
    const ways = [this.sequence()];
    while (this.text[this.at] === "|") {
      this.at++;
      ways.push(this.sequence());
    }
    return ways;
  }

  private sequence(): Part[] {
    const parts: Part[] = [];
    while (this.at < this.text.length && !"|)".includes(this.text[this.at] as string)) {
      const atom = this.atom();
      const [min, max] = this.count();
      if (atom.kind === "place" && (min !== 1 || max !== 1))
        throw new Error(`"${atom.sign}" is a place, which has nothing to count`);
      parts.push({ atom, min, max });
    }
    return parts;
  }

  private atom(): Atom {
    const from = this.at;
    const char = String.fromCodePoint(this.text.codePointAt(from) as number);
    this.at += char.length;
    if (char === "(") return this.group();
    if (char === "[") return { kind: "byte", set: this.knownClass() };
    if (char === ".") return this.bytes(ANY);
    if (char === "^" || char === "$") return { kind: "place", sign: char };
    if ("*+?{".includes(char)) throw new Error(`"${char}" at ${from} has nothing to count`);
    if (char !== "\\") return this.literal(char);
    if (this.text[this.at] !== "b") return this.bytes(this.escape());
    this.at++;
    return { kind: "place", sign: "\\b" };
  }

  /** One byte, or a group of the bytes that a character has. */
  private literal(char: string): Atom {
    const parts = literalParts(char, this.ignoreCase);
    return parts.length === 1 ? (parts[0] as Part).atom : { kind: "group", ways: [parts], captures: false };
  }

  private bytes(set: ByteSet): Atom {
    const cased = this.ignoreCase ? anyCase(set) : set;
    if (!cased.includes(1)) throw new Error("a class without a single byte matches nothing");
    return { kind: "byte", set: cased };
  }

  private group(): Atom {
    const from = this.at - 1;
    const captures = !this.text.startsWith("?:", this.at);
    if (!captures) this.at += 2;
    else if (this.text[this.at] === "?") throw new Error(`"(?${this.text[this.at + 1] ?? ""}" is not supported`);
    const ways = this.choice();
    if (this.text[this.at] !== ")") throw new Error(`"(" at ${from} is not closed`);
    this.at++;
    return { kind: "group", ways, captures };
  }

  /** What stands after a backslash. */
  private escape(): ByteSet {
    const char = this.text[this.at++];
    if (char === undefined) throw new Error('"\\" at the end escapes nothing');
    if (CLASSES[char] !== undefined) return CLASSES[char];
    let code = CONTROLS[char] ?? char.charCodeAt(0);
    if (char === "x") {
      const digits = /^[0-9a-f]{2}/i.exec(this.text.slice(this.at))?.[0];
      if (digits === undefined) throw new Error('"\\x" needs two hexadecimal digits');
      this.at += 2;
      code = Number.parseInt(digits, 16);
    } else if (CONTROLS[char] === undefined && /[a-z0-9]/i.test(char)) throw new Error(`"\\${char}" is not supported`);
    else if (code > 127) throw new Error("only ASCII characters can be escaped");
    if (code === 10 || code === 13) throw new Error(NO_BREAK);
    return byteSet("", String.fromCharCode(code));
  }

  /** The set of a class that begins here, which may have been read before. */
  private knownClass(): ByteSet {
    const from = this.at;
    const set = this.classSet();
    const key = `${this.ignoreCase}${this.text.slice(from, this.at)}`;
    const known = classes.get(key);
    if (known !== undefined) return known;
    const fresh = (this.bytes(set) as { set: ByteSet }).set;
    if (classes.size < MAX_CLASSES) classes.set(key, fresh);
    return fresh;
  }

  private classSet(): ByteSet {
    const from = this.at - 1;
    const isNegated = this.text[this.at] === "^";
    if (isNegated) this.at++;
    const set: ByteSet = new Uint8Array(256);
    for (let isFirst = true; isFirst || this.text[this.at] !== "]"; isFirst = false) {
      if (this.at >= this.text.length) throw new Error(`"[" at ${from} is not closed`);
      const low = this.classBytes();
      const isRange = this.text[this.at] === "-" && this.text[this.at + 1] !== "]" && low.size === 1;
      if (!isRange) {
        if (low.size === 1) set[low.first] = 1;
        else low.set.forEach((has, byte) => has === 1 && set.fill(1, byte, byte + 1));
        continue;
      }
      this.at++;
      const high = this.classBytes();
      if (high.size !== 1 || high.first < low.first)
        throw new Error(`a range in "[" at ${from} is the wrong way round`);
      set.fill(1, low.first, high.first + 1);
    }
    this.at++;
    set[10] = 0;
    set[13] = 0;
    return isNegated ? outside(this.ignoreCase ? anyCase(set) : set) : set;
  }

  /** One character of a class, or what an escape stands for. */
  private classBytes(): { set: ByteSet; size: number; first: number } {
    const char = this.text[this.at++] as string;
    let set: ByteSet = NO_BYTES;
    if (char !== "\\") {
      const first = char.charCodeAt(0);
      if (first > 127) throw new Error("a class may only have ASCII characters");
      return { set: single(first, false), size: 1, first };
    }
    if (/[nr]/.test(this.text[this.at] ?? "")) {
      // Negated classes often name line breaks; no class reaches over a line anyway.
      this.at++;
    } else set = this.escape();
    return { set, size: set.reduce((sum, has) => sum + has, 0), first: set.indexOf(1) };
  }

  private count(): [min: number, max: number] {
    const [whole, sign, min, comma, max] = /^(?:([?*+])|\{(\d+)(,?)(\d*)\})/.exec(this.text.slice(this.at)) ?? [];
    if (whole === undefined) return [1, 1];
    this.at += whole.length;
    if (/^[?*+]/.test(this.text.slice(this.at))) throw new Error("lazy and possessive counts are not supported");
    if (sign !== undefined) return [sign === "+" ? 1 : 0, sign === "?" ? 1 : Infinity];
    const least = Number(min);
    const most = comma === "" ? least : max === "" ? Infinity : Number(max);
    if (least > MAX_COUNT || (most > MAX_COUNT && most !== Infinity)) throw new Error(`a count is over ${MAX_COUNT}`);
    if (most < least) throw new Error(`the count ${whole} is the wrong way round`);
    return [least, most];
  }
}
