import { type ByteSet, union } from "./byte-set.ts";
import { HEADS_BINARY } from "./heads-binary.ts";
import { HEAD_BYTES, type Program, type RedactionRule } from "./redaction-rule.ts";
import { WINDOW_BYTES } from "./window.ts";

/** Below this the copy into WebAssembly's memory costs more than it saves. */
const SMALL = 64;
const MASKS_AT = 1024;
const DATA_AT = 8192;
const FOUND_AT = 81_920;

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
  else for (let at = from; at < whole; at++) if (maskAt(prefilter, bytes, at) !== 0) take(at);
  for (let at = whole; at < bytes.length; at++) if (maskAt(prefilter, bytes, at) !== 0) return at;
  return bytes.length;
}

/** One bit for each list of rules that could begin here; bytes that are not there yet could be any. */
export function maskAt({ masks }: Prefilter, bytes: Uint8Array, at: number): number {
  let mask = -1;
  for (let index = 0; mask !== 0 && index < HEAD_BYTES && at + index < bytes.length; index++)
    mask &= (masks[index] as Int32Array)[bytes[at + index] as number] as number;
  return mask;
}

function findInNative(
  { memory, found, find }: Native,
  prefilter: Prefilter,
  bytes: Uint8Array,
  take: (place: number) => void,
): void {
  if (loaded !== prefilter) {
    memory.set(prefilter.nibbles, 0);
    prefilter.masks.forEach((mask, index) => {
      memory.set(new Uint8Array(mask.buffer), MASKS_AT + index * 1024);
    });
    loaded = prefilter;
  }
  memory.set(bytes, DATA_AT);
  const count = find(DATA_AT, DATA_AT + bytes.length - (HEAD_BYTES - 1));
  for (let index = 0; index < count; index++) take((found[index] as number) - DATA_AT);
}

/** Null where WebAssembly or its SIMD is not to be had: the loop finds the same places. */
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
}

/** Tells from four bytes which rules could begin there. */
interface Prefilter {
  /** Per byte of a head, for each value: one bit for each of the lists of entries. */
  masks: Int32Array[];
  /** The same by low and by high nibble, 16 each, with one bit for four lists. */
  nibbles: Uint8Array;
  /** The entries of each bit. */
  entries: Entry[][];
}

const BITS = 32;
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
      const head = headOf(program);
      const key = head.map((set) => String.fromCharCode(set.lastIndexOf(1))).join("");
      return { entry: { rule, rank, program }, head, key };
    }),
  );
  // Alike heads share a bit: then a bit lets little else through.
  rows.sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0));
  const masks = Array.from({ length: HEAD_BYTES }, () => new Int32Array(256));
  const nibbles = new Uint8Array(HEAD_BYTES * 32);
  const entries: Entry[][] = Array.from({ length: BITS }, () => []);
  rows.forEach(({ entry, head }, index) => {
    const bit = Math.floor((index * BITS) / rows.length);
    const group = 1 << (bit >> 2);
    entries[bit]?.push(entry);
    head.forEach((set, place) => {
      const mask = masks[place] as Int32Array;
      const low = nibbles.subarray(place * 32, place * 32 + 16);
      const high = nibbles.subarray(place * 32 + 16, place * 32 + 32);
      for (let byte = 0; byte < 256; byte++) {
        if (set[byte] === 0) continue;
        mask[byte] = (mask[byte] as number) | (1 << bit);
        low[byte & 15] = (low[byte & 15] as number) | group;
        high[byte >> 4] = (high[byte >> 4] as number) | group;
      }
    });
  });
  return { masks, nibbles, entries };
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
    return union(...sets, ...(least <= place ? [EVERY] : []));
  });
}
