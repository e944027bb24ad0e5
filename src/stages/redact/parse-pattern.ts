import { ANY, anyCase, BLANK, type ByteSet, DIGIT, outside, WORD } from "./byte-set.ts";
import type { Item, Program } from "./redaction-rule.ts";

/** Ways a pattern may be spelled out into: groups and choices are multiplied. */
const MAX_PROGRAMS = 64;
/** The most a count may say: `{n,m}`. */
const MAX_COUNT = 4096;

type Part = Item | "open" | "close" | "border";
type Sequence = Part[];

const CLASSES: Record<string, ByteSet> = {
  d: DIGIT,
  D: outside(DIGIT),
  w: WORD,
  W: outside(WORD),
  s: BLANK,
  S: outside(BLANK),
};
const CONTROLS: Record<string, number> = { t: 9, v: 11, f: 12, e: 27 };

/**
 * Reads a pattern of the subset that takes linear time: characters, classes, counts on either, groups, choices, `\b` at
 * the ends, one capturing group for the part that is replaced. Throws an Error that says what is wrong.
 */
export function parsePattern(pattern: string, ignoreCase: boolean): Program[] {
  const reader = new Reader(pattern, ignoreCase);
  const sequences = reader.choice();
  if (reader.at < pattern.length) throw new Error(`")" at ${reader.at} closes nothing`);
  return sequences.map(toProgram);
}

/** The same for a text taken as it is. */
export function literalProgram(text: string, ignoreCase: boolean): Program {
  const items = [...new TextEncoder().encode(text)].map((byte) => single(byte, ignoreCase));
  return { items, secret: [0, items.length], startsWord: false, endsWord: false };
}

function toProgram(sequence: Sequence): Program {
  const program: Program = { items: [], secret: [0, 0], startsWord: false, endsWord: false };
  const items: Item[] = [];
  let open = 0;
  let close = -1;
  for (const part of sequence) {
    if (part === "open") open = items.length;
    else if (part === "close") close = items.length;
    else if (part !== "border") {
      if (program.endsWord) throw new Error('"\\b" may only stand at the start and at the end');
      items.push(part);
    } else if (items.length === 0) program.startsWord = true;
    else program.endsWord = true;
  }
  return { ...program, items, secret: [open, close < 0 ? items.length : close] };
}

function single(byte: number, ignoreCase: boolean): Item {
  const set = new Uint8Array(256);
  set[byte] = 1;
  return { set: ignoreCase ? anyCase(set) : set, min: 1, max: 1 };
}

class Reader {
  at = 0;
  private readonly text: string;
  private readonly ignoreCase: boolean;
  private captures = 0;

  constructor(text: string, ignoreCase: boolean) {
    this.text = text;
    this.ignoreCase = ignoreCase;
  }

  choice(): Sequence[] {
    const all = this.sequence();
    while (this.text[this.at] === "|") {
      this.at++;
      all.push(...this.sequence());
    }
    return bounded(all);
  }

  private sequence(): Sequence[] {
    let all: Sequence[] = [[]];
    while (this.at < this.text.length && !"|)".includes(this.text[this.at] as string)) {
      const next = this.text[this.at] === "(" ? this.group() : [this.border() ?? this.item()];
      all = bounded(all.flatMap((before) => next.map((after) => [...before, ...after])));
    }
    return all;
  }

  private group(): Sequence[] {
    const from = this.at++;
    let captures = true;
    if (this.text.startsWith("?:", this.at)) {
      captures = false;
      this.at += 2;
    } else if (this.text[this.at] === "?") throw new Error(`"(?${this.text[this.at + 1] ?? ""}" is not supported`);
    else if (++this.captures > 1) throw new Error("only one group may capture: write (?:...) for the others");
    let inner = this.choice();
    if (this.text[this.at] !== ")") throw new Error(`"(" at ${from} is not closed`);
    this.at++;
    if (captures) inner = inner.map((sequence): Sequence => ["open", ...sequence, "close"]);
    const [min, max] = this.count();
    if (max === 1 && min === 0) {
      if (captures) throw new Error("the capturing group must not be optional");
      return bounded([...inner, []]);
    }
    if (min !== 1 || max !== 1)
      throw new Error('a group may only have "?" after it: counts go on characters and classes');
    return inner;
  }

  private border(): Sequence | null {
    if (!this.text.startsWith("\\b", this.at)) return null;
    this.at += 2;
    return ["border"];
  }

  private item(): Sequence {
    const bytes = this.atom();
    const [min, max] = this.count();
    if (Array.isArray(bytes)) {
      if (min !== 1 || max !== 1) throw new Error("a count after a character that is not ASCII is not supported");
      return bytes;
    }
    if (max === 0) return [];
    const set = this.ignoreCase ? anyCase(bytes) : bytes;
    if (set.every((has) => has === 0)) throw new Error("a class without a single byte matches nothing");
    return [{ set, min, max }];
  }

