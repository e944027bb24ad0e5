import { ANY, anyCase, BLANK, type ByteSet, DIGIT, outside, WORD } from "../../redact/byte-set.ts";

/** A state of a pattern: takes a byte of `set`, or is passed through for nothing to each of `next`. */
export interface State {
  set: ByteSet | null;
  /** Only at the line's start, or at its end. */
  only?: "start" | "end";
  next: number[];
}

/** A pattern may come to this many states; its time is this times the line's length at most. */
const MAX_STATES = 500;
const MAX_COUNT = 50;

const CLASSES: Record<string, ByteSet> = {
  d: DIGIT,
  D: outside(DIGIT),
  w: WORD,
  W: outside(WORD),
  s: BLANK,
  S: outside(BLANK),
};

/** A part of a pattern: where it begins, and the states that lead out of it. */
interface Fragment {
  start: number;
  ends: number[];
}

/**
 * Reads a pattern whose time is linear in the line: characters, `.`, classes, groups, `|`, `* + ? {n,m}`, `^` and `$`.
 * Throws an Error that says what is wrong. State 0 is the end, `start` where it begins.
 */
export function readPattern(pattern: string, ignoreCase: boolean): { states: State[]; start: number } {
  const reader = new PatternReader(pattern, ignoreCase);
  return reader.read();
}

class PatternReader {
  readonly #pattern: string;
  readonly #ignoreCase: boolean;
  readonly #states: State[] = [{ set: null, next: [] }];
  #at = 0;

  constructor(pattern: string, ignoreCase: boolean) {
    this.#pattern = pattern;
    this.#ignoreCase = ignoreCase;
  }

