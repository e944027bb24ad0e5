import { joinBytes } from "../../values.ts";
import { type ByteSet, WORD } from "./byte-set.ts";
import { type Entry, findHeads, prefilterOf } from "./find-heads.ts";
import { KeyBlock } from "./key-block.ts";
import type { Found, Item, Look, RedactionRule, Sightings, Touching } from "./redaction-rule.ts";
import type { Replacements } from "./replacements.ts";
import { BEHIND_BYTES, MAX_SECRET_BYTES, WINDOW_BYTES, Window } from "./window.ts";

/** One output passing through redaction. Memory is bounded, whatever the output. */
export interface RunningRedact {
  /** Takes the next bytes, which are only read during the call; hands on what is certain by now. */
  add(bytes: Uint8Array): void;
  /** Hands on the rest. How many secrets were replaced, and how many source bytes they had. */
  end(): { count: number; bytes: number };
}

/**
 * Replaces secrets by `[redacted:name]`. Line breaks stay where they are, so every line keeps its number; without a
 * match the very bytes that came are handed on. What `take` is handed is only valid during the call. `seen` is told
 * where something was replaced.
 */
export function startRedact(
  rules: readonly RedactionRule[],
  take: (bytes: Uint8Array) => void,
  seen?: Replacements,
): RunningRedact {
  if (rules.length === 0) return { add: take, end: () => ({ count: 0, bytes: 0 }) };
  const prefilter = prefilterOf(rules);
  const window = new Window();
  const past = new PastCodes(take, seen);
  const replacer = new Replacer(window, past);
  const block = new KeyBlock();
  /** Places where a rule could begin, from the stream's first byte; those before `next` were looked at. */
  const places: number[] = [];
  let next = 0;
  let scannedTo = 0;
  /** Whose key block it is. */
  let blockOf: Entry | null = null;

  const lookAt = (place: number): boolean => {
    let decided = true;
    replacer.lookFrom(place);
    const touches = replacer.touches(place);
    const pair = (window.bytes[place] as number) | ((window.bytes[place + 1] ?? 0) << 8);
    const third = window.bytes[place + 2];
    const fourth = window.bytes[place + 3];
    for (const entry of prefilter.entries.get(pair) ?? []) {
      // What is not there yet may be any byte.
      if (entry.third[third ?? 0] === 0 && third !== undefined) continue;
      if (entry.fourth[fourth ?? 0] === 0 && fourth !== undefined) continue;
      const seen = look(window, entry, place, touches);
      if (seen === "more") decided = false;
      else if (seen !== "none" && "least" in seen) replacer.waits(seen, entry);
      else if (seen !== "none") {
        replacer.found(seen, entry.rule.name, entry.rank);
        if (seen.opensBlock) {
          block.begin(seen.from);
          blockOf = entry;
        }
      }
    }
    return decided;
  };

  /** Looks at what can be decided; returns up to where all is. */
  const decide = (): number => {
    const push = (place: number) => void places.push(place + window.start);
    const keyLine = (found: Found) => replacer.found(found, blockOf?.rule.name ?? "", blockOf?.rank ?? 0);
    scannedTo = findHeads(prefilter, window.bytes, scannedTo, push);
    if (window.final) for (; scannedTo < window.end; scannedTo++) push(scannedTo);
    let decided = scannedTo;
    for (; next < places.length; next++) {
      const place = (places[next] as number) - window.start;
      if (block.at >= 0) block.advance(window, place, keyLine);
      if (lookAt(place)) continue;
      decided = place;
      break;
    }
    if (next === places.length) places.length = next = 0;
    else if (next > WINDOW_BYTES) {
      places.splice(0, next);
      next = 0;
    }
    if (block.at >= 0 && decided === scannedTo) block.advance(window, window.end, keyLine);
    return block.at >= 0 ? Math.min(decided, block.at) : decided;
  };

  const step = (bytes: Uint8Array): void => {
    window.append(bytes);
    replacer.extend();
    let decided = decide();
    // A secret that shows itself by its end may begin here.
    const least = window.final ? decided : Math.max(0, decided - prefilter.mostBack);
    while (decided > least && prefilter.backBytes[window.bytes[decided - 1] as number] === 1) decided--;
    decided = replacer.settle(decided);
    replacer.handOn(decided);
    replacer.drop(decided);
    block.drop(decided);
    window.drop(decided);
    scannedTo -= decided;
  };

  return {
    add(bytes) {
      for (let at = 0; at < bytes.length; at += WINDOW_BYTES) {
        step(past.strip(bytes.length <= WINDOW_BYTES ? bytes : bytes.subarray(at, at + WINDOW_BYTES)));
        past.flush();
      }
    },
    end() {
      const rest = past.strip(new Uint8Array(0), true);
      window.final = true;
      step(rest);
      past.flush(true);
      seen?.end();
      return { count: replacer.count, bytes: past.coveredBytes };
    },
  };
}

