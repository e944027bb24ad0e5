import type { Strategy } from "../../../contract/strategy.ts";
import { autoOf } from "./auto.ts";
import { diff } from "./diff.ts";
import { head, headTail, tail } from "./edges.ts";
import { json } from "./json.ts";
import type { KindStrategy } from "./kind.ts";
import { listing } from "./listing.ts";
import { matches } from "./matches.ts";
import { outline } from "./outline.ts";
import { sections } from "./sections.ts";
import { signal } from "./signal.ts";
import { table } from "./table.ts";

/** One line each. `auto` chooses among those that recognise a kind of output. */
const own: readonly KindStrategy[] = [
  signal,
  json,
  table,
  diff,
  matches,
  listing,
  sections,
  outline,
  head,
  tail,
  headTail,
];

/** Every strategy that comes with Spillway. */
export const strategies: readonly Strategy[] = [autoOf(own), ...own];