  read(): { states: State[]; start: number } {
    const whole = this.#choice();
    if (this.#at < this.#pattern.length) throw new Error(`")" at ${this.#at} closes nothing`);
    this.#link(whole.ends, 0);
    return { states: this.#states, start: whole.start };
  }

  #choice(): Fragment {
    const ways = [this.#sequence()];
    while (this.#pattern[this.#at] === "|") {
      this.#at++;
      ways.push(this.#sequence());
    }
    if (ways.length === 1) return ways[0] as Fragment;
    const start = this.#add({ set: null, next: ways.map((way) => way.start) });
    return { start, ends: ways.flatMap((way) => way.ends) };
  }

  #sequence(): Fragment {
    const empty = this.#add({ set: null, next: [] });
    let ends = [empty];
    while (this.#at < this.#pattern.length && !"|)".includes(this.#pattern[this.#at] as string)) {
      const part = this.#counted();
      this.#link(ends, part.start);
      ends = part.ends;
    }
    return { start: empty, ends };
  }

  /** An atom, as often as its count says: what may be repeated is read again for each time. */
  #counted(): Fragment {
    const from = this.#at;
    const atom = this.#atom();
    const [least, most] = this.#count();
    const after = this.#at;
    if (least === 1 && most === 1) return atom;
    const again = (): Fragment => {
      this.#at = from;
      const copy = this.#atom();
      this.#at = after;
      return copy;
    };
    const start = this.#add({ set: null, next: [] });
    let ends = [start];
    let part: Fragment | null = atom;
    const outs: number[] = [];
    for (let times = 1; times <= (most === Infinity ? Math.max(1, least) : most); times++) {
      const one: Fragment = part ?? again();
      part = null;
      if (times > least) outs.push(...ends);
      this.#link(ends, one.start);
      if (most === Infinity && times >= least) {
        const loop = this.#add({ set: null, next: [one.start] });
        this.#link(one.ends, loop);
        ends = [loop];
      } else ends = one.ends;
    }
    return { start, ends: [...outs, ...ends] };
  }

  #count(): [least: number, most: number] {
    const found = /^(?:([*+?])|\{(\d{1,3})(,?)(\d{0,3})\})/.exec(this.#pattern.slice(this.#at));
    if (found === null) return [1, 1];
    const [whole, sign, least, comma, most] = found;
    this.#at += whole.length;
    if (sign !== undefined) return [sign === "+" ? 1 : 0, sign === "?" ? 1 : Infinity];
    const low = Number(least);
    const high = comma === "" ? low : most === "" ? Infinity : Number(most);
    if (low > MAX_COUNT || (high > MAX_COUNT && high !== Infinity) || high < Math.max(1, low)) {
      throw new Error(`the count ${whole} is wrong, or over ${MAX_COUNT}`);
    }
    return [low, high];
  }

  #atom(): Fragment {
    const char = this.#pattern[this.#at++] as string;
    if (char === "(") return this.#group();
    if (char === "[") return this.#byte(this.#classSet());
    if (char === ".") return this.#byte(ANY);
    if (char === "^" || char === "$")
      return this.#single({ set: null, only: char === "^" ? "start" : "end", next: [] });
    if ("*+?{".includes(char)) throw new Error(`"${char}" at ${this.#at - 1} has nothing to count`);
    if (char === "\\") return this.#escape();
    this.#at--;
    const whole = String.fromCodePoint(this.#pattern.codePointAt(this.#at) as number);
    this.#at += whole.length;
    return this.#literal(whole);
  }

  #group(): Fragment {
    const from = this.#at - 1;
    if (this.#pattern.startsWith("?:", this.#at)) this.#at += 2;
    else if (this.#pattern[this.#at] === "?") throw new Error(`"(?" at ${from} is not supported`);
    const inner = this.#choice();
    if (this.#pattern[this.#at] !== ")") throw new Error(`"(" at ${from} is not closed`);
    this.#at++;
    return inner;
  }

  #escape(): Fragment {
    const char = this.#pattern[this.#at++];
    if (char === undefined) throw new Error('"\\" at the end escapes nothing');
    const set = CLASSES[char];
    if (set !== undefined) return this.#byte(set);
    if (char === "t") return this.#literal("\t");
    if (/[A-Za-z0-9]/.test(char)) throw new Error(`"\\${char}" is not supported`);
    return this.#literal(char);
  }

  #classSet(): ByteSet {
    const found = /^(\^?)(\]?(?:\\.|[^\]\\])*)\]/.exec(this.#pattern.slice(this.#at));
    if (found === null) throw new Error(`"[" at ${this.#at - 1} is not closed`);
    const [whole, negated, inside] = found;
    this.#at += whole.length;
    const set = new Uint8Array(256);
    const units = [...(inside as string).matchAll(/\\(.)|([^])/gu)];
    for (let at = 0; at < units.length; at++) {
      const [, escaped, plain] = units[at] as RegExpMatchArray;
      const named = escaped === undefined ? undefined : CLASSES[escaped];
      if (named !== undefined) {
        for (let byte = 0; byte < 256; byte++) set[byte] = (set[byte] as number) | (named[byte] as number);
        continue;
      }
      const low = byteOf(escaped === "t" ? "\t" : (escaped ?? plain));
      const isRange = units[at + 1]?.[0] === "-" && at + 2 < units.length;
      const high = isRange ? byteOf(units[at + 2]?.[1] ?? units[at + 2]?.[2]) : low;
      if (isRange) at += 2;
      if (high < low) throw new Error("a range in a class is the wrong way round");
      set.fill(1, low, high + 1);
    }
    const cased = this.#ignoreCase ? anyCase(set) : set;
    return negated === "" ? cased : outside(cased);
  }

  #literal(text: string): Fragment {
    const parts = [...new TextEncoder().encode(text)].map((byte) => {
      const set = new Uint8Array(256);
      set[byte] = 1;
      return this.#byte(set);
    });
    parts.slice(1).forEach((part, index) => {
      this.#link((parts[index] as Fragment).ends, part.start);
    });
    return { start: (parts[0] as Fragment).start, ends: (parts.at(-1) as Fragment).ends };
  }

  #byte(set: ByteSet): Fragment {
    return this.#single({ set: this.#ignoreCase ? anyCase(set) : set, next: [] });
  }

  #single(state: State): Fragment {
    const at = this.#add(state);
    return { start: at, ends: [at] };
  }

  #add(state: State): number {
    if (this.#states.length >= MAX_STATES) throw new Error(`it comes to over ${MAX_STATES} steps`);
    return this.#states.push(state) - 1;
  }

  #link(ends: readonly number[], to: number): void {
    for (const end of ends) this.#states[end]?.next.push(to);
  }
}

function byteOf(char: string | undefined): number {
  const code = char?.codePointAt(0) ?? 0;
  if (code > 127) throw new Error("a class may only have ASCII characters");
  return code;
}
