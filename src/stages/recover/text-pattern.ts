/** The numbers that a pattern found, by their name in it. */
export type Numbers = Partial<Record<"observed" | "limit" | "input" | "output" | "total" | "tools" | "number", number>>;

/** A compiled pattern: parts between gaps. Each part is a list of literal texts and numbers. */
export interface TextPattern {
  parts: readonly (readonly Item[])[];
}

type Item = { text: string } | { name: keyof Numbers };

const NAMES = new Set(["observed", "limit", "input", "output", "total", "tools", "number"]);
const MAX_DIGITS = 15;

/**
 * Returns the form in which patterns and texts are compared: lower case, single spaces, straight quotes, no backticks.
 */
export function normalize(text: string): string {
  return text
    .toLowerCase()
    .replace(/[`\u200b]/g, "")
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .replace(/\s+/g, " ")
    .trim();
}

/** Compiles a pattern. Throws an Error that says what is wrong with it. */
export function compilePattern(pattern: string): TextPattern {
  const parts = pattern.split("...").map((part) => items(normalize(part), pattern));
  if (parts.some((part) => part.length === 0)) throw new Error(`"${pattern}": a gap needs text on both sides`);
  const letters = parts.flat().reduce((sum, item) => sum + ("text" in item ? item.text.length : 0), 0);
  if (letters < 4) throw new Error(`"${pattern}" has fewer than 4 characters besides numbers`);
  return { parts };
}

function items(text: string, pattern: string): Item[] {
  return text.split(/(\{[^{}]*\})/).flatMap((piece): Item[] => {
    if (piece === "") return [];
    if (!/^\{.*\}$/.test(piece)) return [{ text: piece }];
    const name = piece.slice(1, -1);
    if (!NAMES.has(name)) throw new Error(`"${pattern}": ${piece} is not known; known are ${[...NAMES].join(", ")}`);
    return [{ name: name as keyof Numbers }];
  });
}

/**
 * Finds the pattern in a text that is in its normal form. Returns its place and the numbers that it names, or null if
 * it is not there. Each part is matched at its first place after the part before, so the time is at most the text's
 * length times the pattern's.
 */
export function matchPattern(
  { parts }: TextPattern,
  text: string,
): { from: number; to: number; numbers: Numbers } | null {
  const numbers: Numbers = {};
  let from = -1;
  let at = 0;
  for (const part of parts) {
    const found = findPart(part, text, at);
    if (found === null) return null;
    if (from < 0) from = found.from;
    at = found.to;
    Object.assign(numbers, found.numbers);
  }
  return { from, to: at, numbers };
}

function findPart(part: readonly Item[], text: string, from: number) {
  const first = part[0] as Item;
  for (let at = from; at <= text.length; at++) {
    if ("text" in first) {
      at = text.indexOf(first.text, at);
      if (at < 0) return null;
    } else if (!isDigit(text, at) || isDigit(text, at - 1)) continue;
    const found = matchPart(part, text, at);
    if (found !== null) return { from: at, ...found };
  }
  return null;
}

function matchPart(part: readonly Item[], text: string, from: number): { to: number; numbers: Numbers } | null {
  const numbers: Numbers = {};
  let at = from;
  for (const item of part) {
    if ("text" in item) {
      if (!text.startsWith(item.text, at)) return null;
      at += item.text.length;
      continue;
    }
    const end = numberEnd(text, at);
    if (end === at) return null;
    const digits = text.slice(at, end).replace(/\D/g, "");
    if (digits.length <= MAX_DIGITS) numbers[item.name] = Number(digits);
    at = end;
  }
  return { to: at, numbers };
}

/**
 * Returns the end of a number such as "200000", "1,048,576", "1_048_576" or "1.048.576". A full stop after the last
 * number of a sentence does not belong to it.
 */
function numberEnd(text: string, from: number): number {
  let at = from;
  while (isDigit(text, at)) at++;
  if (at === from || at - from > 3) return at;
  while (",_.'".includes(text[at] ?? " ") && isDigit(text, at + 1) && isDigit(text, at + 2) && isDigit(text, at + 3)) {
    if (isDigit(text, at + 4)) break;
    at += 4;
  }
  return at;
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}
