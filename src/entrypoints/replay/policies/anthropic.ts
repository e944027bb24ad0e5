import { byRule } from "./by-rule.ts";

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
