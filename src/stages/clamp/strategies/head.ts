import type { Strategy } from "../../../contract/strategy.ts";
import { startEdges } from "./edges.ts";

/** Keeps the start. */
export const head: Strategy = { name: "head", start: (request) => startEdges(request, 1) };
