/** Where half a surrogate pair is escaped in a JSON text; null where there is none. */
export function findLoneSurrogate(json: string): number | null {
  // Escaped backslashes are stepped over, so that "\\ud83d" stays text.
  const escapes = /\\(?:u([0-9a-f]{4})|[^u])/gi;
  let high: number | null = null;
  for (let found = escapes.exec(json); found !== null; found = escapes.exec(json)) {
    const code = Number.parseInt(found[1] ?? "0", 16);
    const follows = high !== null && found.index === high + 6;
    if (code >= 0xdc00 && code <= 0xdfff && follows) {
      high = null;
      continue;
    }
    if (high !== null) return high;
    if (code >= 0xdc00 && code <= 0xdfff) return found.index;
    high = code >= 0xd800 && code <= 0xdbff ? found.index : null;
  }
  return high;
}
