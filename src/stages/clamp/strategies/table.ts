import { decode } from "../fit.ts";
import { RareLines } from "../ranked/rare-lines.ts";
import { startRanked } from "../ranked/start-ranked.ts";
import { type KindSample, type KindStrategy, shareOfLines } from "./kind.ts";

const RARE = 1;
const ROW = 2;
const NAMES = ["header", "rare row", "row"];
/** The header and rare rows may take this share of the room. */
const RARE_SHARE = 0.6;
/** More lines are not one record: nothing closes the quote. */
const MOST_RECORD_LINES = 50;

/**
 * Keeps a table's header, rows that have a rare value in a column of few values, then its first and last rows; the
 * marker between them has the count of the others.
 */
export const table: KindStrategy = {
  name: "table",
  exact: true,
  kinds: [{ name: "table", order: 80, is: isTable }],
  start: (request) => {
    let header: string | null = null;
    let split: SplitCells | null = null;
    let cells: readonly string[] | null = null;
    let openLines = 0;
    let hasRecords = true;
    return startRanked(request, {
      ranks: NAMES.length,
      headerRanks: 1,
      name: (rank) => NAMES[rank] ?? "row",
      headShare: 0.5,
      share: (rank) => (rank === RARE ? RARE_SHARE : 1),
      late: {
        rank: RARE,
        // A row of another length than most is rare too.
        holder: (mostBytes) =>
          new RareLines(mostBytes, () =>
            cells === null ? null : { values: [[-1, String(cells.length)], ...cells.entries()] },
          ),
      },
      isInside: () => openLines > 0,
      rank(bytes) {
        cells = null;
        // Rules above and below the names belong to the header.
        if (isRule(bytes)) return split === null ? 0 : ROW;
        const line = decode(bytes);
        if (header === null) {
          header = line;
          return 0;
        }
        split ??= cellSplitter(header, line);
        const wasOpen = openLines > 0;
        const found = split(line, wasOpen);
        openLines = found.isOpen && hasRecords ? openLines + 1 : 0;
        if (openLines > MOST_RECORD_LINES) {
          hasRecords = false;
          openLines = 0;
        }
        if (!wasOpen && !found.isOpen) cells = found.cells;
        return ROW;
      },
    });
  },
};

const RULE = /^[-=+|: \u2500-\u257f]{3,}$/;
/** A line that begins with another byte is no rule. */
const RULE_STARTS = new Set([..."-=+|: "].map((char) => char.charCodeAt(0)).concat(0xe2));

/** A line of dashes, as tables have around their header. */
function isRule(line: Uint8Array): boolean {
  return RULE_STARTS.has(line[0] ?? 0) && RULE.test(decode(line));
}

/** A line's cells, and whether it ends within a quoted one. */
interface Cells {
  cells: string[];
  isOpen: boolean;
}

/** Splits a line of a table; `isOpen` says that the line begins within a quoted cell. */
type SplitCells = (line: string, isOpen: boolean) => Cells;

/** The last two are those of boxes that are drawn around tables. */
const MARKS = ["\t", "|", ";", ",", "│", "┃"];

/** How a table's lines are split, by its header and a row: at a separator, under the names, or at white space. */
export function cellSplitter(header: string, row: string): SplitCells {
  const mark = MARKS.find((one) => {
    const names = splitAt(header, one, false).cells.length;
    const first = splitAt(row, one, false);
    return names > 1 && (first.isOpen || first.cells.length === names);
  });
  if (mark !== undefined) return (line, isOpen) => splitAt(line, mark, isOpen);
  const starts = columnStarts(header);
  const names = words(header).length;
  // If most names have one space before them, values do not begin under them.
  const isUnder =
    starts.length > 1 && starts.length >= names - 2 && starts.every((at) => row.length <= at || row[at - 1] === " ");
  if (isUnder) {
    const edges = [0, ...starts];
    return (line) => ({ cells: edges.map((at, index) => line.slice(at, edges[index + 1]).trim()), isOpen: false });
  }
  return (line) => ({ cells: words(line).slice(0, names), isOpen: false });
}

/** Where names begin that two or more spaces stand before. */
function columnStarts(header: string): number[] {
  return [...header.matchAll(/(?<=\s{2})\S/g)].map(({ index }) => index);
}

/** A quote counts where a cell begins with it, so that one in the middle of a text does not. */
export function splitAt(line: string, mark: string, isOpen: boolean): Cells {
  const cells: string[] = [];
  let isQuoted = isOpen;
  let beganQuoted = isOpen;
  let from = 0;
  for (let at = 0; at < line.length; at++) {
    const char = line[at];
    if (char === '"') {
      // Two quotes within a quoted cell close it and open it again.
      beganQuoted ||= line.slice(from, at).trim() === "";
      isQuoted = beganQuoted && !isQuoted;
    } else if (char === mark && !isQuoted) {
      cells.push(line.slice(from, at).trim());
      from = at + 1;
      beganQuoted = false;
    }
  }
  cells.push(line.slice(from).trim());
  return { cells, isOpen: isQuoted };
}

function words(line: string): string[] {
  return line.split(/\s+/).filter((word) => word !== "");
}

const LEAST_LINES = 5;
const LEAST_RECORDS = 3;
const SHARE = 0.95;

/** Comma, tab or bar separated values, or columns set under each other. */
export function isTable({ lines }: KindSample): boolean {
  if (lines.length < LEAST_LINES || isNumbered(lines)) return false;
  return MARKS.some((mark) => isSeparated(lines, mark)) || isAligned(lines) || isCounted(lines);
}

/** A file with numbers before its lines, as `cat -n` writes it, is not a table. */
function isNumbered(lines: readonly string[]): boolean {
  const isOne = (line: string) => /^ *\d+(?:\t|→)/.test(line);
  return isOne(lines[0] as string) && shareOfLines(lines, isOne) >= SHARE;
}

/** Every record has as many separators as the first, quoted ones left out. */
function isSeparated(lines: readonly string[], mark: string): boolean {
  const rows = lines.filter((line) => !RULE.test(line));
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

const COLUMN_NAME = /^[A-Z0-9%#][\w%#/():+-]*$/;
const NUMBER = /^-?[\d.,:]+(?:%|[KMGTP]i?B?|B)?$/;

/** Names that begin with a capital, and under them as many words, two or more of them numbers in every row: `ps`, `df`. */
function isCounted(lines: readonly string[]): boolean {
  const header = (lines[0] as string).trim();
  const names = header.split(/\s+/);
  if (names.length < 4 || !/\s{2}/.test(header)) return false;
  if (
    names.some((name) => NUMBER.test(name)) ||
    names.filter((name) => COLUMN_NAME.test(name)).length < names.length * 0.8
  ) {
    return false;
  }
  const rows = lines.slice(1).map((line) => line.trim().split(/\s+/));
  const share = (is: (row: string[]) => boolean) => rows.filter(is).length / rows.length;
  // Names may be of two words.
  const length = (rows[0] as string[]).length;
  const isEven = length > names.length / 2 && share((row) => row.length === length) >= SHARE;
  if (!isEven && share((row) => row.length >= names.length - 1) < SHARE) return false;
  return names.filter((_, column) => share((row) => NUMBER.test(row[column] ?? "")) >= SHARE).length >= 2;
}
