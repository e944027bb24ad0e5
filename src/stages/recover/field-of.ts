/** A field of a foreign object, which may answer with anything, even by throwing. */
export function fieldOf(value: object, name: string): unknown {
  try {
    return (value as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}
