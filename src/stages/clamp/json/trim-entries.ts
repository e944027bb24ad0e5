import { specialRank } from "./choose-entries.ts";
import { heldBytes, isMember, type JsonEntry, type JsonGroup, type JsonMember } from "./json-node.ts";
import { addSkip, planJson } from "./plan-json.ts";

/** Of what special entries may take, one of them: a larger one is made smaller. */
const SPECIAL_SHARE = 0.25;

/** Gives up the middle of a group: its first and last entries stay, `most` bytes of each, and as much that is special. */
export function trimEntries(group: JsonGroup, most: number): number {
  const { entries } = group;
  const costs = entries.map((entry) => (isMember(entry) ? heldBytes(entry.node) : 0));
  const first = Math.max(1, countWithin(costs, most));
  const last = Math.max(1, countWithin(costs.toReversed(), most));
  const kept: JsonEntry[] = entries.slice(0, first);
  const special = specialEntries(group, costs, first, entries.length - last, most);
  let freed = 0;
  for (let at = first; at < entries.length - last; at++) {
    const entry = special.get(at);
    freed += (costs[at] as number) - (entry === undefined ? 0 : heldBytes(entry.node));
    if (entry === undefined) addSkip(kept, entries[at] as JsonEntry);
    else kept.push(entry);
  }
  if (freed === 0) return 0;
  kept.push(...entries.slice(Math.max(first, entries.length - last)));
  group.entries = kept;
  return freed;
}

/** The special entries from `first` to before `end` that `most` bytes hold, by their place. */
function specialEntries(
  { entries, count }: JsonGroup,
  costs: readonly number[],
  first: number,
  end: number,
  most: number,
): Map<number, JsonMember> {
  const ranked: { at: number; entry: JsonMember; rank: number }[] = [];
  for (let at = first; at < end; at++) {
    const entry = entries[at] as JsonEntry;
    const rank = isMember(entry) ? specialRank(entry, count) : 0;
    if (rank > 0) ranked.push({ at, entry: entry as JsonMember, rank });
  }
  const special = new Map<number, JsonMember>();
  let left = most;
  for (const { at, entry } of ranked.sort((a, b) => b.rank - a.rank || a.at - b.at)) {
    const isLarge = (costs[at] as number) > most * SPECIAL_SHARE;
    const held = isLarge ? { ...entry, node: planJson(entry.node, most * SPECIAL_SHARE) } : entry;
    const cost = heldBytes(held.node);
    if (cost > left) continue;
    left -= cost;
    special.set(at, held);
  }
  return special;
}

function countWithin(costs: readonly number[], most: number): number {
  let left = most;
  const over = costs.findIndex((cost) => {
    left -= cost;
    return left < 0;
  });
  return over === -1 ? costs.length : over;
}