/** Looks whether a rule's program has a secret that begins at a place; `touches` if one may end there. */
function look(window: Window, entry: Entry, start: number, touches: boolean): Look | Touching {
  if (!mayStartAt(window, entry, start, touches)) return "none";
  const { program, rule } = entry;
  const { items, secret } = program;
  let at = start;
  let from = start;
  let to = start;
  let least = start;
  let goesOn: ByteSet | undefined;
  for (let index = 0; index < items.length; index++) {
    const item = items[index] as Item;
    const isLast = index === items.length - 1;
    // A secret is known by its first 16 KiB. Only the last item may go on after them.
    const most = isLast ? item.max : Math.min(item.max, MAX_SECRET_BYTES);
    const stop = itemEnd(window, item, at, most);
    if (stop < 0) return stop === MORE ? "more" : "none";
    if (stop === window.end && stop - at < most && !window.final) {
      if (!isLast || item.max !== Infinity || stop - start < MAX_SECRET_BYTES) return "more";
      if (secret[1] === items.length) goesOn = item.set;
    }
    if (index === secret[0]) from = at;
    if (index === secret[1] - 1) to = stop;
    least = at + item.min;
    at = stop;
    if (at - start > MAX_SECRET_BYTES && !isLast) return "none";
  }
  const border = program.endsWord && at - start < MAX_SECRET_BYTES ? borderAt(window, at) : "border";
  if (border === "more") return border;
  if (rule.hidesBefore === true) from = start - (rule.before?.length ?? 0);
  if (border === "none") return to === at ? { from, least, most: at } : border;
  if (rule.find !== undefined) return rule.find(window, start, at);
  const known = Math.min(to, start + MAX_SECRET_BYTES);
  if (rule.accept !== undefined && !rule.accept(window.bytes, from, known)) return "none";
  return { from, to, goesOn };
}

/** Returns true if what stands before a place lets a rule's secret begin there. */
function mayStartAt(window: Window, { program, rule }: Entry, place: number, touches: boolean): boolean {
  if (program.startsAfter !== null && !touches && !window.wordStarts(place, program.startsAfter)) return false;
  const { before } = rule;
  return (
    before === undefined || before.every((set, index) => set[window.sourceAt(place - before.length + index)] === 1)
  );
}

/** Says whether a word that ends at a place goes on there. */
function borderAt(window: Window, at: number): "border" | "none" | "more" {
  if (at >= window.end && !window.final) return "more";
  return WORD[window.byteAt(at)] === 1 ? "none" : "border";
}

const NONE = -1;
const MORE = -2;

/** Where an item that begins at a place ends; NONE if there are too few of its bytes, MORE if that cannot be told yet. */
function itemEnd(window: Window, item: Item, at: number, most: number): number {
  const { set, min, max } = item;
  const { bytes } = window;
  let end = at;
  if (max > 1) end = Math.min(window.runEnd(set, at, item), at + most);
  else if (at < bytes.length && set[bytes[at] as number] === 1) end++;
  if (end - at >= min) return end;
  return end === bytes.length && !window.final ? MORE : NONE;
}

interface Pending {
  from: number;
  to: number;
  name: string;
  rank: number;
  goesOn: ByteSet | null;
}

interface Waiting extends Touching {
  entry: Entry;
}

/** So many of the keys that wait are looked at where another begins: a place costs the same whatever came before. */
const MOST_TOUCHED = 8;
const OUT_BYTES = 64 * 1024;
const encoder = new TextEncoder();
const marks = new Map<string, Uint8Array>();

