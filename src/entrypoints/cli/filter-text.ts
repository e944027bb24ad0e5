import { cell } from "./table.ts";

/** Names the filters that were given, so that "nothing" is not read as an empty store; empty if there were none. */
export function filterText(filters: Record<string, string | number | undefined>): string {
  const given = Object.entries(filters).flatMap(([flag, value]) => {
    if (value === undefined) return [];
    // Times were typed in another form than they are known here.
    return [typeof value === "number" ? flag : `${flag} "${value === "" ? "" : cell(value)}"`];
  });
  return given.length === 0 ? "" : ` that matches ${given.join(" and ")}`;
}
