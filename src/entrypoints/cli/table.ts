import type { Paint, Screen } from "./screen.ts";

interface TableLook {
  /** The table is made to fit; no limit without it. */
  width?: Screen["width"];
  /** Columns that may be cut for that, the widest first. */
  cuts?: readonly number[];
  /** Columns that are left out before, in this order, as long as those in `cuts` could not be read otherwise. */
  drops?: readonly number[];
  /** The style of a cell, if it has one. */
  paint?: (cell: string, row: number, column: number) => Paint | undefined;
}

/** A column that is cut to fit keeps this much. */
const LEAST_WIDTH = 4;
/** A cut column can be read from here on. */
const READABLE_WIDTH = 10;

/**
 * Writes rows with aligned columns. Columns of numbers (`right`) are aligned at their ends. If the rows are wider than the
 * screen, the columns in `drops` are left out and those in `cuts` are cut.
 */
export function alignTable(
  rows: readonly (readonly string[])[],
  right: ReadonlySet<number>,
  { width = null, cuts = [], drops = [], paint }: TableLook = {},
): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => textWidth(row[column] ?? ""))));
  const overBy = (columns: readonly number[], mostOf = (column: number) => widths[column] ?? 0) =>
    width === null ? 0 : sum(columns.map(mostOf)) + 2 * (columns.length - 1) - width;
  const leastOf = (column: number) => Math.min(widths[column] ?? 0, cuts.includes(column) ? READABLE_WIDTH : Infinity);
  let columns = [...widths.keys()];
  for (const drop of drops) if (overBy(columns, leastOf) > 0) columns = columns.filter((column) => column !== drop);
  for (let over = overBy(columns); over > 0; over--) {
    const [widest = -1] = columns
      .filter((column) => cuts.includes(column))
      .sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0));
    const wide = widths[widest] ?? 0;
    if (wide <= LEAST_WIDTH) break;
    widths[widest] = wide - 1;
  }
  const write = (text: string, at: number, column: number) => {
    const wide = widths[column] ?? 0;
    const cut = cutTo(text, wide);
    const blanks = " ".repeat(wide - textWidth(cut));
    const painted = (paint?.(text, at, column) ?? ((same) => same))(cut);
    return right.has(column) ? blanks + painted : painted + blanks;
  };
  return rows
    .map(
      (row, at) =>
        `${columns
          .map((column) => write(row[column] ?? "", at, column))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}

/** Characters that take two places on a terminal: East Asian ones and most pictures. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const MARKS = /\p{M}/u;

/** How many places a text takes on a terminal. */
function textWidth(text: string): number {
  if (!/[^ -~]/.test(text)) return text.length;
  return sum([...text].map((char) => (MARKS.test(char) ? 0 : WIDE.test(char) ? 2 : 1)));
}

/** The text, or its start with an ellipsis if it takes more places. */
export function cutTo(text: string, places: number): string {
  if (textWidth(text) <= places) return text;
  const chars = [...text];
  while (chars.length > 0 && textWidth(chars.join("")) > places - 1) chars.pop();
  return `${chars.join("")}…`;
}

/** Writes a name as one cell. Control characters, which could change a terminal, are escaped. */
export function cell(name: string | null, maxChars = 60): string {
  return name === null || name === ""
    ? "-"
    : name
        .replaceAll(
          /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
          (char) => `\\u${char.codePointAt(0)?.toString(16).padStart(4, "0")}`,
        )
        .slice(0, maxChars);
}

/** Names the filters that were given, so that "nothing" is not read as an empty store; empty if there were none. */
export function filterText(filters: Record<string, string | number | undefined>): string {
  const given = Object.entries(filters).flatMap(([flag, value]) => {
    if (value === undefined) return [];
    // The time is not shown, since it was typed in another form.
    return [typeof value === "number" ? flag : `${flag} "${value === "" ? "" : cell(value)}"`];
  });
  return given.length === 0 ? "" : ` that matches ${given.join(" and ")}`;
}
