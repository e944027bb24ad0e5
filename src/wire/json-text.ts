const MAX_DEPTH = 64;

/** A value's JSON, which is what a model reads of it; null where it has none. */
export function jsonText(value: unknown): string | null {
  return JSON.stringify(value) ?? null;
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
