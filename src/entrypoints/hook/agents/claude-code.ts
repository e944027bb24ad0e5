import { homedir } from "node:os";
import { basename, join } from "node:path";
import type { Limits } from "../../../contract/limits.ts";
import { isRecord, type JsonRecord } from "../../../values.ts";
import type { Agent, AgentFile, CommandCall, ToolResult } from "../agent.ts";
import { callIn, startOf, textOf } from "../read-event.ts";

/** Tools whose results can be large. For the others a start of Node after each call would be a waste. */
const MATCHER = "Bash|Read|Grep|Glob|WebFetch|WebSearch|Task|Agent|TaskOutput|ReadMcpResourceTool|mcp__.*";
const HOOK = { type: "command", command: "spillway hook", timeout: 10 };

/** The folder of the user's own settings. */
const home = () => process.env.CLAUDE_CONFIG_DIR || join(homedir(), ".claude");

/** Claude Code: hooks `PostToolUse` and, where commands are wrapped, `PreToolUse` in a settings.json. */
export const claudeCode: Agent = {
  about: `claude-code: the file is .claude/settings.json, or ~/.claude/settings.json with --user (CLAUDE_CONFIG_DIR is
honoured). Covers Bash, Read, agents, web and MCP tools. Not covered: failed commands, of which Claude Code keeps 10,000
characters only. --wrap-commands covers those of Bash, in the mode bypassPermissions and where no deny or ask rule could match.`,
  command: "claude",
  folder: (whose) => (whose === "user" ? home() : join(process.cwd(), ".claude")),

  hooks: (whose, { wrapCommands }) => ({
    path: join(claudeCode.folder(whose), "settings.json"),
    rows: {
      PostToolUse: { matcher: MATCHER, hooks: [HOOK] },
      ...(wrapCommands && { PreToolUse: { matcher: "Bash", hooks: [HOOK] } }),
    },
    hasComments: false,
  }),

  mcpFiles: (whose) => [
    whose === "project"
      ? { path: join(process.cwd(), ".mcp.json"), format: "json", at: [["mcpServers"]] }
      : {
          path: process.env.CLAUDE_CONFIG_DIR ? join(home(), ".claude.json") : join(homedir(), ".claude.json"),
          format: "json",
          at: [["mcpServers"], ["projects", "*", "mcpServers"]],
        },
  ],

  readEvent(event) {
    const { hook_event_name: name, ...fields } = event as JsonRecord;
    if (name === "PreToolUse") return readCommand(fields);
    return name === "PostToolUse" ? readResult(fields) : null;
  },
};

/**
 * Claude Code matches its rules against the command that it gets from us. In every other mode than this one it decides by
 * what a command says, so that our command would be asked about, or granted, in place of the model's.
 */
function readCommand({ permission_mode, cwd, tool_name: tool, tool_input: input }: JsonRecord): CommandCall | null {
  if (permission_mode !== "bypassPermissions" || tool !== "Bash" || !isRecord(input)) return null;
  const { command, run_in_background: isBackground } = input;
  // Claude Code reads the output of a background command while it runs.
  if (typeof command !== "string" || isBackground === true) return null;
  return {
    kind: "command",
    tool,
    command,
    async isRuled(words) {
      const { checkStart, isRuled, readClaudeRules } = await import("./claude-rules.ts");
      const { env, platform } = process;
      const folders = [cwd, env.CLAUDE_PROJECT_DIR, process.cwd()].filter((folder) => typeof folder === "string");
      checkStart(platform);
      return isRuled(words, readClaudeRules({ env, platform, folders }));
    },
    answer: (wrapped, note) => ({
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        updatedInput: { ...input, command: wrapped },
        additionalContext: note,
      },
    }),
  };
}

function readResult(event: JsonRecord): ToolResult {
  const { tool_name: tool, tool_response } = event;
  const { file } = (tool_response ?? {}) as { file?: { startLine?: unknown } | null };
  const whole = typeof tool_response === "string" ? savedResult(tool_response, event) : readWhole(tool, tool_response);
  return {
    ...callIn(event),
    response: tool_response,
    whole,
    most: mostOf(textOf(tool), whole),
    // Lines of a file are counted on from here.
    isNumbered: typeof file?.startLine === "number",
    answer: (updatedToolOutput) => ({ hookSpecificOutput: { hookEventName: "PostToolUse", updatedToolOutput } }),
  };
}

/** Claude Code shows the first 2 KB of a longer result. For Bash it says itself how much it shows, and Read has no such limit. */
const MOST_CHARS = 50_000;
const MOST_GREP_CHARS = 20_000;
/** The least that its users can set for Bash. */
const LEAST_BASH_CHARS = 4000;

function mostOf(tool: string | undefined, whole: AgentFile | undefined): Limits | undefined {
  if (tool === "Read") return undefined;
  if (tool === "Bash")
    return typeof whole?.part === "string" ? { maxChars: Math.max(whole.part.length, LEAST_BASH_CHARS) } : undefined;
  return { maxChars: tool === "Grep" ? MOST_GREP_CHARS : MOST_CHARS };
}

/** Claude Code writes a long output of Bash to a file, and puts its beginning into the response. Other tools name what they like. */
function readWhole(tool: unknown, response: unknown): AgentFile | undefined {
  if (tool !== "Bash" || typeof response !== "object" || response === null) return undefined;
  const { persistedOutputPath: path, persistedOutputSize: _size, ...rest } = response as Record<string, unknown>;
  const { stdout: part } = rest;
  if (typeof path !== "string" || typeof part !== "string") return undefined;
  return { path, part, put: (stdout) => ({ ...rest, stdout }) };
}

/** What Claude Code says in place of an MCP result that it finds too long. */
const SAVED =
  /^Error: result \(([\d,]+) characters across [\d,]+ lines\) exceeds maximum allowed tokens\. Output has been saved to (.+\.txt)\.\n/;

/** The file of such a result. Its folder is that of the session, which a field names: the text only tells which file of it. */
function savedResult(text: string, { transcript_path: transcript, duration_ms }: JsonRecord): AgentFile | undefined {
  const [, chars = "", said = ""] = SAVED.exec(text) ?? [];
  const name = basename(said);
  if (typeof transcript !== "string" || !/^mcp-[\w.-]+-\d{13}\.txt$/.test(name)) return undefined;
  const path = join(transcript.replace(/\.jsonl$/, ""), "tool-results", name);
  if (path !== said) return undefined;
  const count = Number(chars.replaceAll(",", ""));
  return { path, part: { chars: count }, sinceMs: startOf(undefined, duration_ms, 60_000), put: (whole) => whole };
}