  /** A set of bytes, or the bytes of a character that is not ASCII. */
  private atom(): ByteSet | Item[] {
    const char = this.text[this.at] as string;
    if (char === "[") return this.classSet();
    if (char === ".") {
      this.at++;
      return ANY;
    }
    if ("*+?{}".includes(char)) throw new Error(`"${char}" at ${this.at} has nothing to count`);
    if ("^$".includes(char)) throw new Error(`"${char}" is not supported`);
    if (char === "\\") return this.escape();
    const point = this.text.codePointAt(this.at) as number;
    if (point > 127) {
      const whole = String.fromCodePoint(point);
      this.at += whole.length;
      return [...new TextEncoder().encode(whole)].map((byte) => single(byte, false));
    }
    this.at++;
    return this.byte(point);
  }

  private byte(byte: number): ByteSet {
    if (byte === 10 || byte === 13) throw new Error("a secret stands on one line: a line break is not supported");
    return single(byte, false).set;
  }

  private escape(): ByteSet {
    const char = this.text[this.at + 1];
    if (char === undefined) throw new Error('"\\" at the end escapes nothing');
    this.at += 2;
    if (CLASSES[char] !== undefined) return CLASSES[char];
    if (CONTROLS[char] !== undefined) return this.byte(CONTROLS[char]);
    if (char === "x") {
      const digits = /^[0-9a-f]{2}/i.exec(this.text.slice(this.at))?.[0];
      if (digits === undefined) throw new Error('"\\x" needs two hexadecimal digits');
      this.at += 2;
      return this.byte(Number.parseInt(digits, 16));
    }
    if (char === "n" || char === "r") return this.byte(10);
    if (/[a-z0-9]/i.test(char)) throw new Error(`"\\${char}" is not supported`);
    if (char.charCodeAt(0) > 127) throw new Error("only ASCII characters can be escaped");
    return this.byte(char.charCodeAt(0));
  }

  private classSet(): ByteSet {
    const from = this.at++;
    const negated = this.text[this.at] === "^";
    if (negated) this.at++;
    const set = new Uint8Array(256);
    for (let first = true; first || this.text[this.at] !== "]"; first = false) {
      if (this.at >= this.text.length) throw new Error(`"[" at ${from} is not closed`);
      const low = this.classByte();
      if (this.text[this.at] !== "-" || this.text[this.at + 1] === "]" || low.length !== 1) {
        for (const byte of low) set[byte] = 1;
        continue;
      }
      this.at++;
      const high = this.classByte();
      if (high.length !== 1 || (high[0] as number) < (low[0] as number))
        throw new Error(`a range in "[" at ${from} is wrong`);
      set.fill(1, low[0], (high[0] as number) + 1);
    }
    this.at++;
    set[10] = 0;
    set[13] = 0;
    return negated ? outside(this.ignoreCase ? anyCase(set) : set) : set;
  }

  private classByte(): number[] {
    if (this.text[this.at] === "\\" && !/[nr]/.test(this.text[this.at + 1] ?? "")) return members(this.escape());
    if (this.text[this.at] === "\\") {
      // Negated classes are often written with them; no class reaches over a line anyway.
      this.at += 2;
      return [];
    }
    const code = this.text.charCodeAt(this.at++);
    if (!(code < 128)) throw new Error("a class may only have ASCII characters");
    return [code];
  }

  private count(): [min: number, max: number] {
    const [whole, text, min, comma, max] = /^(?:([?*+])|\{(\d+)(,?)(\d*)\})/.exec(this.text.slice(this.at)) ?? [];
    if (whole === undefined) return [1, 1];
    this.at += whole.length;
    if (/^[?*+]/.test(this.text.slice(this.at))) throw new Error("lazy and possessive counts are not supported");
    if (text !== undefined) return text === "?" ? [0, 1] : [text === "+" ? 1 : 0, Infinity];
    const least = Number(min);
    const most = comma === "" ? least : max === "" ? Infinity : Number(max);
    if (least > MAX_COUNT || (most > MAX_COUNT && most !== Infinity)) throw new Error(`a count is over ${MAX_COUNT}`);
    if (most < least) throw new Error(`the count ${whole} is the wrong way round`);
    return [least, most];
  }
}

function members(set: ByteSet): number[] {
  return [...set.keys()].filter((byte) => set[byte] === 1);
}

function bounded(sequences: Sequence[]): Sequence[] {
  if (sequences.length > MAX_PROGRAMS) throw new Error(`groups and choices multiply to over ${MAX_PROGRAMS} ways`);
  return sequences;
}
