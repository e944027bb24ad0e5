import { copyOf, type HeldLine, type LineHolder, lineCost } from "./ranked-lines.ts";

/** What a line says: values under names, as the cells of a row or the value of a key. */
export interface Said {
  values: readonly (readonly [name: string | number, value: string])[];
  /** The name of what has its first name: if few of those have it, it is rare. */
  within?: string | number | undefined;
  /** The numbers of the lines that head it. */
  above?: readonly number[];
  /** A word for which it matters by itself, the less the more lines have the same. */
  sign?: string | undefined;
}

/** If there are more values of a name than this, none of them stands out. */
const MOST_VALUES = 64;
const MOST_NAMES = 2048;
/** Longer values are told apart by their start. */
const LOOK_CHARS = 80;
/** A value is rare if it stands in fewer lines than this part of what each would have if all had as many. */
const RARE = 0.1;
/** If a name has few values, and one of them stands in this share of the lines, each of the others is rare up to a share. */
const MOST_STATES = 12;
const USUAL_SHARE = 0.5;
const UNUSUAL_SHARE = 0.25;
const MOST_LINES = 50;
/** What a line with a sign of its own is worth, in the measure of rare values: bits. */
const SIGN_WORTH = 6;
/** What a line next to a rare one is worth beside it, and how many before and behind it are. */
const BESIDE = 0.4;
const BEFORE = 1;
const BEHIND = 4;

interface Value {
  count: number;
  of: Values;
}

/** How often each value of a name came; null if there are too many. A value in fewer lines than `rareBelow`, set at the end, is rare. */
interface Values {
  counts: Map<string, Value> | null;
  rareBelow: number;
}

interface Name {
  count: number;
  exact: Values;
  /** The values without their numbers: of `Up 3 days` and `Up 8 days` neither is rare, of `Exited (137) 3 days ago` the words are. */
  worded: Values;
  numbers: Numbers;
}

interface Entry {
  line: HeldLine;
  said: Said;
  /** Of each name its value in both forms. */
  values: { name: Name; forms: Value[] }[];
  worth: number;
}

/**
 * Holds lines and gives those that say something rare, the rarest first: a rare value under a name of few values, a number
 * far from the others, or a sign of its own. With `hasContext` the lines around them follow.
 */
export class RareLines implements LineHolder {
  readonly #mostBytes: number;
  readonly #saidBy: (line: HeldLine) => Said | null;
  readonly #hasContext: boolean;
  readonly #names = new Map<string | number, Name>();
  readonly #signs = new Map<string, number>();
  #entries: Entry[] = [];
  #bytes = 0;

  /** `saidBy` gives null for a line that is no row. */
  constructor(mostBytes: number, saidBy: (line: HeldLine) => Said | null, hasContext = false) {
    this.#mostBytes = mostBytes;
    this.#saidBy = saidBy;
    this.#hasContext = hasContext;
  }

  add(line: HeldLine): void {
    const said = this.#saidBy(line);
    if (said === null) return;
    const entry: Entry = { line: copyOf(line), said, values: [], worth: 0 };
    if (said.sign !== undefined) this.#signs.set(said.sign, (this.#signs.get(said.sign) ?? 0) + 1);
    for (const [name, value] of said.values) this.#see(entry, name, value.slice(0, LOOK_CHARS));
    this.#entries.push(entry);
    this.#bytes += lineCost(line);
    if (this.#bytes > this.#mostBytes) this.#letGo();
  }

  #see(entry: Entry, key: string | number, text: string): void {
    let name = this.#names.get(key);
    if (name === undefined) {
      if (this.#names.size === MOST_NAMES) return;
      const noValues = () => ({ counts: new Map(), rareBelow: 0 });
      name = { count: 0, exact: noValues(), worded: noValues(), numbers: new Numbers() };
      this.#names.set(key, name);
    }
    name.count++;
    name.numbers.add(text, entry);
    const forms = [counted(name.exact, text), counted(name.worded, text.replace(DIGITS, "0"))];
    entry.values.push({ name, forms: forms.filter((value) => value !== null) });
  }

  /** Lets go of the half that says least. */
  #letGo(): void {
    this.#weigh();
    const best = this.#entries.toSorted((a, b) => b.worth - a.worth || a.line.line - b.line.line);
    this.#entries = best.slice(0, best.length >> 1).sort((a, b) => a.line.line - b.line.line);
    this.#bytes = this.#entries.reduce((sum, { line }) => sum + lineCost(line), 0);
  }

  /** Says of each line what it is worth among those that came so far. */
  #weigh(): void {
    for (const entry of this.#entries) {
      const alike = this.#signs.get(entry.said.sign ?? "") ?? 0;
      entry.worth = alike === 0 ? 0 : Math.max(0, SIGN_WORTH - Math.log2(alike));
    }
    for (const name of this.#names.values()) {
      for (const values of [name.exact, name.worded]) values.rareBelow = rareBelow(values, name.count);
      for (const [entry, worth] of name.numbers.outliers(name.count)) entry.worth += worth;
    }
    for (const entry of this.#entries) {
      for (const { name, forms } of entry.values) {
        const rare = forms.find(({ count, of }) => count < of.rareBelow);
        if (rare !== undefined) entry.worth += Math.log2(name.count / rare.count);
      }
      const { within, values } = entry.said;
      const own = this.#names.get(values[0]?.[0] ?? "")?.count ?? 0;
      const all = within === undefined ? 0 : (this.#names.get(within)?.count ?? 0);
      if (own > 0 && own <= all * UNUSUAL_SHARE) entry.worth += Math.log2(all / own);
    }
  }

