import type { Strategy } from "../../../contract/strategy.ts";
import { auto } from "./auto.ts";
import { diff } from "./diff.ts";
import { head } from "./head.ts";
import { headTail } from "./head-tail.ts";
import { json } from "./json.ts";
import { listing } from "./listing.ts";
import { matches } from "./matches.ts";
import { outline } from "./outline.ts";
import { signal } from "./signal.ts";
import { table } from "./table.ts";
import { tail } from "./tail.ts";

/** Every strategy that comes with Spillway. */
export const strategies: readonly Strategy[] = [
  auto,
  signal,
  json,
  table,
  diff,
  matches,
  listing,
  outline,
  head,
  tail,
  headTail,
];
