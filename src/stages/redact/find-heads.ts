import { type ByteSet, union } from "./byte-set.ts";
import { HEAD_BYTES, type Program, type RedactionRule } from "./redaction-rule.ts";
import { WINDOW_BYTES } from "./window.ts";

/** Below this the copy into WebAssembly's memory costs more than it saves. */
const SMALL = 64;
const HEADS_AT = 131_072;
const DATA_AT = 262_144;
const FOUND_AT = 393_216;

interface Native {
  memory: Uint8Array;
  found: Int32Array;
  find(at: number, end: number): number;
}

let native: Native | null | undefined;
/** Whose tables are in the native memory. */
let loaded: Prefilter | null = null;

/**
 * Tells every place from `from` on where a rule could begin. Returns where to go on: the first place whose head is not all
 * there yet but could become one, else the end.
 *
 * All of redaction takes 20 ms of CPU for 10 MB of CI logs, and 31 ms with the loop in JavaScript. The same rules as regular
 * expressions over windows take 600 ms, one for each, without the checks that follow a match; as one expression 34 s. One
 * expression of the heads alone takes 86 ms.
 */
export function findHeads(
  prefilter: Prefilter,
  bytes: Uint8Array,
  from: number,
  take: (place: number) => void,
): number {
  const whole = Math.max(from, bytes.length - (HEAD_BYTES - 1));
  if (native === undefined) native = loadNative();
  const isWorthIt = whole - from >= SMALL && whole - from <= WINDOW_BYTES + HEAD_BYTES;
  if (native !== null && isWorthIt)
    findInNative(native, prefilter, bytes.subarray(from), (place) => take(place + from));
  else for (let at = from; at < whole; at++) if (mayBegin(prefilter, bytes, at)) take(at);
  for (let at = whole; at < bytes.length; at++) if (mayBegin(prefilter, bytes, at)) return at;
  return bytes.length;
}

/** Returns true if a rule could begin here; bytes that are not there yet could be any. */
function mayBegin({ firsts, pairs, heads }: Prefilter, bytes: Uint8Array, at: number): boolean {
  const left = bytes.length - at;
  const one = bytes[at] as number;
  if (left === 1) return firsts[one] === 1;
  const start = one | ((bytes[at + 1] as number) << 8);
  const groups = (pairs[start] as number) & BEGINS;
  if (left < HEAD_BYTES || groups === 0) return groups > 0;
  const end = (bytes[at + 2] as number) | ((bytes[at + 3] as number) << 8);
  if ((groups & ((pairs[end] as number) >> GROUPS)) === 0) return false;
  const hash = hashOf(start | (end << 16));
  return ((heads[hash >>> 3] as number) & (1 << (hash & 7))) > 0;
}

/** 20 bits of a head's four bytes. */
function hashOf(head: number): number {
  return Math.imul(head, 0x9e3779b1) >>> 12;
}

function findInNative(
  { memory, found, find }: Native,
  prefilter: Prefilter,
  bytes: Uint8Array,
  take: (place: number) => void,
): void {
  if (loaded !== prefilter) {
    memory.set(new Uint8Array(prefilter.pairs.buffer), 0);
    memory.set(prefilter.heads, HEADS_AT);
    loaded = prefilter;
  }
  memory.set(bytes, DATA_AT);
  const count = find(DATA_AT, DATA_AT + bytes.length - (HEAD_BYTES - 1));
  for (let index = 0; index < count; index++) take((found[index] as number) - DATA_AT);
}

/** heads.wat, compiled: scripts/compile-wat.mjs writes it here. */
const HEADS_BINARY =
  "AGFzbQEAAAABBwFgAn9/AX8DAgEABQMBAAsHEQIGbWVtb3J5AgAEZmluZAAACq4CAasCAwR/AX4Gf0GAgBghAiAALwEAQQF0LwEAIQsgAC8BAUEBdC8BACEMA0AgACkDAiEGIAshByAMIQggBkIBhqdB/v8HcS8BACEJIAZCB4inQf7/B3EvAQAhCiAGQg+Ip0H+/wdxLwEAIQsgBkIXiKdB/v8HcS8BACEMIAcgCUEIdnEgCCAKQQh2cXIgCSALQQh2cSAKIAxBCHZxcnIEQCAAIQMgAEEEaiEEIAQgAUsEQCABIQQLA0AgAygCAEGx893xeWxBDHYhBSACIAM2AgAgAkEAIAMvAQBBAXQvAQAgAy8BAkEBdC0AAXFHIAVBA3YtAICACCAFQQdxdnFBAnRqIQIgA0EBaiEDIAMgBEkNAAsLIABBBGohACAAIAFJDQALIAJBgIAYa0ECdgs=";

