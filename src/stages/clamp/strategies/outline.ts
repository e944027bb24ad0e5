import type { Strategy } from "../../../contract/strategy.ts";
import { decode } from "../fit.ts";
import { definitionDepth } from "../kinds/definition-depth.ts";
import { startRanked } from "../ranked/start-ranked.ts";

const DEFINITIONS = 3;
/** Of the room, what definitions may take: both ends matter more. */
const DEFINITIONS_SHARE = 0.3;
const LOOK_BYTES = 300;

/** Keeps both ends of a source file or a text, and between them the lines that define or head something. */
export const outline: Strategy = {
  name: "outline",
  exact: true,
  start: (request) =>
    startRanked(request, {
      ranks: DEFINITIONS + 1,
      name: (rank) => (rank < DEFINITIONS ? "definition or heading" : "text"),
      lastHasAll: true,
      isSpread: (rank) => rank < DEFINITIONS,
      headShare: request.headShare,
      share: (rank) => (rank < DEFINITIONS ? DEFINITIONS_SHARE : 1),
      rank(bytes) {
        const depth = definitionDepth(decode(bytes.subarray(0, LOOK_BYTES)));
        return depth === null ? DEFINITIONS : Math.min(DEFINITIONS - 1, depth);
      },
    }),
};
