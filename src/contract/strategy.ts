import type { Cut, Room } from "./cut.ts";
import type { Limits } from "./limits.ts";
import type { Total } from "./size.ts";
import type { Span } from "./span.ts";
import type { TokenCounter } from "./token-counter.ts";

/** What a strategy is told before the output comes. */
export interface StrategyRequest {
  limits: Limits;
  /** Share of the room that the output's start gets where a strategy keeps both ends. */
  headShare: number;
  counter: TokenCounter;
  /** A command's exit code, where known from the start. */
  exitCode?: number;
}

/** A built-in strategy's name, or that of one handed in. */
export type StrategyName = "head" | "tail" | "head-tail" | (string & {});

/** Chooses which part of an output that is over its limits is shown. */
export interface Strategy {
  name: string;
  start(request: StrategyRequest): Sieve;
}

/** One output passing through a strategy. Memory stays O(limits). */
export interface Sieve {
  add(span: Span): void;
  end(total: Total): Held;
}

/** What a sieve held on to. `cut` may be called again with other room: it decides anew and changes nothing. */
export interface Held {
  cut(room: Room): Cut;
}
