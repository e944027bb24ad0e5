const BYTES: Record<string, number> = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** How a size is written: a number of bytes, or one with a unit. */
export const SIZE_PATTERN = /^\s*\d+(?:\.\d+)?\s*(?:[kmgtKMGT](?:[iI]?[bB])?|[bB])?\s*$/;

/** Reads a size such as 51200, 50KB, 64KiB or 2G. A unit is a power of 1,024. Null for anything else. */
export function readSize(text: string): number | null {
  if (!SIZE_PATTERN.test(text)) return null;
  const unit = /[kmgt]/i.exec(text)?.[0].toLowerCase() ?? "";
  const bytes = Math.round(Number.parseFloat(text) * (BYTES[unit] as number));
  return Number.isSafeInteger(bytes) ? bytes : null;
}
