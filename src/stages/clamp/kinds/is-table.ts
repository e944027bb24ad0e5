import type { KindSample } from "./kind.ts";

const LEAST_LINES = 5;
const SHARE = 0.95;

/** Comma, tab or bar separated values, or columns set under each other. */
export function isTable({ lines }: KindSample): boolean {
  if (lines.length < LEAST_LINES || isNumbered(lines)) return false;
  return ["\t", ",", ";", "|"].some((mark) => isSeparated(lines, mark)) || isAligned(lines);
}

/** A file with numbers before its lines, as `cat -n` has it, is no table. */
function isNumbered(lines: readonly string[]): boolean {
  const isOne = (line: string) => /^ *\d+(?:\t|→)/.test(line);
  return isOne(lines[0] as string) && lines.filter(isOne).length >= lines.length * SHARE;
}

/** Every line has as many separators as the first, quoted ones left out. */
function isSeparated(lines: readonly string[], mark: string): boolean {
  const rows = lines.filter((line) => !/^[-=+|: ]{3,}$/.test(line));
  const columns = separators(rows[0] ?? "", mark);
  // Sentences have commas too, but not as many in each.
  const least = mark === "," || mark === ";" ? 2 : 1;
  if (columns < least || !hasNames(rows[0] as string, mark)) return false;
  return rows.filter((line) => separators(line, mark) === columns).length >= rows.length * SHARE;
}

function separators(line: string, mark: string): number {
  let count = 0;
  let isQuoted = false;
  for (const char of line) {
    if (char === '"') isQuoted = !isQuoted;
    else if (char === mark && !isQuoted) count++;
  }
  return count;
}

/** A header has short names, not sentences. */
function hasNames(header: string, mark: string): boolean {
  const cells = header.split(mark).map((cell) => cell.trim());
  return cells.every((cell) => cell.length <= 60 && cell.split(" ").length <= 5);
}

/** Columns with two or more spaces between them that begin at the same places in every line. */
function isAligned(lines: readonly string[]): boolean {
  const header = lines[0] as string;
  const starts = [...header.matchAll(/(?<=\s{2})\S/g)].map(({ index }) => index);
  if (starts.length < 2 || !/^[A-Z][\w()%/ -]*$/.test(header.replace(/\s+/g, " ").trim())) return false;
  const rows = lines.slice(1).filter((line) => !/^[-= ]+$/.test(line));
  const isUnder = (line: string) =>
    starts.filter((at) => at >= line.length || line[at - 1] === " ").length >= starts.length * 0.8;
  return rows.length > 3 && rows.filter(isUnder).length >= rows.length * SHARE;
}
