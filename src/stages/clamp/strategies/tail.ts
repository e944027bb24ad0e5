import type { Strategy } from "../../../contract/strategy.ts";
import { startEdges } from "./edges.ts";

/** Keeps the end. */
export const tail: Strategy = { name: "tail", start: (request) => startEdges(request, 0) };