/** Returns null if there is no WebAssembly: the loop finds the same places. */
function loadNative(): Native | null {
  loaded = null;
  try {
    const binary = Uint8Array.from(atob(HEADS_BINARY), (char) => char.charCodeAt(0));
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(binary));
    const { buffer } = exports.memory as WebAssembly.Memory;
    return {
      memory: new Uint8Array(buffer),
      found: new Int32Array(buffer, FOUND_AT),
      find: exports.find as Native["find"],
    };
  } catch {
    return null;
  }
}

/** For tests: forces one way of finding, or undoes that. */
export function useNativeHeads(wanted: boolean): boolean {
  native = wanted ? loadNative() : null;
  return native !== null;
}

/** One program of a rule, and the rule's rank: where two begin at the same byte, the lower one gives the name. */
export interface Entry {
  rule: RedactionRule;
  rank: number;
  program: Program;
  /** Which bytes can stand in the third and the fourth place. */
  third: ByteSet;
  fourth: ByteSet;
}

/** Tells from four bytes which rules could begin there. A pair of bytes is a number, the first byte its lower half. */
interface Prefilter {
  /** The bytes that a rule can begin with. */
  firsts: ByteSet;
  /** For each pair, one bit for each group of rules: in the lower byte those that can begin with it, in the upper byte those that can go on with it. */
  pairs: Uint16Array;
  /** One bit for each hash of a head. */
  heads: Uint8Array;
  /** The entries that can begin with a pair. */
  entries: Map<number, Entry[]>;
  /** What a secret that shows itself by its end may begin with, and the most bytes of that. */
  backBytes: ByteSet;
  mostBack: number;
}

const GROUPS = 8;
const BEGINS = 255;
/** With more heads than this a rule is only known by its pairs. */
const MAX_HEADS = 16_384;
const EVERY: ByteSet = new Uint8Array(256).fill(1);
const made = new WeakMap<readonly RedactionRule[], Prefilter>();

/** The prefilter of a list of rules; made once for each list. */
export function prefilterOf(rules: readonly RedactionRule[]): Prefilter {
  const known = made.get(rules);
  if (known !== undefined) return known;
  const fresh = makePrefilter(rules);
  made.set(rules, fresh);
  return fresh;
}

function makePrefilter(rules: readonly RedactionRule[]): Prefilter {
  const rows = rules.flatMap((rule, rank) =>
    rule.programs.map((program) => {
      const sets = headOf(program);
      const [, , third = EVERY, fourth = EVERY] = sets;
      const head = sets.map(membersOf);
      const key = String.fromCharCode(...head.toReversed().map((members) => members.at(-1) ?? 0));
      return { entry: { rule, rank, program, third, fourth }, head, key };
    }),
  );
  // Alike ends share a group: then a group lets little else through.
  rows.sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0));
  const firsts = new Uint8Array(256);
  const pairs = new Uint16Array(65_536);
  const heads = new Uint8Array(131_072);
  const entries = new Map<number, Entry[]>();
  rows.forEach(({ entry, head: [first = [], second = [], third = [], fourth = []] }, index) => {
    const group = 1 << Math.floor((index * GROUPS) / rows.length);
    const starts = pairsOf(first, second);
    const ends = pairsOf(third, fourth);
    for (const pair of starts) {
      firsts[pair & 255] = 1;
      pairs[pair] = (pairs[pair] as number) | group;
      const list = entries.get(pair);
      if (list === undefined) entries.set(pair, [entry]);
      else list.push(entry);
    }
    for (const pair of ends) pairs[pair] = (pairs[pair] as number) | (group << GROUPS);
    if (starts.length * ends.length > MAX_HEADS) heads.fill(255);
    else
      for (const start of starts)
        for (const end of ends) {
          const hash = hashOf(start | (end << 16));
          heads[hash >>> 3] = (heads[hash >>> 3] as number) | (1 << (hash & 7));
        }
  });
  const backs = rules.flatMap(({ before, hidesBefore }) => (hidesBefore && before !== undefined ? [before] : []));
  const mostBack = Math.max(0, ...backs.map(({ length }) => length));
  return { firsts, pairs, heads, entries, backBytes: union(...backs.flat()), mostBack };
}

function membersOf(set: ByteSet): number[] {
  const members: number[] = [];
  for (let byte = 0; byte < 256; byte++) if (set[byte] === 1) members.push(byte);
  return members;
}

function pairsOf(ones: readonly number[], others: readonly number[]): number[] {
  const pairs: number[] = [];
  for (const other of others) for (const one of ones) pairs.push(one | (other << 8));
  return pairs;
}

/** For each of the first four bytes of a match, which ones can stand there; may hold more, never less. */
function headOf({ items }: Program): ByteSet[] {
  return Array.from({ length: HEAD_BYTES }, (_, place) => {
    const sets: ByteSet[] = [];
    let [least, most] = [0, 0];
    for (const { set, min, max } of items) {
      if (least <= place && place < most + max) sets.push(set);
      least += min;
      most += max;
    }
    if (least <= place) return EVERY;
    return sets.length === 1 ? (sets[0] as ByteSet) : union(...sets);
  });
}
