import type { KindSample } from "./kind.ts";
import { columnStarts, splitAt } from "./table-cells.ts";

const LEAST_LINES = 5;
const LEAST_RECORDS = 3;
const SHARE = 0.95;

/** Comma, tab or bar separated values, or columns set under each other. */
export function isTable({ lines }: KindSample): boolean {
  if (lines.length < LEAST_LINES || isNumbered(lines)) return false;
  return ["\t", ",", ";", "|"].some((mark) => isSeparated(lines, mark)) || isAligned(lines) || isCounted(lines);
}

/** A file with numbers before its lines, as `cat -n` has it, is no table. */
function isNumbered(lines: readonly string[]): boolean {
  const isOne = (line: string) => /^ *\d+(?:\t|→)/.test(line);
  return isOne(lines[0] as string) && lines.filter(isOne).length >= lines.length * SHARE;
}

/** Every record has as many separators as the first, quoted ones left out. */
function isSeparated(lines: readonly string[], mark: string): boolean {
  const rows = lines.filter((line) => !/^[-=+|: ]{3,}$/.test(line));
  const header = rows[0] ?? "";
  const columns = splitAt(header, mark, false).cells.length;
  // Sentences have commas too, but not as many in each.
  const least = mark === "," || mark === ";" ? 3 : 2;
  if (columns < least || !hasNames(header, mark)) return false;
  const lengths = recordLengths(rows, mark);
  return (
    lengths.length >= LEAST_RECORDS && lengths.filter((length) => length === columns).length >= lengths.length * SHARE
  );
}

/** How many cells each record has; the last one may go on past what is seen. */
function recordLengths(rows: readonly string[], mark: string): number[] {
  const lengths: number[] = [];
  let before: number | null = null;
  for (const row of rows) {
    const { cells, isOpen } = splitAt(row, mark, before !== null);
    const length: number = cells.length + (before === null ? 0 : before - 1);
    if (!isOpen) lengths.push(length);
    before = isOpen ? length : null;
  }
  return lengths;
}

/** A header has short names, not sentences. */
function hasNames(header: string, mark: string): boolean {
  const cells = header.split(mark).map((cell) => cell.trim());
  return cells.every((cell) => cell.length <= 60 && cell.split(" ").length <= 5);
}

/** Columns with two or more spaces between them that begin at the same places in every line. */
function isAligned(lines: readonly string[]): boolean {
  const header = lines[0] as string;
  const starts = columnStarts(header);
  if (starts.length < 2 || !/^[A-Z][\w()%/ -]*$/.test(header.replace(/\s+/g, " ").trim())) return false;
  const rows = lines.slice(1).filter((line) => !/^[-= ]+$/.test(line));
  const isUnder = (line: string) =>
    starts.filter((at) => at >= line.length || line[at - 1] === " ").length >= starts.length * 0.8;
  return rows.length > 3 && rows.filter(isUnder).length >= rows.length * SHARE;
}

const NAME = /^[A-Z0-9%#][\w%#/()+-]*$/;
const NUMBER = /^-?[\d.,:]+(?:%|[KMGTP]i?B?|B)?$/;

/** Names that begin with a capital, and under them as many words, two or more of them numbers in every row: `ps`, `df`. */
function isCounted(lines: readonly string[]): boolean {
  const header = (lines[0] as string).trim();
  const names = header.split(/\s+/);
  if (names.length < 4 || !/\s{2}/.test(header)) return false;
  if (names.some((name) => NUMBER.test(name)) || names.filter((name) => NAME.test(name)).length < names.length * 0.8) {
    return false;
  }
  const rows = lines.slice(1).map((line) => line.trim().split(/\s+/));
  const share = (is: (row: string[]) => boolean) => rows.filter(is).length / rows.length;
  // The last name may be of two words.
  if (share((row) => row.length >= names.length - 1) < SHARE) return false;
  return names.filter((_, column) => share((row) => NUMBER.test(row[column] ?? "")) >= SHARE).length >= 2;
}