  lines(): HeldLine[] {
    this.#weigh();
    const places = new Map(this.#entries.map(({ line }, place) => [line.line, place]));
    const best = this.#entries
      .filter(({ worth }) => worth > 0)
      .sort((a, b) => b.worth - a.worth || a.line.line - b.line.line)
      .slice(0, MOST_LINES);
    const shown = new Map(best.map((entry) => [entry, entry.worth]));
    if (this.#hasContext) {
      for (const { line, worth } of best) {
        const place = places.get(line.line) as number;
        for (let at = Math.max(0, place - BEFORE); at <= place + BEHIND; at++) {
          const beside = this.#entries[at];
          if (beside !== undefined) shown.set(beside, Math.max(worth * BESIDE, shown.get(beside) ?? 0));
        }
      }
    }
    const heldLine = (number: number) => this.#entries[places.get(number) ?? -1]?.line;
    return [...shown]
      .sort(([a, x], [b, y]) => y - x || a.line.line - b.line.line)
      .map(([{ line, said }]) => {
        const above = said.above?.flatMap((number) => heldLine(number) ?? []);
        return above === undefined || above.length === 0 ? line : { ...line, above };
      });
  }
}

const DIGITS = /\d+/g;

/** Counts one more of a value; null if there are too many. */
function counted(values: Values, text: string): Value | null {
  if (values.counts === null) return null;
  const value = values.counts.get(text) ?? { count: 0, of: values };
  if (value.count++ === 0) {
    if (values.counts.size === MOST_VALUES) {
      values.counts = null;
      return null;
    }
    values.counts.set(text, value);
  }
  return value;
}

/** In how many lines of `count` a value is too common to be rare. */
function rareBelow({ counts }: Values, count: number): number {
  if (counts === null || counts.size < 2) return 0;
  const usual = Math.max(...[...counts.values()].map((value) => value.count));
  const isUsual = counts.size <= MOST_STATES && usual >= count * USUAL_SHARE;
  return isUsual ? count * UNUSUAL_SHARE : (count / counts.size) * RARE;
}

const NUMBER = /^(-?\d[\d,]*(?:\.\d+)?) ?(%|[KMGTP]i?B?|k|B|m?s)?(?= \(|$)/;
const UNITS: Record<string, number> = { k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, s: 1e3 };
/** If a share of a name's values are numbers, and these are so many, they are compared. */
const NUMBERS_SHARE = 0.8;
const LEAST_NUMBERS = 8;
/** So many of the highest and of the lowest numbers are held, and so many to tell how the others lie. */
const MOST_EXTREMES = 8;
const MOST_SAMPLE = 512;
/** A number is far out beyond so many times the middle half's width, if at most this share of all are. */
const FAR = 3;
const FAR_SHARE = 0.1;
/** A part of a hundred from here on is near its limit. */
const NEARLY_FULL = 90;
const MOST_FAR_WORTH = 4;

interface Extreme {
  value: number;
  entry: Entry;
}

/** The numbers under one name: how most of them lie, and those furthest out. */
class Numbers {
  #count = 0;
  #percents = 0;
  #sample: number[] = [];
  #stride = 1;
  readonly #highest: Extreme[] = [];
  readonly #lowest: Extreme[] = [];

  add(text: string, entry: Entry): void {
    const found = NUMBER.exec(text);
    if (found === null) return;
    const unit = found[2] ?? "";
    const value = Number((found[1] as string).replaceAll(",", "")) * (UNITS[unit[0] ?? ""] ?? 1);
    if (unit === "%") this.#percents++;
    if (this.#count++ % this.#stride === 0) this.#sample.push(value);
    if (this.#sample.length > MOST_SAMPLE) {
      this.#sample = this.#sample.filter((_, index) => index % 2 === 0);
      this.#stride *= 2;
    }
    hold(this.#highest, { value, entry }, (other) => value > other);
    hold(this.#lowest, { value, entry }, (other) => value < other);
  }

  /** Lines with a number far from the others, or with a share near a hundred, and what that is worth. */
  outliers(count: number): Map<Entry, number> {
    const far = new Map<Entry, number>();
    if (this.#count < Math.max(LEAST_NUMBERS, count * NUMBERS_SHARE)) return far;
    const sorted = this.#sample.toSorted((a, b) => a - b);
    const low = sorted[sorted.length >> 2] as number;
    const high = sorted[(sorted.length * 3) >> 2] as number;
    const width = Math.max(high - low, Math.abs(high) * 0.01, 1e-9);
    for (const extremes of [this.#highest, this.#lowest]) {
      const out = extremes.filter(({ value }) => value > high + FAR * width || value < low - FAR * width);
      if (out.length > this.#count * FAR_SHARE || out.length === MOST_EXTREMES) continue;
      for (const { value, entry } of out) {
        const distance = Math.max(value - high, low - value) / width;
        far.set(entry, Math.log2(this.#count / out.length) + Math.min(MOST_FAR_WORTH, Math.log10(distance)));
      }
    }
    const full = this.#percents === this.#count ? this.#highest.filter(({ value }) => value >= NEARLY_FULL) : [];
    if (full.length < MOST_EXTREMES) for (const { entry } of full) far.set(entry, far.get(entry) ?? MOST_FAR_WORTH);
    return far;
  }
}

/** Holds the most extreme numbers, the most extreme first. */
function hold(extremes: Extreme[], extreme: Extreme, isBefore: (value: number) => boolean): void {
  if (extremes.length === MOST_EXTREMES && !isBefore((extremes.at(-1) as Extreme).value)) return;
  const place = extremes.findIndex(({ value }) => isBefore(value));
  extremes.splice(place === -1 ? extremes.length : place, 0, extreme);
  if (extremes.length > MOST_EXTREMES) extremes.pop();
}
