import { byRule, quarterOf, type RuleEdit } from "./by-rule.ts";

const PROTECT_TOKENS = 50_000;
const MINIMUM_TOKENS = 30_000;
const PREVIEW_LINES = 10;
const PREVIEW_CHARS = 250;
const SHELLS = new Set(["run_shell_command", "bash", "shell", "exec", "run_command"]);
/** About as long as the paths that it writes. */
const FILE = "/home/user/.gemini/tmp/0123456789abcdef/tool-outputs/session-0123456789abcdef/bash_call_abcdef.txt";

/** Gemini CLI's masking of tool outputs. */
export const gemini = byRule({
  name: "gemini",
  rule: "beyond the newest 50,000 tokens of results and the last message, results become previews, if over 30,000 tokens are there",
  source:
    "github.com/google-gemini/gemini-cli, packages/core/src/context/toolOutputMaskingService.ts, 5411f11, 2026-08-21",
  sticky: true,
  plan({ results, roles }) {
    let seen = 0;
    let prunable = 0;
    const edits: RuleEdit[] = [];
    for (const result of results.toReversed()) {
      if (result.message >= roles.length - 1 || result.isChanged) continue;
      const tokens = quarterOf(result.text);
      seen += tokens;
      if (seen <= PROTECT_TOKENS) continue;
      prunable += tokens;
      const text = `<tool_output_masked>\n${preview(result.tool, result.text)}\n\nThe whole output is in ${FILE}\n</tool_output_masked>`;
      if (quarterOf(text) < tokens) edits.push({ result, text });
    }
    return prunable < MINIMUM_TOKENS ? [] : edits;
  },
});

function preview(tool: string, text: string): string {
  if (!SHELLS.has(tool)) {
    if (text.length <= 2 * PREVIEW_CHARS) return text;
    return `${text.slice(0, PREVIEW_CHARS)}\n... [TRUNCATED] ...\n${text.slice(-PREVIEW_CHARS)}`;
  }
  const lines = text.split("\n");
  if (lines.length <= 2 * PREVIEW_LINES) return text;
  const omitted = lines.length - 2 * PREVIEW_LINES;
  const [head, tail] = [lines.slice(0, PREVIEW_LINES), lines.slice(-PREVIEW_LINES)];
  return `${head.join("\n")}\n\n... [${omitted} lines omitted] ...\n\n${tail.join("\n")}`;
}