/** Hands bytes on with what was found replaced. Overlapping finds are one; the first to begin gives the name. */
export class Replacer {
  count = 0;
  private readonly window: Window;
  private readonly out: Sightings;
  /** By place, then by rank. Only what begins after what was handed on: the list is as short as the window. */
  private pending: Pending[] = [];
  /** As many of them begin before the place looked at. */
  private passed = 0;
  /** By place: what is found if what follows it is. */
  private waiting: Waiting[] = [];
  /** What is replaced last reaches the window's end and goes on with bytes of any of these sets. */
  private goesOn: ByteSet[] = [];
  /** Up to here bytes are replaced already. */
  private coveredTo = 0;
  /** The furthest end of what was found to begin before the place looked at. */
  private passedTo = -BEHIND_BYTES;

  constructor(window: Window, out: Sightings) {
    this.window = window;
    this.out = out;
  }

  found({ from, to, goesOn }: Found, name: string, rank: number): void {
    if (to === from) return;
    const { pending } = this;
    let index = pending.length;
    for (let before = pending[index - 1]; before !== undefined; before = pending[index - 1]) {
      if (before.from < from || (before.from === from && before.rank <= rank)) break;
      index--;
    }
    const same = pending[index - 1];
    // A place that is looked at again, or in another way of its rule, gives one find.
    const isAgain = same !== undefined && same.from === from && same.rank === rank;
    if (isAgain && same.to > to) return;
    if (isAgain) index--;
    pending.splice(index, isAgain ? 1 : 0, { from, to, name, rank, goesOn: goesOn ?? null });
    // Before it no place is looked at any more, so `lookFrom` takes it and what follows it anew.
    this.passed = Math.min(this.passed, index);
  }

  /** A key that another secret may touch: which it is shows once all that begins up to its end is known. */
  waits(touching: Touching, entry: Entry): void {
    const { waiting } = this;
    // A place that is looked at again waits once.
    for (let at = waiting.length - 1; waiting[at]?.from === touching.from; at--)
      if (waiting[at]?.entry === entry) waiting.splice(at, 1);
    waiting.push({ ...touching, entry });
  }

  /** Returns true if a key that waits may end here: each of the two is the other's border. */
  touches(place: number): boolean {
    return this.waiting.slice(-MOST_TOUCHED).some(({ least, most, from, entry: { rule } }) => {
      const mayEnd = least <= place && place <= most;
      return mayEnd && rule.accept?.(this.window.bytes, from, place) !== false;
    });
  }

  /** All finds that begin before `known` are known. Finds what they touch; returns up to where all is known with that. */
  settle(known: number): number {
    const { waiting, pending, window } = this;
    const isOpen = ({ most }: Waiting) => most >= known && !window.final;
    let next = pending.length;
    for (const { from, least, most, entry } of waiting.filter((one) => !isOpen(one)).reverse()) {
      while (next > 0 && (pending[next - 1] as Pending).from > from) next--;
      const follower = pending[next];
      if (follower === undefined || follower.from > most || follower.to < least) continue;
      // What follows may take the last bytes for its own.
      const to = Math.max(follower.from, least);
      const { rule, rank } = entry;
      if (rule.accept?.(window.bytes, from, to) === false) continue;
      this.found({ from, to }, rule.name, rank);
    }
    this.waiting = waiting.filter(isOpen);
    return this.waiting.reduce((least, { from }) => Math.min(least, from), known);
  }

  /** Tells the window what is context for a place: only what follows the last secret before it. Places only grow. */
  lookFrom(place: number): void {
    for (let find = this.pending[this.passed]; find !== undefined && find.from < place; ) {
      this.passedTo = Math.max(this.passedTo, find.to);
      find = this.pending[++this.passed];
    }
    this.window.contextFrom = Math.min(this.passedTo, place);
  }

  /** New bytes came: what went on to the end of the old ones goes on in them. */
  extend(): void {
    const { window } = this;
    if (this.goesOn.length > 0) {
      const from = this.coveredTo;
      this.goesOn = this.goesOn.filter((set) => {
        const to = runEnd(window, set, from);
        this.coveredTo = Math.max(this.coveredTo, to);
        return to === window.end;
      });
      this.out.covered(this.coveredTo - from);
      this.passedTo = Math.max(this.passedTo, this.coveredTo);
    }
    let lastSet: ByteSet | null = null;
    let lastFrom = 0;
    let lastTo = 0;
    for (const find of this.pending) {
      if (find.goesOn === null) continue;
      // Many finds within one stretch go on together: it is read once.
      if (lastSet !== find.goesOn || lastFrom !== find.to) {
        lastSet = find.goesOn;
        lastFrom = find.to;
        lastTo = runEnd(window, lastSet, lastFrom);
      }
      find.to = lastTo;
      this.passedTo = Math.max(this.passedTo, find.to);
      if (find.to < window.end) find.goesOn = null;
    }
  }

