import { isGroup, isMember, type JsonGroup, type JsonMember, type JsonNode, type RareSort } from "./json-node.ts";
import { textOf } from "./text-of.ts";

/** Elements after which one that differs is worth a look. */
export const USUAL_COUNT = 32;
/** A list with more shapes than this, or a field with more values, has no usual one. */
const MAX_SHAPES = 8;
const MAX_VALUES = 16;
/** Fields that are compared, and how many of them within one that is no direct field. */
const MAX_FIELDS = 128;
const MAX_INNER_FIELDS = 32;
/** How deep fields are compared, and how many elements of a list in a field. */
const MAX_DEPTH = 4;
const MAX_INNER_ELEMENTS = 4;
/** A longer text is no word that stands for a state. */
const MAX_WORD_BYTES = 24;
/** Elements of one sort are all unusual while they are no more than this, and no more than one in so many. */
const MAX_ALIKE = 16;
const FEW_SHARE = 20;
/** Sorts remembered of one element. */
const MAX_SORTS = 8;
const NO_SORTS: readonly RareSort[] = [];

/** A field of the elements; `values` or `inner` is null where it has too many to tell. */
interface Field {
  values: Map<string, RareSort> | null;
  inner: Map<string, Field> | null;
}

/** Knows the elements of a list that are unlike the others: another shape, or a state that few of them have. */
export class RareElements {
  #count = 0;
  #fieldCount = 0;
  #index = 0;
  #sorts: RareSort[] = [];
  readonly #shapes: Field = newField();
  readonly #fields: Field = newField();

  /** The sorts an element is of that have few elements so far. */
  add(node: JsonNode, index: number): readonly RareSort[] {
    this.#index = index;
    this.#sorts = [];
    const isObject = isGroup(node) && node.kind === "object";
    this.#addValue(this.#shapes, isObject ? shapeOf(node) : node.kind, MAX_SHAPES);
    if (isObject) this.#addFields(this.#fields, node, 1);
    this.#count++;
    return this.#sorts.length === 0 ? NO_SORTS : this.#sorts;
  }

  #addFields(field: Field, group: JsonGroup, depth: number): void {
    let elements = 0;
    for (const entry of group.entries) {
      if (!isMember(entry)) continue;
      if (entry.key === null && ++elements > MAX_INNER_ELEMENTS) return;
      if (entry.key !== null && entry.key.bytes.length > MAX_WORD_BYTES) continue;
      const inner = this.#innerField(field, entry.key === null ? "" : textOf(entry.key.bytes), depth);
      if (inner === null) continue;
      if (isGroup(entry.node)) {
        if (depth < MAX_DEPTH) this.#addFields(inner, entry.node, depth + 1);
        continue;
      }
      const word = wordOf(entry.node);
      if (word !== null) this.#addValue(inner, word, MAX_VALUES);
    }
  }

  #innerField(field: Field, name: string, depth: number): Field | null {
    const known = field.inner?.get(name);
    if (known !== undefined || field.inner === null) return known ?? null;
    if (depth > 1 && field.inner.size >= MAX_INNER_FIELDS) {
      // Its keys are names, not fields.
      giveUp(field);
      return null;
    }
    if (this.#fieldCount >= MAX_FIELDS) return null;
    this.#fieldCount++;
    const inner = newField();
    field.inner.set(name, inner);
    return inner;
  }

  #addValue(field: Field, word: string, most: number): void {
    if (field.values === null) return;
    let sort = field.values.get(word);
    if (sort === undefined) {
      sort = { count: 0, first: this.#index, isLate: this.#count >= USUAL_COUNT };
      field.values.set(word, sort);
      if (field.values.size > most) {
        giveUp(field);
        return;
      }
    }
    sort.count++;
    if (sort.count <= MAX_ALIKE && this.#sorts.length < MAX_SORTS) this.#sorts.push(sort);
  }
}

/** How unusual an element is among `total`: 2 for the first of its sort, 1 for another of a sort that has few, else 0. */
export function rarityOf({ index, sorts }: JsonMember, total: number): 0 | 1 | 2 {
  let rarity: 0 | 1 = 0;
  for (const { count, first, isLate } of sorts) {
    if (count === Number.POSITIVE_INFINITY) continue;
    const isFew = total > USUAL_COUNT && count <= Math.min(MAX_ALIKE, total / FEW_SHARE);
    if (first === index && (isLate || isFew)) return 2;
    if (isFew) rarity = 1;
  }
  return rarity;
}

function newField(): Field {
  return { values: new Map(), inner: new Map() };
}

/** Nothing in a field tells one element from the others any more. */
function giveUp(field: Field): void {
  for (const sort of field.values?.values() ?? []) sort.count = Number.POSITIVE_INFINITY;
  for (const inner of field.inner?.values() ?? []) giveUp(inner);
  field.values = null;
  field.inner = null;
}

/** A word for an object's keys, whatever their order. */
function shapeOf({ entries }: JsonGroup): string {
  let shape = entries.length;
  for (const entry of entries) if (isMember(entry) && entry.key !== null) shape = (shape + hashOf(entry.key.bytes)) | 0;
  return `${shape}`;
}

function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return hash;
}

function wordOf(node: JsonNode): string | null {
  if (node.kind === "scalar" && node.bytes.length <= MAX_WORD_BYTES) return textOf(node.bytes);
  if (node.kind === "text" && node.tail === null && node.head.length <= MAX_WORD_BYTES) return textOf(node.head);
  return null;
}
