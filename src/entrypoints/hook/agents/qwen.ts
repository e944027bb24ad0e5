import { homedir } from "node:os";
import { join } from "node:path";
import { isRecord, type JsonRecord } from "../../../values.ts";
import type { Agent, AgentFile } from "../agent.ts";
import { callIn, modelText, startOf } from "../read-event.ts";

/** Its timeouts are in milliseconds. */
const HOOK = { type: "command", command: "spillway hook --agent qwen", timeout: 10_000 };

const home = () => process.env.QWEN_HOME || join(homedir(), ".qwen");

/** Qwen Code: hooks `PostToolUse` and `PostToolUseFailure` in a settings.json. */
export const qwen: Agent = {
  about: `qwen: the file is .qwen/settings.json, or ~/.qwen/settings.json with --user (QWEN_HOME is honoured). Covers the shell,
files and MCP tools. A failed command's result cannot be replaced: ours is added to the part that Qwen Code shows.`,
  command: "qwen",
  folder: (whose) => (whose === "user" ? home() : join(process.cwd(), ".qwen")),

  hooks: (whose) => ({
    path: join(qwen.folder(whose), "settings.json"),
    rows: { PostToolUse: { matcher: ".*", hooks: [HOOK] }, PostToolUseFailure: { matcher: ".*", hooks: [HOOK] } },
    hasComments: true,
  }),
  whyUnwrapped: "Qwen Code takes no changed command from a hook, and keeps whole outputs",

  mcpFiles: (whose) => [{ path: join(qwen.folder(whose), "settings.json"), format: "json", at: [["mcpServers"]] }],

  readEvent(event) {
    const fields = event as JsonRecord;
    const { hook_event_name: name, tool_response, error } = fields;
    const about = callIn(fields);
    const sinceMs = startOf(fields.timestamp, fields.duration_ms, 60_000);
    if (name === "PostToolUse" && isRecord(tool_response)) {
      const response = modelText(tool_response.llmContent);
      if (response === null) return null;
      // The only answer that replaces a result: the model gets the reason, and the run goes on.
      const answer = (stopReason: unknown) => ({ continue: false, stopReason });
      return { ...about, response, whole: fileOf(response, sinceMs), answer };
    }
    const whole = name === "PostToolUseFailure" && typeof error === "string" ? fileOf(error, sinceMs) : undefined;
    if (whole === undefined) return null;
    // The part that Qwen Code shows stays.
    const answer = (additionalContext: unknown) => ({ hookSpecificOutput: { hookEventName: name, additionalContext } });
    return { ...about, response: "", whole, beside: String(error), answer };
  },
};

/** How a text begins of which Qwen Code shows a part. What its shell gives begins with the command. */
const CUT = /^Tool output was too large and has been truncated\.\nThe full output has been saved to: (.+)\n/;
/** Stands in it between the beginning and the end of the output; the dots say that a line was cut. */
const GAP = /^[^]*\n\.\.\. \[CONTENT TRUNCATED\] \.\.\.\n---\n\n(?:\.\.\.)?/;

/** The file that the text names, if its name is one that Qwen Code gives. */
function fileOf(text: string, sinceMs: number): AgentFile | undefined {
  const path = CUT.exec(text)?.[1] ?? "";
  const folder = join(process.env.QWEN_RUNTIME_DIR || home(), "tmp/");
  const name = path.startsWith(folder) ? path.slice(folder.length) : "";
  if (!/^[0-9a-f]{64}\/[\w-]+_[0-9a-f]{12}\.output$/.test(name)) return undefined;
  const part = text.replace(GAP, "");
  return part === text ? undefined : { path, part, sinceMs, put: (whole) => whole };
}
