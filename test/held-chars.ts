/** How many characters of text a value holds. What a getter or a function would give is not held. */
export function heldChars(value: unknown, seen = new Set<unknown>()): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null || seen.has(value)) return 0;
  seen.add(value);
  const fields = Object.values(Object.getOwnPropertyDescriptors(value));
  return fields.reduce((sum, field) => sum + heldChars(field.value, seen), 0);
}
