import type { WordCounts } from "../focus/word-counts.ts";

/** Where a value stands in the source. */
interface Placed {
  from: number;
  to: number;
  line: number;
  /** Bytes it takes when written without white space. */
  size: number;
  /** Which words of a focus stand in it, in its key or in something inside it. */
  words: number;
  /** Those of these words that are a whole key or value. */
  exact?: number;
}

/** A number, true, false or null: never changed. */
export interface JsonScalar extends Placed {
  kind: "scalar";
  bytes: Uint8Array;
}

/** A string with its quotes; `tail` is null while all of it is in `head`. */
export interface JsonText extends Placed {
  kind: "text";
  head: Uint8Array;
  tail: Uint8Array | null;
}

/** A value that is not shown. */
export interface JsonGone extends Placed {
  kind: "gone";
  what: "array" | "object" | "string" | "value";
  /** Elements or keys it has. */
  count: number;
  toLine: number;
}

/** An array, an object, or values that stand one after another ("lines"). */
export interface JsonGroup extends Placed {
  kind: "array" | "object" | "lines";
  entries: JsonEntry[];
  /** Elements or members in the source. */
  count: number;
  toLine: number;
  isOpen: boolean;
  /** Nothing in it is left out. */
  isWhole: boolean;
  /** In how many of its entries each word of a focus stands. */
  counts: WordCounts | null;
}

/** A value as far as it is held. */
export type JsonNode = JsonScalar | JsonText | JsonGone | JsonGroup;

/** An element, or a member with its key. */
export interface JsonMember {
  index: number;
  /** With its quotes. */
  key: { bytes: Uint8Array; from: number; line: number } | null;
  node: JsonNode;
  /** The sorts it belongs to that have few elements. */
  sorts: readonly RareSort[];
}

/** Elements that are alike in one way. The count grows while elements come. It is infinite once that way tells nothing. */
export interface RareSort {
  count: number;
  /** Index of the first of them. */
  first: number;
  /** True if many other elements came before the first of them. */
  isLate: boolean;
}

/** Elements or members in a row that are not shown. */
export interface JsonSkip {
  index: number;
  count: number;
  from: number;
  to: number;
  line: number;
  toLine: number;
}

/** What a group holds, in order. */
export type JsonEntry = JsonMember | JsonSkip;

/** Returns true for an entry that is shown. */
export function isMember(entry: JsonEntry): entry is JsonMember {
  return "node" in entry;
}

/** Returns true for a value with entries. */
export function isGroup(node: JsonNode): node is JsonGroup {
  return "entries" in node;
}

/** The last line that a value reaches. */
export function lastLine(node: JsonNode): number {
  return "toLine" in node ? node.toLine : node.line;
}

/** Returns true if nothing of a value is left out. */
export function isWhole(node: JsonNode): boolean {
  if (node.kind === "text") return node.tail === null;
  return isGroup(node) ? node.isWhole && !node.isOpen : node.kind === "scalar";
}

/** Bytes that a group takes when written. */
export function groupSize(group: JsonGroup): number {
  return group.entries.reduce((sum, entry) => sum + entrySize(entry), 2);
}

/** Bytes that an entry takes when written, its comma included. */
export function entrySize(entry: JsonEntry): number {
  if (!isMember(entry)) return SKIP_SIZE;
  return entry.node.size + 1 + (entry.key === null ? 0 : entry.key.bytes.length + 1);
}

/** What one value costs to hold, beyond its bytes. */
const NODE_BYTES = 32;

/** What a value costs to hold. */
export function heldBytes(node: JsonNode): number {
  if (!isGroup(node)) return NODE_BYTES + (node.kind === "gone" ? 0 : node.size);
  return node.entries.reduce((sum, entry) => sum + (isMember(entry) ? memberBytes(entry) : NODE_BYTES), NODE_BYTES);
}

/** What a member costs to hold, its key included. */
export function memberBytes({ key, node }: JsonMember): number {
  return heldBytes(node) + (key?.bytes.length ?? 0);
}

/** About what a note on skipped entries takes, and one on a value that is not shown. */
export const SKIP_SIZE = 64;
export const GONE_SIZE = 48;
