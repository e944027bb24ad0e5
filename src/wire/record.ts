/** A JSON object, as foreign messages are made of. */

export type JsonRecord = Record<string, unknown>;

/** Whether a value is an object with fields, not a list. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value if it is text, else null. */
export function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** An id as text: some formats number theirs. */
export function idOf(value: unknown): string | null {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : null;
}

/** A copy with one field changed in its place; the same object if it has that value already. */
export function withField(record: JsonRecord, field: string, value: unknown): JsonRecord {
  if (record[field] === value) return record;
  const prototype: unknown = Object.getPrototypeOf(record);
  if (prototype === Object.prototype || prototype === null) return { ...record, [field]: value };
  // Messages of some frameworks are instances: a copy stays one.
  return Object.defineProperties(Object.create(prototype as object) as JsonRecord, {
    ...Object.getOwnPropertyDescriptors(record),
    [field]: { value, writable: true, enumerable: true, configurable: true },
  });
}

const MAX_DEPTH = 64;

/** Values that have a JSON: a circle or a depth without end has none, and throws. */
const written = new WeakSet<object>();

/** A value's JSON, which is what a model reads of it; null where it has none. */
export function jsonText(value: unknown): string | null {
  const text = JSON.stringify(value) ?? null;
  if (text !== null && typeof value === "object" && value !== null) written.add(value);
  return text;
}

/** Whether a text is a value's JSON: for a value that was written before, the first letters mostly tell. */
export function isJsonText(value: unknown, text: string): boolean {
  return mayBegin(value, text) && text === jsonText(value);
}

function mayBegin(value: unknown, text: string): boolean {
  if (typeof value !== "object" || value === null || !written.has(value)) return true;
  if ("toJSON" in value) return true;
  return Array.isArray(value) ? /^\[(?:[\]"{[\d-]|true|false|null)/.test(text) : text.startsWith("{");
}

/** About how many characters a value's JSON has, without writing it. Text stands for itself. */
export function jsonChars(value: unknown): number {
  return typeof value === "string" ? value.length : walk(value, 0);
}

function walk(value: unknown, depth: number): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value).length;
  if (typeof value !== "object" || value === null) return value === null ? 4 : 0;
  if (ArrayBuffer.isView(value)) return Math.ceil((value.byteLength * 4) / 3);
  if (value instanceof URL) return value.href.length;
  // Cycles end here too: an estimate may be wrong about what no request can hold.
  if (depth === MAX_DEPTH) return 0;
  let chars = 2;
  if (Array.isArray(value)) {
    for (const item of value) chars += walk(item, depth + 1) + 1;
    return chars;
  }
  for (const [key, field] of Object.entries(value)) chars += key.length + 4 + walk(field, depth + 1);
  return chars;
}
