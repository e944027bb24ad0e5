import { describe, it } from "vitest";
import { testStrategy } from "../../../testing/index.ts";
import { head, headTail, tail } from "./edges.ts";
import { strategies } from "./index.ts";

/** What the others fall back on is tried the most. */
const PLAIN = new Set([head, tail, headTail]);

for (const strategy of strategies) {
  testStrategy(strategy, { describe, it }, { numRuns: PLAIN.has(strategy) ? 300 : 100 });
}
