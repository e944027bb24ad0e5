import type { Strategy } from "../../../contract/strategy.ts";
import { head } from "./head.ts";
import { headTail } from "./head-tail.ts";
import { tail } from "./tail.ts";

/** Every strategy that comes with Spillway. */
export const strategies: readonly Strategy[] = [head, tail, headTail];
