import { type ByteSet, union } from "./byte-set.ts";
import { HEAD_BYTES, type Program, type RedactionRule } from "./redaction-rule.ts";

/** One program of a rule, and the rule's rank: where two begin at the same byte, the lower one gives the name. */
export interface Entry {
  rule: RedactionRule;
  rank: number;
  program: Program;
}

/** Tells from four bytes which rules could begin there. */
export interface Prefilter {
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
