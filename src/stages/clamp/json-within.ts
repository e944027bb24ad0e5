/**
 * What JSON.stringify gives for a value, if that has at most `maxChars` characters. Null if it has more, or if it cannot
 * be given (a cycle, a BigInt, a getter that throws). Stops as soon as it is over.
 */
export function jsonWithin(value: unknown, maxChars: number): string | null {
  let left = maxChars;
  const pass = function (this: unknown, key: string, held: unknown): unknown {
    if (held === undefined || typeof held === "function") return held;
    left -= (Array.isArray(this) ? 1 : key.length) + (typeof held === "string" ? held.length + 2 : 1);
    if (left < 0 || holdsManyBytes(held, left)) throw new Error("over");
    return held;
  };
  try {
    const json = isLonger(value, maxChars) ? null : (JSON.stringify(value, pass) ?? "");
    return json === null || json.length > maxChars ? null : json;
  } catch {
    return null;
  }
}

/** JSON makes a list of numbers of a buffer before anybody is asked: one that is too long is not begun. */
function holdsManyBytes(value: unknown, maxChars: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  for (const key in value) if (isLonger((value as Record<string, unknown>)[key], maxChars)) return true;
  return false;
}

/** A number and its comma take two characters or more. */
function isLonger(value: unknown, maxChars: number): boolean {
  return ArrayBuffer.isView(value) && 2 * value.byteLength > maxChars && !(value instanceof DataView);
}