  /** Hands on everything before `limit`; all finds that begin there are known. */
  handOn(limit: number): void {
    const { window, pending } = this;
    let at = Math.min(Math.max(this.coveredTo, 0), limit);
    let next = 0;
    for (let find = pending[0]; find !== undefined && find.from < limit; find = pending[++next]) {
      if (find.from >= this.coveredTo) {
        this.out.passed(window.bytes.subarray(at, find.from));
        this.out.mark(markOf(find.name));
        this.out.covered(find.to - find.from);
        this.count++;
        this.coveredTo = find.to;
      } else if (find.to > this.coveredTo) {
        this.out.covered(find.to - this.coveredTo);
        this.coveredTo = find.to;
      }
      this.passedTo = Math.max(this.passedTo, find.to);
      if (find.goesOn !== null && !this.goesOn.includes(find.goesOn)) this.goesOn.push(find.goesOn);
      at = Math.min(this.coveredTo, limit);
    }
    if (next > 0) this.pending = pending.slice(next);
    this.passed = 0;
    const isAll = at === 0 && limit === window.end;
    if (limit > at) this.out.passed(isAll ? window.bytes : window.bytes.subarray(at, limit));
  }

  drop(count: number): void {
    this.coveredTo = Math.max(this.coveredTo - count, 0);
    this.passedTo = Math.max(this.passedTo - count, -BEHIND_BYTES);
    for (const find of this.pending) {
      find.from -= count;
      find.to -= count;
    }
    for (const one of this.waiting) {
      one.from -= count;
      one.least -= count;
      one.most -= count;
    }
  }
}

function runEnd(window: Window, set: ByteSet, from: number): number {
  let at = from;
  while (at < window.end && set[window.bytes[at] as number] === 1) at++;
  return at;
}

function markOf(name: string): Uint8Array {
  let mark = marks.get(name);
  if (mark === undefined) {
    mark = encoder.encode(`[redacted:${name}]`);
    marks.set(name, mark);
  }
  return mark;
}

const ESCAPE = 27;
const BRACKET = 91;
const BLANK = 32;
/** No codes in a row that a terminal knows are longer. */
const MAX_CODES_BYTES = 128;
/** Codes that may wait for what stands around them; beyond that they are read like other bytes. */
const MAX_WAITING_BYTES = 64 * 1024;
const NOTHING = new Uint8Array(0);

/** A code, and how many bytes without codes stand before it in the stream. */
interface Code {
  at: number;
  bytes: Uint8Array;
}

/**
 * Takes colours and other codes to a terminal out of words before secrets are looked for, and puts them back where they
 * stood, so that a secret is known though a program coloured part of it. Codes inside a secret are replaced with it.
 */
class PastCodes implements Sightings {
  /** Source bytes that marks stand for. */
  coveredBytes = 0;
  readonly #take: (bytes: Uint8Array) => void;
  readonly #seen: Sightings | undefined;
  /** Those from the first on are not handed on yet. */
  #codes: Code[] = [];
  #first = 0;
  #waitingBytes = 0;
  /** A code whose end has not come. */
  #open: Uint8Array = NOTHING;
  /** The last byte that was given out to be looked at. */
  #last = BLANK;
  /** Bytes without codes that were given out to be looked at, and those that came back. */
  #given = 0;
  #handedOn = 0;
  /** The only piece so far, or several that were gathered. */
  #piece: Uint8Array | null = null;
  #out: Uint8Array | null = null;
  #outLength = 0;

  constructor(take: (bytes: Uint8Array) => void, seen: Sightings | undefined) {
    this.#take = take;
    this.#seen = seen;
  }

