import { byRule } from "./by-rule.ts";

const KEEP_RESULTS = 10;

/** Masking of all but the last ten observations, as in "The Complexity Trap" and SWE-agent. */
export const lastTen = byRule({
  name: "last-10",
  rule: "all results but the last 10 are masked, in every request",
  source: "arXiv 2508.21433; SWE-agent's history processor last_n_observations, 3ea751c, 2026-07-16",
  sticky: false,
  plan: ({ results }) =>
    results.slice(0, -KEEP_RESULTS).map((result) => ({
      result,
      text: `Old environment output: (${result.text.split("\n").length} lines omitted)`,
    })),
});
