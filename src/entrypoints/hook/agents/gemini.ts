import { homedir } from "node:os";
import { join } from "node:path";
import { isRecord } from "../../../values.ts";
import type { Agent } from "../agent.ts";
import { madeBy, modelText, textOf } from "../read-event.ts";

/** Its timeouts are in milliseconds. */
const HOOK = { name: "spillway", type: "command", command: "spillway hook --agent gemini", timeout: 10_000 };
/** The answer that replaces a result is shown to the model as an error. */
const NOTE = "[This is what the tool gave, shortened by Spillway. The call itself was not refused.]";

const home = () => join(process.env.GEMINI_CLI_HOME || homedir(), ".gemini");

/** Gemini CLI: a hook `AfterTool` in a settings.json. It hands over whole outputs. */
export const gemini: Agent = {
  about: `gemini: the file is .gemini/settings.json, or ~/.gemini/settings.json with --user; for a project's file Gemini CLI
prints a warning at each start. Covers the shell, failed commands too, files and MCP tools: it hands over whole outputs.`,
  command: "gemini",
  folder: (whose) => (whose === "user" ? home() : join(process.cwd(), ".gemini")),

  hooks: (whose) => ({
    path: join(gemini.folder(whose), "settings.json"),
    rows: { AfterTool: { matcher: ".*", hooks: [HOOK] } },
    hasComments: true,
  }),
  whyUnwrapped: "Gemini CLI hands whole outputs to the hook, those of failed commands too",

  mcpFiles: (whose) => [{ path: join(gemini.folder(whose), "settings.json"), format: "json", at: [["mcpServers"]] }],

  readEvent(event) {
    const { hook_event_name, session_id, transcript_path, ...fields } = event as Record<string, unknown>;
    const { tool_name, tool_input, tool_response, cwd } = fields;
    if (hook_event_name !== "AfterTool" || !isRecord(tool_response)) return null;
    const response = modelText(tool_response.llmContent);
    if (response === null) return null;
    return {
      kind: "result",
      tool: textOf(tool_name) ?? "tool",
      session: textOf(session_id),
      call: undefined,
      made: madeBy(tool_input, cwd),
      transcript: textOf(transcript_path),
      response,
      beside: NOTE,
      answer: (text) => ({ decision: "deny", reason: `${NOTE}\n${text}` }),
    };
  },
};
