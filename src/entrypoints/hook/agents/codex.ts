import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { isRecord, type JsonRecord, parsedJson } from "../../../values.ts";
import type { Agent, CommandCall, ToolResult } from "../agent.ts";
import { callIn, modelText, textOf, withParents } from "../read-event.ts";

const HOOK = { type: "command", command: "spillway hook --agent codex", timeout: 10 };

const home = () => process.env.CODEX_HOME || join(homedir(), ".codex");

/** Codex: hooks `PostToolUse` and, where commands are wrapped, `PreToolUse` in a hooks.json that the user has to trust. */
export const codex: Agent = {
  about: `codex: the file is .codex/hooks.json, or ~/.codex/hooks.json with --user (CODEX_HOME is honoured). Codex runs hooks
only once they are trusted: init writes that too, into config.toml, if "codex" is on the PATH; otherwise Codex asks. Covers MCP
tools. Not covered: the shell, since Codex cuts its output first and keeps the rest nowhere. --wrap-commands covers it, where
Codex asks for no approval and no rule forbids or prompts.`,
  command: "codex",
  folder: (whose) => (whose === "user" ? home() : join(process.cwd(), ".codex")),

  hooks: (whose, { wrapCommands }) => ({
    path: join(codex.folder(whose), "hooks.json"),
    rows: {
      // What its shell gives is cut already, and its exit code would be lost with a replaced result.
      PostToolUse: { matcher: "mcp__.*", hooks: [HOOK] },
      ...(wrapCommands && { PreToolUse: { matcher: "Bash", hooks: [HOOK] } }),
    },
    hasComments: false,
  }),

  async afterwards(hookFile, isRemoved) {
    const { findInLoginShell, trustHooks } = await import("./codex-trust.ts");
    const trust = await trustHooks(hookFile, join(home(), "config.toml"), isRemoved);
    const notes = [trust.note, isRemoved ? undefined : findInLoginShell()].filter((note) => note !== undefined);
    return { ...trust, ...(notes.length > 0 && { note: notes.join(". ") }) };
  },

  mcpFiles: (whose) => [{ path: join(codex.folder(whose), "config.toml"), format: "toml", at: [["mcp_servers"]] }],

  readEvent(event) {
    const { hook_event_name: name, ...fields } = event as JsonRecord;
    if (name === "PreToolUse") return readCommand(fields);
    return name === "PostToolUse" ? readResult(fields) : null;
  },
};

/** Codex refuses these by itself where it does not ask, as far as it sees them. */
const REFUSED = /\b(rm|sudo|dd|mkfs|shred)\b|\bgit\b/;
/** Decisions of a rule that are more than leave. */
const DECISIONS = /\b(forbidden|prompt)\b/;

/**
 * The answer has to say "allow", or Codex does not take the command. So a command is only wrapped where Codex would ask
 * nobody, and where no rule could say anything but yes. The sandbox holds for a wrapped command as for any other.
 */
function readCommand({
  permission_mode: mode,
  tool_name: tool,
  tool_input: input,
  cwd,
}: JsonRecord): CommandCall | null {
  if (mode !== "bypassPermissions" || tool !== "Bash" || !isRecord(input) || typeof input.command !== "string")
    return null;
  return {
    kind: "command",
    tool,
    command: input.command,
    async isRuled(words) {
      if (REFUSED.test(words)) return true;
      if (existsSync("/etc/codex/requirements.toml") || existsSync("/etc/codex/managed_config.toml")) return true;
      const folders = [home(), ...withParents(textOf(cwd) ?? process.cwd()).map((folder) => join(folder, ".codex"))];
      return folders.some((folder) => rulesIn(join(folder, "rules")).some((text) => DECISIONS.test(text)));
    },
    answer: (command, additionalContext) => ({
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "allow",
        updatedInput: { ...input, command },
        additionalContext,
      },
    }),
  };
}

function rulesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8")) : [];
}

function readResult(event: JsonRecord): ToolResult | null {
  const response = isRecord(event.tool_response) ? mcpText(event.tool_response) : null;
  if (response === null) return null;
  return {
    ...callIn(event),
    response,
    // The only answer that replaces a result: the model gets the reason, and the run goes on.
    answer: (reason) => ({ decision: "block", reason }),
  };
}

/** What the model gets of an MCP result: the structured content, if there is any. Content that says the same is easier to read. */
function mcpText({ content, structuredContent }: Record<string, unknown>): string | null {
  const text = modelText(content);
  if (structuredContent === undefined || structuredContent === null) return text;
  const structured = JSON.stringify(structuredContent);
  const isSame =
    text !== null && (structured === JSON.stringify(onlyValue(text)) || onlyValue(structuredContent) === text);
  return isSame ? text : structured;
}

/** The one value of an object that has no other; the value of a text that is JSON. */
function onlyValue(value: unknown): unknown {
  if (typeof value === "string") return parsedJson(value) ?? undefined;
  const values = isRecord(value) ? Object.values(value) : [];
  return values.length === 1 ? values[0] : undefined;
}
