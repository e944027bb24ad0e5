import { byRule } from "./by-rule.ts";

const TRIGGER_TOKENS = 100_000;
const KEEP_RESULTS = 3;

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