  /** The next bytes without the codes inside of words. `isLast` says that no code goes on behind them. */
  strip(chunk: Uint8Array, isLast = false): Uint8Array {
    const bytes = this.#open.length === 0 ? chunk : joinBytes([this.#open, chunk]);
    this.#open = NOTHING;
    let bare: Uint8Array | null = null;
    let length = 0;
    let [from, to] = [0, bytes.length];
    for (let at = bytes.indexOf(ESCAPE); at !== -1; ) {
      const end = codesEnd(bytes, at, isLast);
      if (end === -1) {
        this.#open = new Uint8Array(bytes.subarray(at));
        to = at;
        break;
      }
      // At a word's border codes are known to the rules: most stand there, and stay.
      const isInside = (at === 0 ? this.#last : (bytes[at - 1] as number)) > BLANK && (bytes[end] ?? 0) > BLANK;
      if (isInside && end > at && this.#waitingBytes <= MAX_WAITING_BYTES) {
        bare ??= new Uint8Array(bytes.length);
        bare.set(bytes.subarray(from, at), length);
        length += at - from;
        this.#codes.push({ at: this.#given + length, bytes: new Uint8Array(bytes.subarray(at, end)) });
        this.#waitingBytes += end - at;
        from = end;
      }
      at = bytes.indexOf(ESCAPE, Math.max(end, at + 1));
    }
    bare?.set(bytes.subarray(from, to), length);
    const whole = to === bytes.length ? bytes : bytes.subarray(0, to);
    const rest = bare === null ? whole : bare.subarray(0, length + to - from);
    this.#given += rest.length;
    this.#last = rest[rest.length - 1] ?? this.#last;
    return rest;
  }

  passed(bytes: Uint8Array): void {
    let from = 0;
    for (let code = this.#next(bytes.length - 1); code !== null; code = this.#next(bytes.length - 1)) {
      const to = Math.max(from, code.at - this.#handedOn);
      this.#pass(bytes.subarray(from, to));
      this.#pass(code.bytes);
      from = to;
    }
    this.#pass(from === 0 ? bytes : bytes.subarray(from));
    this.#handedOn += bytes.length;
  }

  mark(mark: Uint8Array): void {
    this.#passCodes();
    this.#seen?.mark(mark);
    this.#write(mark);
  }

  covered(bytes: number): void {
    this.#handedOn += bytes;
    let all = bytes;
    for (let code = this.#next(-1); code !== null; code = this.#next(-1)) all += code.bytes.length;
    this.#seen?.covered(all);
    this.coveredBytes += all;
  }

  /** Hands on what was gathered; at the end of the stream also the codes behind its last byte. */
  flush(isLast = false): void {
    if (isLast) this.#passCodes();
    if (this.#piece !== null) this.#take(this.#piece);
    this.#piece = null;
    this.#letGo();
  }

  /** Codes that stand right before what comes next. */
  #passCodes(): void {
    for (let code = this.#next(0); code !== null; code = this.#next(0)) this.#pass(code.bytes);
  }

  /** Takes the first code that waits, if it stands up to so many bytes behind what was handed on. */
  #next(ahead: number): Code | null {
    const code = this.#codes[this.#first];
    if (code === undefined || code.at > this.#handedOn + ahead) return null;
    this.#waitingBytes -= code.bytes.length;
    if (++this.#first === this.#codes.length) {
      this.#codes = [];
      this.#first = 0;
    }
    return code;
  }

  #pass(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#seen?.passed(bytes);
    this.#write(bytes);
  }

  /** A piece that stays alone is handed on as it came. Others are gathered: many secrets in a row are not many calls. */
  #write(bytes: Uint8Array): void {
    const first = this.#piece;
    this.#piece = null;
    if (first !== null) this.#gather(first);
    else if (this.#outLength === 0) this.#piece = bytes;
    if (this.#piece === null) this.#gather(bytes);
  }

  #gather(bytes: Uint8Array): void {
    if (this.#outLength + bytes.length > OUT_BYTES) this.#letGo();
    if (bytes.length > OUT_BYTES) return this.#take(bytes);
    this.#out ??= new Uint8Array(OUT_BYTES);
    this.#out.set(bytes, this.#outLength);
    this.#outLength += bytes.length;
  }

  #letGo(): void {
    if (this.#outLength > 0) this.#take((this.#out as Uint8Array).subarray(0, this.#outLength));
    this.#outLength = 0;
  }
}

/** Where the codes that begin at `at` end: `at` if there is none, -1 if that cannot be told yet. */
function codesEnd(bytes: Uint8Array, at: number, isLast: boolean): number {
  let end = at;
  for (let place = at; place - at < MAX_CODES_BYTES; place++) {
    const byte = bytes[place];
    if (byte === undefined) return isLast ? end : -1;
    const column = place - end;
    if (column === 0 ? byte !== ESCAPE : column === 1 ? byte !== BRACKET : byte < 0x20 || byte > 0x7e) return end;
    if (column > 1 && byte >= 0x40) end = place + 1;
  }
  return end;
}
