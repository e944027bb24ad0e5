import { fairShares } from "../fair-shares.ts";
import { chooseEntries, SPECIAL_SHARE, specialRank } from "./choose-entries.ts";
import {
  GONE_SIZE,
  groupSize,
  isGroup,
  isMember,
  isWhole,
  type JsonEntry,
  type JsonGone,
  type JsonGroup,
  type JsonMember,
  type JsonNode,
  type JsonSkip,
  lastLine,
  SKIP_SIZE,
} from "./json-node.ts";
import { shortenText } from "./shorten-text.ts";

/** A group with less room than this is left out as a whole. */
const LEAST_GROUP_BYTES = 80;
/** A string is not shortened to less than this. */
const LEAST_TEXT_BYTES = GONE_SIZE + 16;

/**
 * A value made to take about `budget` bytes: strings keep their ends, arrays first, last and unusual elements, objects
 * all their keys while these have room. The value itself is not changed.
 */
export function planJson(node: JsonNode, budget: number): JsonNode {
  if (!isGroup(node)) return planLeaf(node, budget);
  const size = node.isOpen ? openSize(node) : node.size;
  if (size <= Math.max(budget, GONE_SIZE)) return node;
  if (budget < LEAST_GROUP_BYTES && !node.isOpen) return goneFor(node);
  return planGroup(node, budget);
}

function planLeaf(node: Exclude<JsonNode, JsonGroup>, budget: number): JsonNode {
  if (node.size <= Math.max(budget, GONE_SIZE)) return node;
  if (node.kind !== "text") return goneFor(node);
  return budget < LEAST_TEXT_BYTES ? goneFor(node) : shortenText(node, budget);
}

/** An open group's size is not kept up while it grows. */
function openSize(group: JsonGroup): number {
  const last = group.entries.at(-1);
  const inner = last !== undefined && isMember(last) && isGroup(last.node) && last.node.isOpen ? last.node : null;
  return groupSize(group) + (inner === null ? 0 : openSize(inner) - inner.size);
}

function planGroup(group: JsonGroup, budget: number): JsonGroup {
  const room = budget - 2;
  const chosen = chooseEntries(group, room);
  const kept = group.entries.filter((entry, index): entry is JsonMember => isMember(entry) && chosen.has(index));
  const skips = countSkips(group.entries, chosen);
  const keys = kept.reduce((sum, { key }) => sum + 1 + (key === null ? 0 : key.bytes.length + 1), 0);
  const sizes = kept.map(({ node }) => (isGroup(node) && node.isOpen ? openSize(node) : node.size));
  const isSpecial = kept.map((entry) => specialRank(entry, group.count) > 0);
  const shares = specialFirst(sizes, isSpecial, Math.max(0, room - keys - skips * SKIP_SIZE));
  const planned = new Map(kept.map((entry, index) => [entry, planJson(entry.node, shares[index] as number)]));
  const entries: JsonEntry[] = [];
  group.entries.forEach((entry, index) => {
    const node = isMember(entry) && chosen.has(index) ? planned.get(entry) : undefined;
    if (node !== undefined) entries.push({ ...(entry as JsonMember), node });
    else addSkip(entries, entry);
  });
  const plan: JsonGroup = { ...group, entries };
  plan.isWhole = entries.every((entry) => isMember(entry) && isWhole(entry.node));
  plan.size = groupSize(plan);
  return plan;
}

/** Shares of the room: what is special has the most of it if it needs that, the others alike what is left. */
function specialFirst(sizes: readonly number[], isSpecial: readonly boolean[], room: number): number[] {
  const sizesOf = (special: boolean) => sizes.filter((_, index) => isSpecial[index] === special);
  const usual = sizesOf(false);
  const rest = room - usual.reduce((sum, size) => sum + size, 0);
  const first = fairShares(sizesOf(true), Math.floor(Math.max(rest, room * SPECIAL_SHARE)));
  const others = fairShares(usual, room - first.reduce((sum, share) => sum + share, 0));
  return isSpecial.map((special) => (special ? first : others).shift() ?? 0);
}

/** Stretches of entries that are not shown. */
function countSkips(entries: readonly JsonEntry[], chosen: ReadonlySet<number>): number {
  return entries.filter((_, index) => !chosen.has(index) && (index === 0 || chosen.has(index - 1))).length;
}

/** Adds an entry that is not shown to those before it. */
export function addSkip(entries: JsonEntry[], entry: JsonEntry): void {
  const skip = isMember(entry) ? skipFor(entry) : entry;
  const last = entries.at(-1);
  if (last === undefined || isMember(last)) entries.push({ ...skip });
  else {
    last.count += skip.count;
    last.to = skip.to;
    last.toLine = skip.toLine;
  }
}

function skipFor({ index, key, node }: JsonMember): JsonSkip {
  return {
    index,
    count: 1,
    from: key?.from ?? node.from,
    to: node.to,
    line: key?.line ?? node.line,
    toLine: lastLine(node),
  };
}

function goneFor(node: JsonNode): JsonGone {
  if (node.kind === "gone") return node;
  const { from, to, line, isWanted } = node;
  const place = { from, to, line, toLine: lastLine(node), isWanted, size: GONE_SIZE };
  if (!isGroup(node)) return { kind: "gone", what: node.kind === "text" ? "string" : "value", count: 0, ...place };
  return { kind: "gone", what: node.kind === "object" ? "object" : "array", count: node.count, ...place };
}
