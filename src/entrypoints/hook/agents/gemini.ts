import { homedir } from "node:os";
import { join } from "node:path";
import { isRecord, type JsonRecord } from "../../../values.ts";
import type { Agent } from "../agent.ts";
import { callIn, modelText } from "../read-event.ts";

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
    const fields = event as JsonRecord;
    const { hook_event_name, tool_response } = fields;
    if (hook_event_name !== "AfterTool" || !isRecord(tool_response)) return null;
    const response = modelText(tool_response.llmContent);
    if (response === null) return null;
    return {
      ...callIn(fields),
      response,
      beside: NOTE,
      answer: (text: unknown) => ({ decision: "deny", reason: `${NOTE}\n${text}` }),
    };
  },
};
