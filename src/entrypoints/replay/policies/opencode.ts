import { byRule, quarterOf, type RuleEdit } from "./by-rule.ts";

const PROTECT_TOKENS = 40_000;
const MINIMUM_TOKENS = 20_000;
const KEEP_USER_TURNS = 2;

/** What opencode's pruning does where it is switched on. */
export const opencode = byRule({
  name: "opencode",
  rule: "results older than the last 2 user turns are cleared beyond the newest 40,000 tokens of them, if that frees over 20,000",
  source:
    "github.com/anomalyco/opencode, packages/opencode/src/session/compaction.ts, d545d8f, 2026-08-19 (off by default)",
  sticky: true,
  plan({ results, roles }) {
    const users = roles.flatMap((role, index) => (role === "user" ? [index] : []));
    const border = users.at(-KEEP_USER_TURNS) ?? -1;
    let seen = 0;
    let freed = 0;
    const edits: RuleEdit[] = [];
    for (const result of results.filter(({ message }) => message < border).toReversed()) {
      if (result.tool === "skill") continue;
      if (result.isChanged) break;
      const tokens = quarterOf(result.text);
      seen += tokens;
      if (seen <= PROTECT_TOKENS) continue;
      freed += tokens;
      edits.push({ result, text: "[Old tool result content cleared]" });
    }
    return freed > MINIMUM_TOKENS ? edits : [];
  },
});
