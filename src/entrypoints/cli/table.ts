/** Writes rows with aligned columns. Columns of numbers (`right`) are aligned at their ends. */
export function alignTable(rows: readonly (readonly string[])[], right: ReadonlySet<number>): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          right.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
        )
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
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
