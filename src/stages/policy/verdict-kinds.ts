import type { VerdictKind } from "../../contract/verdict.ts";

/** All kinds of verdict: what a signature of one's own may say. */
export const VERDICT_KINDS: readonly VerdictKind[] = [
  "context-overflow",
  "payload-too-large",
  "request-ceiling",
  "rate-limit",
  "output-limit",
  "compaction-failure",
  "other",
];
