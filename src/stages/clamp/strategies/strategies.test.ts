import { describe, it } from "vitest";
import { testStrategy } from "../../../testing/index.ts";
import { head } from "./head.ts";
import { headTail } from "./head-tail.ts";
import { strategies } from "./index.ts";
import { tail } from "./tail.ts";

/** What the others fall back on is tried the most. */
const PLAIN = new Set([head, tail, headTail]);

for (const strategy of strategies) {
  testStrategy(strategy, { describe, it }, { numRuns: PLAIN.has(strategy) ? 300 : 100 });
}
