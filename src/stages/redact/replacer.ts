import type { ByteSet } from "./byte-set.ts";
import type { Entry } from "./find-heads.ts";
import type { Sightings } from "./past-codes.ts";
import type { Found, Touching } from "./redaction-rule.ts";
import { BEHIND_BYTES, type Window } from "./window.ts";

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

const OUT_BYTES = 64 * 1024;
const encoder = new TextEncoder();
const marks = new Map<string, Uint8Array>();

/** Hands bytes on with what was found replaced. Overlapping finds are one; the first to begin gives the name. */
export class Replacer {
  count = 0;
  private readonly window: Window;
  private readonly take: (bytes: Uint8Array) => void;
  private readonly seen: Sightings;
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
  private out: Uint8Array | null = null;
  private outLength = 0;

  constructor(window: Window, take: (bytes: Uint8Array) => void, seen: Sightings) {
    this.window = window;
    this.take = take;
    this.seen = seen;
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

  /** All finds that begin before `known` are known. Finds what they touch; returns up to where all is known with that. */
  settle(known: number): number {
    const { waiting, pending, window } = this;
    const isOpen = ({ most }: Waiting) => most >= known && !window.final;
    let next = pending.length;
    for (const { from, least, most, entry } of waiting.filter((one) => !isOpen(one)).reverse()) {
      while (next > 0 && (pending[next - 1] as Pending).from > from) next--;
      const to = pending[next]?.from ?? -1;
      const { rule, rank } = entry;
      if (to < least || to > most || rule.accept?.(window.bytes, from, to) === false) continue;
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
      this.cover(this.coveredTo - from);
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
        this.pass(window.bytes.subarray(at, find.from));
        this.mark(markOf(find.name));
        this.cover(find.to - find.from);
        this.coveredTo = find.to;
      } else if (find.to > this.coveredTo) {
        this.cover(find.to - this.coveredTo);
        this.coveredTo = find.to;
      }
      this.passedTo = Math.max(this.passedTo, find.to);
      if (find.goesOn !== null && !this.goesOn.includes(find.goesOn)) this.goesOn.push(find.goesOn);
      at = Math.min(this.coveredTo, limit);
    }
    if (next > 0) this.pending = pending.slice(next);
    this.passed = 0;
    const rest = at === 0 && limit === window.end ? window.bytes : window.bytes.subarray(at, limit);
    if (this.outLength > 0) this.pass(rest);
    else if (limit > at) {
      this.seen.passed(rest);
      this.take(rest);
    }
    this.flush();
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

  private pass(piece: Uint8Array): void {
    this.seen.passed(piece);
    this.write(piece);
  }

  private mark(mark: Uint8Array): void {
    this.count++;
    this.seen.mark(mark);
    this.write(mark);
  }

  private cover(bytes: number): void {
    this.seen.covered(bytes);
  }

  /** Gathers small pieces: many secrets in a row are not many calls. */
  private write(piece: Uint8Array): void {
    if (this.outLength + piece.length > OUT_BYTES) this.flush();
    if (piece.length > OUT_BYTES) return this.take(piece);
    this.out ??= new Uint8Array(OUT_BYTES);
    this.out.set(piece, this.outLength);
    this.outLength += piece.length;
  }

  private flush(): void {
    if (this.outLength > 0) this.take((this.out as Uint8Array).subarray(0, this.outLength));
    this.outLength = 0;
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
