const MAX_DEPTH = 64;
const MAX_NODES = 1_000_000;

/**
 * The value with every lone surrogate in it, keys included, replaced by U+FFFD: one alone makes a whole session unreadable
 * to most providers. What needs no repair is the same object. Never throws, changes nothing.
 */
export function repairText<T>(value: T): T {
  const walk = { nodes: MAX_NODES };
  try {
    return repair(value, walk, 0) as T;
  } catch {
    return value;
  }
}

function repair(value: unknown, walk: { nodes: number }, depth: number): unknown {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH || --walk.nodes < 0) return value;
  if (Array.isArray(value)) {
    const repaired = value.map((item) => repair(item, walk, depth + 1));
    return repaired.some((item, index) => item !== value[index]) ? repaired : value;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return value;
  const entries = Object.entries(value).map(
    ([name, item]) => [name.toWellFormed(), repair(item, walk, depth + 1)] as const,
  );
  const isSame = entries.every(
    ([name, item]) => Object.hasOwn(value, name) && (value as Record<string, unknown>)[name] === item,
  );
  return isSame ? value : Object.fromEntries(entries);
}
