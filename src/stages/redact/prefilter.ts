import { HEAD_BYTES } from "./bounds.ts";
import { type ByteSet, union } from "./byte-set.ts";
import type { Program, RedactionRule } from "./redaction-rule.ts";
import { shareGroups } from "./share-groups.ts";
import { FINDER_SLOTS } from "./view.ts";

/** One program of a rule, and the rule's rank: where two begin at the same byte, the lower one gives the name. */
export interface Entry {
  rule: RedactionRule;
  rank: number;
  program: Program;
  /** For each of the program's items that may be long, its slot in a view. */
  slots: number[];
}

/** Tells from four bytes which rules could begin there. */
export interface Prefilter {
  /** Per byte of a head, for each value: one bit for each group of entries. */
  masks: Int32Array[];
  /** Per byte of a head: groups of bits by low and by high nibble, 16 each. */
  nibbles: Uint8Array;
  /** The entries of each bit. */
  entries: Entry[][];
  slots: number;
}

const BITS = 32;
/** As many as a byte has bits. */
const GROUPS = 8;
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
  let slots = Object.keys(FINDER_SLOTS).length;
  const rows = rules.flatMap((rule, rank) =>
    rule.programs.map((program) => {
      const itemSlots = program.items.map((item) => (item.max > 1 ? slots++ : -1));
      const entry: Entry = { rule, rank, program, slots: itemSlots };
      return { entry, head: headOf(program) };
    }),
  );
  // Alike heads share a bit: then a bit lets little else through.
  const sorted = rows
    .map((row) => ({ ...row, key: row.head.map((set) => String.fromCharCode(set.lastIndexOf(1))).join("") }))
    .toSorted((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0));
  const groups = shareGroups(
    sorted.map(({ head }) => head),
    GROUPS,
  );

  const masks = Array.from({ length: HEAD_BYTES }, () => new Int32Array(256));
  const nibbles = new Uint8Array(HEAD_BYTES * 32);
  const entries: Entry[][] = Array.from({ length: BITS }, () => []);
  for (let group = 0; group < GROUPS; group++) {
    const members = sorted.filter((_, index) => groups[index] === group);
    members.forEach(({ entry, head }, index) => {
      const bit = Math.floor((group + index / members.length) * (BITS / GROUPS));
      entries[bit]?.push(entry);
      head.forEach((set, place) => {
        for (let byte = 0; byte < 256; byte++) {
          if (set[byte] === 0) continue;
          (masks[place] as Int32Array)[byte] = ((masks[place] as Int32Array)[byte] as number) | (1 << bit);
          nibbles[place * 32 + (byte & 15)] = (nibbles[place * 32 + (byte & 15)] as number) | (1 << group);
          nibbles[place * 32 + 16 + (byte >> 4)] = (nibbles[place * 32 + 16 + (byte >> 4)] as number) | (1 << group);
        }
      });
    });
  }
  for (const list of entries) list.sort((one, other) => one.rank - other.rank);
  return { masks, nibbles, entries, slots };
}

/** For each of the first four bytes of a match, which ones can stand there; may hold more, never less. */
function headOf({ items }: Program): ByteSet[] {
  const reached = (from: number): number[] => {
    const list: number[] = [];
    for (let index = from; index <= items.length; index++) {
      list.push(index);
      if ((items[index]?.min ?? 1) > 0) break;
    }
    return list;
  };
  let at = new Set(reached(0));
  return Array.from({ length: HEAD_BYTES }, (_, place) => {
    const set = union(...[...at].map((index) => items[index]?.set ?? EVERY));
    const next = new Set<number>();
    for (const index of at) {
      const item = items[index];
      if (item === undefined) next.add(index);
      else {
        if (item.max > 1) next.add(index);
        if (item.min <= place + 1) for (const later of reached(index + 1)) next.add(later);
      }
    }
    at = next;
    return set;
  });
}
