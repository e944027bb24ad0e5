import { byRule, quarterOf, type RuleEdit } from "./by-rule.ts";

// The short rules: each says what it does and where that is from.

/** Everything is sent as it was recorded. */
export const none = byRule({
  name: "none",
  rule: "nothing is changed",
  source: "the recording",
  sticky: true,
  plan: () => [],
});

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

/** The numbers of Anthropic's rule and of LangChain's. */
const TRIGGER_TOKENS = 100_000;
const KEEP_RESULTS = 3;

/** Anthropic's server-side clear_tool_uses_20250919 with its defaults. The text it puts in place is not published. */
export const anthropic = byRule({
  name: "anthropic",
  rule: "over 100,000 input tokens all results but the last 3 are cleared, decided for each request from the whole history",
  source: "platform.claude.com/docs/en/build-with-claude/context-editing (clear_tool_uses_20250919), 2026-11",
  sticky: false,
  plan: ({ results, tokens }) =>
    tokens <= TRIGGER_TOKENS
      ? []
      : results.slice(0, -KEEP_RESULTS).map((result) => ({ result, text: "[tool result cleared]" })),
});

/** LangChain's ClearToolUsesEdit with its defaults; it changes the messages that it is given, so what is cleared stays so. */
export const langchain = byRule({
  name: "langchain",
  rule: "over 100,000 tokens (a quarter of the characters) all results but the last 3 are cleared, for good",
  source: "github.com/langchain-ai/langchainjs, contextEditingMiddleware (langchain 1.x), 2026-11",
  sticky: true,
  plan: ({ results, chars }) =>
    chars / 4 <= TRIGGER_TOKENS
      ? []
      : results
          .slice(0, -KEEP_RESULTS)
          .filter(({ isChanged }) => !isChanged)
          .map((result) => ({ result, text: "[cleared]" })),
});

/** Masking of all but the last ten observations, as in "The Complexity Trap" and SWE-agent. */
export const lastTen = byRule({
  name: "last-10",
  rule: "all results but the last 10 are masked, in every request",
  source: "arXiv 2508.21433; SWE-agent's history processor last_n_observations, 3ea751c, 2026-07-16",
  sticky: false,
  plan: ({ results }) =>
    results.slice(0, -10).map((result) => ({
      result,
      text: `Old environment output: (${result.text.split("\n").length} lines omitted)`,
    })),
});
