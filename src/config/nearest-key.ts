const MAX_KEY_CHARS = 60;

/** The known key that a mistyped one most likely means; undefined if none is near. */
export function nearestKey(typed: string, known: Iterable<string>): string | undefined {
  if (typed.length > MAX_KEY_CHARS) return undefined;
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const key of known) {
    const distance = editDistance(bare(typed), bare(key));
    // Of the two spellings the one that looks like what was typed.
    const tie = distance === bestDistance && key.includes("_") === typed.includes("_");
    if (distance < bestDistance || tie) [best, bestDistance] = [key, distance];
  }
  return bestDistance <= Math.max(1, Math.floor(typed.length / 3)) ? best : undefined;
}

function bare(key: string): string {
  return key.toLowerCase().replaceAll(/[_-]/g, "");
}

/** Insertions, deletions, replacements and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(replaced, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) least = Math.min(least, (beforeLast[j - 2] ?? 0) + 1);
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
