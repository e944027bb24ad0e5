import { heldBytes, isMember, type JsonEntry, type JsonGroup, type JsonMember } from "./json-node.ts";
import { addSkip } from "./plan-json.ts";

/** Gives up the middle of a group: its first and last entries stay, `most` bytes of each, and as much that is special. */
export function trimEntries(group: JsonGroup, most: number): number {
  const { entries } = group;
  const costs = entries.map((entry) => (isMember(entry) ? heldBytes(entry.node) : 0));
  const first = Math.max(1, countWithin(costs, most));
  const last = Math.max(1, countWithin(costs.toReversed(), most));
  const kept: JsonEntry[] = entries.slice(0, first);
  let special = most;
  let freed = 0;
  for (let at = first; at < entries.length - last; at++) {
    const entry = entries[at] as JsonEntry;
    const cost = costs[at] as number;
    if (isSpecial(entry) && cost <= special) {
      special -= cost;
      kept.push(entry);
    } else {
      addSkip(kept, entry);
      freed += cost;
    }
  }
  if (freed === 0) return 0;
  kept.push(...entries.slice(Math.max(first, entries.length - last)));
  group.entries = kept;
  return freed;
}

function isSpecial(entry: JsonEntry): entry is JsonMember {
  return isMember(entry) && (entry.isRare || entry.node.isWanted);
}

function countWithin(costs: readonly number[], most: number): number {
  let left = most;
  const over = costs.findIndex((cost) => {
    left -= cost;
    return left < 0;
  });
  return over === -1 ? costs.length : over;
}
