import type { Strategy } from "../../../contract/strategy.ts";
import { startRanked } from "../ranked/start-ranked.ts";

/** Keeps a table's header, then its first and last rows; the marker between them has the count of the others. */
export const table: Strategy = {
  name: "table",
  exact: true,
  start: (request) => {
    let hasNames = false;
    let isHeader = true;
    return startRanked(request, {
      ranks: 2,
      name: (rank) => (rank === 0 ? "header" : "row"),
      headShare: 0.5,
      // Rules above and below the names belong to the header.
      rank(line) {
        if (!isHeader) return 1;
        if (isRule(line)) {
          isHeader = !hasNames;
          return 0;
        }
        isHeader = !hasNames;
        hasNames = true;
        return isHeader ? 0 : 1;
      },
    });
  },
};

const RULE = new Set([..."-=+|: "].map((char) => char.charCodeAt(0)));

/** A line of dashes, as tables have around their header. */
function isRule(line: Uint8Array): boolean {
  return line.length > 2 && line.every((byte) => RULE.has(byte));
}
