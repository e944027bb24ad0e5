import { homedir } from "node:os";
import { join } from "node:path";
import { isRecord, parsedJson } from "../../../values.ts";
import type { Agent } from "../agent.ts";
import { madeBy, modelText, textOf } from "../read-event.ts";

const HOOK = { command: "spillway hook --agent cursor", timeout: 10 };

/** Cursor: a hook `postToolUse` in a hooks.json. Written from descriptions of others: it was never run here. */
export const cursor: Agent = {
  about: `cursor (not tried with the program itself, written from descriptions): the file is .cursor/hooks.json, or
~/.cursor/hooks.json with --user. Covers MCP tools; output of commands cannot be replaced in Cursor. "spillway init mcp" is
the surer way for its MCP servers.`,
  command: "cursor",
  folder: (whose) => join(whose === "user" ? homedir() : process.cwd(), ".cursor"),

  hooks: (whose) => ({
    path: join(cursor.folder(whose), "hooks.json"),
    rows: { postToolUse: HOOK },
    base: { version: 1 },
    hasComments: false,
  }),
  whyUnwrapped: "Cursor was not tried with changed commands",

  mcpFiles: (whose) => [{ path: join(cursor.folder(whose), "mcp.json"), format: "json", at: [["mcpServers"]] }],

  readEvent(event) {
    const { hook_event_name, tool_name, tool_input, tool_output, conversation_id, cwd } = event as Record<
      string,
      unknown
    >;
    const tool = textOf(tool_name) ?? "tool";
    if (hook_event_name !== "postToolUse" || !/^mcp/i.test(tool)) return null;
    // An output comes as JSON in a text.
    const output = (typeof tool_output === "string" ? parsedJson(tool_output) : null) ?? tool_output;
    const response = modelText(isRecord(output) ? output.content : output);
    if (response === null) return null;
    return {
      kind: "result",
      tool,
      session: textOf(conversation_id),
      call: undefined,
      made: madeBy(tool_input, cwd),
      response,
      answer: (text) => ({ updated_mcp_tool_output: { content: [{ type: "text", text }] } }),
    };
  },
};
