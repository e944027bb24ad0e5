import type { Strategy } from "../../../contract/strategy.ts";
import { decode } from "../fit.ts";
import { startRanked } from "../ranked/start-ranked.ts";

const FILE = /^(?:diff |Index: |--- |\+\+\+ |commit [0-9a-f]{7,}|Binary files )/;
const FILE_DETAIL =
  /^(?:index [0-9a-f]|(?:new|deleted) file mode|(?:old|new) mode|(?:rename|copy) (?:from|to) |similarity index|dissimilarity index|GIT binary patch|Author: |Date: )/;
/** Ranks: names of files, heads of hunks, details, then bodies, each hunk's first lines before any hunk's later ones. */
const HUNK = 1;
const DETAIL = 2;
const BODY = 3;
const NAMES = ["file", "head of a hunk", "details of a file"];
/** Lines of a hunk in the first step of depth; each further step has twice as many. */
const FIRST_DEPTH = 4;
const RANKS = 12;
/** Longer lines are not read to their end to tell what they are. */
const LOOK_BYTES = 200;

/** Keeps a diff's file headers, then the heads of its hunks, then as much of every hunk as has room. */
export const diff: Strategy = {
  name: "diff",
  exact: true,
  start: (request) => {
    // Lines that the hunk still has by its head: a removed line may look like a header.
    let oldLeft = 0;
    let newLeft = 0;
    let depth = 0;
    const body = (): number => BODY + Math.floor(Math.log2(1 + depth++ / FIRST_DEPTH));
    return startRanked(request, {
      ranks: RANKS,
      name: (rank) => NAMES[rank] ?? "body of a hunk",
      headShare: 0.6,
      rank(bytes) {
        const first = bytes[0];
        if (oldLeft > 0 || newLeft > 0) {
          if (first === 43) newLeft--;
          else if (first === 45) oldLeft--;
          else if (first !== 92) {
            oldLeft--;
            newLeft--;
          }
          return body();
        }
        const line = decode(bytes.subarray(0, LOOK_BYTES));
        const hunk = /^@@+ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
        if (hunk !== null) {
          oldLeft = Number(hunk[1] ?? 1);
          newLeft = Number(hunk[2] ?? 1);
          depth = 0;
          return HUNK;
        }
        if (line.startsWith("@@")) {
          depth = 0;
          return HUNK;
        }
        if (FILE.test(line)) return 0;
        return FILE_DETAIL.test(line) ? DETAIL : body();
      },
    });
  },
};
