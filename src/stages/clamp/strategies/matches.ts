import type { Strategy } from "../../../contract/strategy.ts";
import { decode } from "../fit.ts";
import { matchedFile } from "../kinds/matched-file.ts";
import { tellsTrouble } from "../kinds/tells-trouble.ts";
import { startRanked } from "../ranked/start-ranked.ts";

const RANKS = 15;
/** Longer paths are told apart by their first bytes. */
const LOOK_BYTES = 400;
/** Lines that are no match but tell of trouble and stand before all others. */
const MOST_TROUBLES = 20;
const NAMES = ["trouble", "first match in a file"];

/** Keeps search results: every file's first match, then every file's second, and so on; each line as it is. */
export const matches: Strategy = {
  name: "matches",
  exact: true,
  start: (request) => {
    let file: string | null = null;
    let depth = 0;
    let troubles = 0;
    return startRanked(request, {
      ranks: RANKS,
      name: (rank) => NAMES[rank] ?? "further match in a file",
      headShare: 0.6,
      rank(bytes) {
        const line = decode(bytes.subarray(0, LOOK_BYTES));
        const found = matchedFile(line);
        if (found === null && tellsTrouble(line) && troubles++ < MOST_TROUBLES) return 0;
        // Results come file by file: what has no name belongs to the one before.
        if (found !== null && found !== file) {
          file = found;
          depth = 0;
        }
        return Math.min(RANKS - 1, 1 + Math.floor(Math.log2(1 + depth++)));
      },
    });
  },
};
