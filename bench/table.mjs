// A table is { title, notes?, columns: string[], rows: (string | number)[][] }; the first column is text.

function aligned({ title, notes = [], columns, rows }) {
  const cells = [columns, ...rows].map((row) => row.map(String));
  const widths = columns.map((_, i) => Math.max(...cells.map((row) => row[i].length)));
  const lefts = columns.map((_, i) => rows.every((row) => !/^<?\d/.test(String(row[i]))));
  const line = (row) =>
    row
      .map((cell, i) => (lefts[i] ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  return [title, "", line(cells[0]), rule, ...cells.slice(1).map(line), ...notes.map((note) => `  ${note}`)].join("\n");
}

function markdown({ title, notes = [], columns, rows }) {
  const line = (row) => `| ${row.map((cell) => String(cell).replaceAll("|", "\\|")).join(" | ")} |`;
  const rule = `|${columns.map(() => "---").join("|")}|`;
  return [`## ${title}`, "", line(columns), rule, ...rows.map(line), "", ...notes.map((note) => `- ${note}`)].join(
    "\n",
  );
}

/** Tables as text for a terminal. */
export function printTables(tables) {
  return `${tables.map(aligned).join("\n\n")}\n`;
}

/** The same tables for a page of the docs. */
export function markdownTables(tables) {
  return `${tables.map(markdown).join("\n\n")}\n`;
}
