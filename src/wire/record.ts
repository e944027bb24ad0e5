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
