import type { Strategy } from "../../../contract/strategy.ts";
import { decode } from "../fit.ts";
import { cellSplitter, type SplitCells } from "../kinds/table-cells.ts";
import { RareRows } from "../ranked/rare-rows.ts";
import { startRanked } from "../ranked/start-ranked.ts";

const RARE = 1;
const ROW = 2;
const NAMES = ["header", "rare row", "row"];
/** Of the room, what the header and rare rows may take. */
const RARE_SHARE = 0.6;
/** A record of more lines is none: a quote that nothing closes. */
const MOST_RECORD_LINES = 50;

/**
 * Keeps a table's header, rows that have a rare value in a column of few values, then its first and last rows; the
 * marker between them has the count of the others.
 */
export const table: Strategy = {
  name: "table",
  exact: true,
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
      late: { rank: RARE, holder: (mostBytes) => new RareRows(mostBytes, () => cells) },
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

const RULE = new Set([..."-=+|: "].map((char) => char.charCodeAt(0)));

/** A line of dashes, as tables have around their header. */
function isRule(line: Uint8Array): boolean {
  return line.length > 2 && line.every((byte) => RULE.has(byte));
}
