import type { Strategy } from "../../../contract/strategy.ts";
import { STRATEGY_NAMES } from "../../policy/strategy-name.ts";
import { head } from "./head.ts";
import { headTail } from "./head-tail.ts";
import { tail } from "./tail.ts";

/** Strategies whose code is read in when the first output needs them; most outputs are within their limits. */
const LARGE: ReadonlySet<string> = new Set(
  STRATEGY_NAMES.filter((name) => ![head, tail, headTail].some((small) => small.name === name)),
);

let loaded: readonly Strategy[] | null = null;

/** A strategy as it is at hand: until it is loaded both ends stand in under its name, for those who cannot wait. */
export function strategyAtHand(name: string): Strategy | undefined {
  const known = [...(loaded ?? []), head, tail, headTail].find((strategy) => strategy.name === name);
  return known ?? (LARGE.has(name) ? { ...headTail, name } : undefined);
}

/** True for one that is not loaded yet. */
export function isStandIn({ name, start }: Strategy): boolean {
  return start === headTail.start && LARGE.has(name);
}

/** The strategy itself; one that somebody handed in is as it is. */
export async function loadStrategy(strategy: Strategy): Promise<Strategy> {
  if (!isStandIn(strategy)) return strategy;
  loaded ??= (await import("./index.ts")).strategies;
  return loaded.find(({ name }) => name === strategy.name) ?? strategy;
}
