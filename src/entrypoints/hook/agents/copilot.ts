import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isRecord } from "../../../values.ts";
import type { Agent, AgentFile } from "../agent.ts";
import { madeBy, startOf, textOf } from "../read-event.ts";

const COMMAND = "spillway hook --agent copilot";
const HOOK = { type: "command", bash: COMMAND, powershell: COMMAND, timeoutSec: 10 };

const home = () => process.env.COPILOT_HOME || join(homedir(), ".copilot");

/** Copilot CLI: a hook `postToolUse` in a file of its own. */
export const copilot: Agent = {
  about: `copilot: the file is .github/hooks/spillway.json, or ~/.copilot/hooks/spillway.json with --user (COPILOT_HOME is
honoured). Covers the shell, failed commands too, and MCP tools: Copilot CLI keeps whole outputs. It does not read
files over 20 KB at all.`,
  command: "copilot",
  folder: (whose) => (whose === "user" ? home() : join(process.cwd(), ".github")),

  hooks: (whose) => ({
    path: join(copilot.folder(whose), "hooks", "spillway.json"),
    rows: { postToolUse: HOOK },
    base: { version: 1 },
    hasComments: false,
  }),
  whyUnwrapped: "Copilot CLI keeps whole outputs, those of failed commands too",

  mcpFiles: (whose) =>
    whose === "user" ? [{ path: join(home(), "mcp-config.json"), format: "json", at: [["mcpServers"]] }] : [],

  readEvent(event) {
    const fields = event as Record<string, unknown>;
    // To hooks of Claude Code's settings and plugins it gives names as Claude Code does.
    const [args, result] = [fields.toolArgs ?? fields.tool_input, fields.toolResult ?? fields.tool_result];
    const text = isRecord(result) ? (result.textResultForLlm ?? result.text_result_for_llm) : undefined;
    if (!isRecord(result) || typeof text !== "string") return null;
    const resultType = result.resultType ?? result.result_type;
    return {
      kind: "result",
      tool: textOf(fields.toolName) ?? textOf(fields.tool_name) ?? "tool",
      session: textOf(fields.sessionId) ?? textOf(fields.session_id),
      call: undefined,
      made: madeBy(args, fields.cwd),
      response: text,
      ...fileOf(text, startOf(fields.timestamp, undefined, 60_000)),
      answer: (textResultForLlm) => ({ modifiedResult: { resultType, textResultForLlm } }),
    };
  },
};

/** A text of which Copilot CLI shows the first 500 characters, and the line that its shell adds. */
const CUT =
  /^Output too large to read at once \([\d.]+ [KMG]?B\)\. Saved to: (.+)\n[^\n]*\n\s*Preview \(first 500 chars\):\n([^]*?)(\n<shellId: [^\n]*>)?\s*$/;
const NAME = /^\d{13}-copilot-tool-output-[\da-f-]{32,60}\.txt$/;

function fileOf(text: string, sinceMs: number): { whole?: AgentFile; beside?: string } {
  const [, path = "", part = "", end = ""] = CUT.exec(text) ?? [];
  const isNamed = dirname(path) === tmpdir() && NAME.test(path.slice(dirname(path).length + 1));
  if (!isNamed) return {};
  return { whole: { path, part, sinceMs, put: (whole) => `${whole}${end}` }, beside: end };
}
