import { isGroup, isMember, type JsonGroup, type JsonNode } from "./json-node.ts";
import { textOf } from "./text-of.ts";

/** Elements after which one that differs is worth a look. */
const USUAL_COUNT = 32;
/** A list with more shapes than this, or a field with more values, has no usual one. */
const MAX_SHAPES = 8;
const MAX_VALUES = 16;
const MAX_FIELDS = 24;
/** A longer text is no word that stands for a state. */
const MAX_WORD_BYTES = 24;

/** Knows the elements of a list that are unlike those before: another shape, or a state not seen so far. */
export class RareElements {
  #count = 0;
  readonly #shapes = new Set<string | number>();
  /** Null: a field with too many values to tell. */
  readonly #fields = new Map<string, Set<string> | null>();

  /** True if the element is the first of its sort after many others. */
  add(node: JsonNode): boolean {
    const isLate = this.#count++ >= USUAL_COUNT;
    if (!isGroup(node) || node.kind !== "object") return this.#addShape(node.kind) && isLate;
    const isNewShape = this.#addShape(shapeOf(node));
    const isNewValue = this.#addValues(node);
    return isLate && (isNewShape || isNewValue);
  }

  #addShape(shape: string | number): boolean {
    if (this.#shapes.size > MAX_SHAPES || this.#shapes.has(shape)) return false;
    this.#shapes.add(shape);
    return this.#shapes.size <= MAX_SHAPES;
  }

  #addValues(node: JsonGroup): boolean {
    let isNew = false;
    for (const entry of node.entries) {
      if (!isMember(entry) || entry.key === null || entry.key.bytes.length > MAX_WORD_BYTES) continue;
      const word = wordOf(entry.node);
      if (word !== null && this.#addValue(textOf(entry.key.bytes), word)) isNew = true;
    }
    return isNew;
  }

  #addValue(field: string, word: string): boolean {
    const seen = this.#fields.get(field);
    if (seen === null || (seen === undefined && this.#fields.size >= MAX_FIELDS)) return false;
    if (seen === undefined) {
      this.#fields.set(field, new Set([word]));
      return true;
    }
    if (seen.has(word)) return false;
    seen.add(word);
    if (seen.size <= MAX_VALUES) return true;
    this.#fields.set(field, null);
    return false;
  }
}

/** A number for an object's keys, whatever their order. */
function shapeOf({ entries }: JsonGroup): number {
  let shape = entries.length;
  for (const entry of entries) if (isMember(entry) && entry.key !== null) shape = (shape + hashOf(entry.key.bytes)) | 0;
  return shape;
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
