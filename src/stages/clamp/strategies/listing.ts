import type { Strategy } from "../../../contract/strategy.ts";
import { decode } from "../fit.ts";
import { listedDepth, type TreeStep, treeStep } from "../kinds/listed-depth.ts";
import { tellsTrouble } from "../kinds/tells-trouble.ts";
import { startRanked } from "../ranked/start-ranked.ts";

const RANKS = 13;
const LOOK_BYTES = 1000;
/** Files of one folder in the first step of its depth; each further step has twice as many. */
const FIRST_FILES = 4;
/** Lines that tell of trouble and stand before all others; more of them are listed as what they are. */
const MOST_TROUBLES = 20;

/** Keeps a listing or a tree: what is higher before what is deeper, some of every folder before all of one. */
export const listing: Strategy = {
  name: "listing",
  exact: true,
  start: (request) => {
    let base = Number.POSITIVE_INFINITY;
    let folder = "";
    let inFolder = 0;
    let step: TreeStep = 4;
    let troubles = 0;
    return startRanked(request, {
      ranks: RANKS,
      name: (rank) => (rank === 0 ? "trouble" : rank === 1 ? "top" : `${rank - 1} deep`),
      headShare: 0.6,
      rank(bytes) {
        const line = decode(bytes.subarray(0, LOOK_BYTES));
        if (tellsTrouble(line) && troubles++ < MOST_TROUBLES) return 0;
        step = treeStep(line) ?? step;
        const { depth, parent } = listedDepth(line, step);
        base = Math.min(base, depth);
        if (parent !== folder) inFolder = 0;
        folder = parent;
        const further = Math.floor(Math.log2(1 + inFolder++ / FIRST_FILES));
        return Math.min(RANKS - 1, 1 + depth - base + further);
      },
    });
  },
};
