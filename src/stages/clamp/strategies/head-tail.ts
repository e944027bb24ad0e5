import type { Strategy } from "../../../contract/strategy.ts";
import { startEdges } from "./edges.ts";

/** Keeps both ends. */
export const headTail: Strategy = { name: "head-tail", start: (request) => startEdges(request, request.headShare) };
