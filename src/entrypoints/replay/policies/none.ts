import { byRule } from "./by-rule.ts";

/** Everything is sent as it was recorded. */
export const none = byRule({
  name: "none",
  rule: "nothing is changed",
  source: "the recording",
  sticky: true,
  plan: () => [],
});
