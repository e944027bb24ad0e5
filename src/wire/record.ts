import type { JsonRecord } from "../values.ts";
import { parsedJson } from "../values.ts";
/** Returns the value if it is text, otherwise null. */
export function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Returns an id as text, because some formats use numbers. Returns null if there is none. */
export function idOf(value: unknown): string | null {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : null;
}

/** What copies were made of, so that whoever has the bytes of the first can write the others by what differs. */
const sources = new WeakMap<object, JsonRecord>();

/** Returns the record of which this one is a changed copy, or undefined if it is none. */
export function copiedFrom(record: object): JsonRecord | undefined {
  return sources.get(record);
}

/** Returns a copy with one field changed, or the same object if the field has that value already. */
export function withField(record: JsonRecord, field: string, value: unknown): JsonRecord {
  if (record[field] === value) return record;
  const copy = copyWith(record, field, value);
  sources.set(copy, record);
  return copy;
}

function copyWith(record: JsonRecord, field: string, value: unknown): JsonRecord {
  const prototype: unknown = Object.getPrototypeOf(record);
  if (prototype === Object.prototype || prototype === null) return { ...record, [field]: value };
  // Messages of some frameworks are instances of a class. A copy stays one.
  return Object.defineProperties(Object.create(prototype as object) as JsonRecord, {
    ...Object.getOwnPropertyDescriptors(record),
    [field]: { value, writable: true, enumerable: true, configurable: true },
  });
}

/** Returns a plain object with these fields of a record, as far as it has them. */
export function pick(record: JsonRecord, fields: readonly string[]): JsonRecord {
  return Object.fromEntries(
    fields.filter((field) => record[field] !== undefined).map((field) => [field, record[field]]),
  );
}

const MAX_DEPTH = 64;

/**
 * The objects that are known to have a JSON form. An object that contains itself, or that is too deep, has none and
 * throws.
 */
const written = new WeakSet<object>();

/** Returns a value's JSON, which is what a model reads of it, or null if it has none. */
export function jsonText(value: unknown): string | null {
  const text = JSON.stringify(value) ?? null;
  if (text !== null && typeof value === "object" && value !== null) written.add(value);
  return text;
}

/** Returns true if a text is the value's JSON. If the value was written before, its first characters mostly decide. */
export function isJsonText(value: unknown, text: string): boolean {
  return mayBegin(value, text) && text === jsonText(value);
}

/** Returns the object whose JSON a text is, or null if it is no such text. */
export function jsonObject(text: string): object | null {
  return text.startsWith("{") || text.startsWith("[") ? (parsedJson(text) as object | null) : null;
}

function mayBegin(value: unknown, text: string): boolean {
  if (typeof value !== "object" || value === null || !written.has(value)) return true;
  if ("toJSON" in value) return true;
  return Array.isArray(value) ? /^\[(?:[\]"{[\d-]|true|false|null)/.test(text) : text.startsWith("{");
}

/** Returns about how many characters a value's JSON has, without writing it. A text counts its own length. */
export function jsonChars(value: unknown): number {
  return typeof value === "string" ? value.length : walk(value, 0);
}

function walk(value: unknown, depth: number): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value).length;
  if (typeof value !== "object" || value === null) return value === null ? 4 : 0;
  if (ArrayBuffer.isView(value)) return Math.ceil((value.byteLength * 4) / 3);
  if (value instanceof URL) return value.href.length;
  // Circles end here too. The estimate may be wrong for them, because no request can hold them.
  if (depth === MAX_DEPTH) return 0;
  let chars = 2;
  if (Array.isArray(value)) {
    for (const item of value) chars += walk(item, depth + 1) + 1;
    return chars;
  }
  for (const [key, field] of Object.entries(value)) chars += key.length + 4 + walk(field, depth + 1);
  return chars;
}
