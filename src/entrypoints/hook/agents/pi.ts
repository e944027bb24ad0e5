import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isRecord } from "../../../values.ts";
import type { Agent, AgentFile } from "../agent.ts";
import { madeBy, startOf, textOf } from "../read-event.ts";
import { askHook } from "./ask-hook.ts";

const EXTENSION = `${askHook("pi")}
const started = new Map();
export default function (pi) {
  pi.on("tool_call", async ({ toolCallId }) => {
    started.set(toolCallId, Date.now());
  });
  pi.on("tool_result", async ({ toolName, toolCallId, input, content, details, isError }, context) => {
    const startedMs = started.get(toolCallId);
    started.delete(toolCallId);
    const directory = context && context.cwd;
    return (await ask({ toolName, toolCallId, input, content, details, isError, startedMs, directory })) || undefined;
  });
}
`;

const home = () => process.env.PI_CODING_AGENT_DIR || join(homedir(), ".pi", "agent");

/** pi: an extension of our own that asks `spillway hook` after each tool. */
export const pi: Agent = {
  about: `pi: the file is .pi/extensions/spillway.js, or ~/.pi/agent/extensions/spillway.js with --user (PI_CODING_AGENT_DIR is
honoured). Covers the shell, failed commands too, and files: pi keeps whole outputs. It has no MCP of its own.`,
  command: "pi",
  folder: (whose) => (whose === "user" ? home() : join(process.cwd(), ".pi")),
  hooks: (whose) => ({ path: join(pi.folder(whose), "extensions", "spillway.js"), text: EXTENSION }),
  whyUnwrapped: "pi keeps whole outputs, those of failed commands too",
  mcpFiles: () => [],

  readEvent(event) {
    const { toolName, toolCallId, input, content, details, startedMs, directory } = event as Record<string, unknown>;
    if (!Array.isArray(content)) return null;
    return {
      kind: "result",
      tool: textOf(toolName) ?? "tool",
      session: undefined,
      call: textOf(toolCallId),
      made: madeBy(input, directory),
      response: content,
      ...(toolName === "bash" && fileOf(content, details, startedMs)),
      answer: (shown) => ({ content: shown }),
    };
  },
};

/** The note that pi puts after the part that it shows, and what it says of a command that failed. */
const CUT = /\n\n\[Showing [^\]]*Full output: ([^\]]+)\](\n\n[^]{0,200})?$/;
const NAME = /^pi-bash-[0-9a-f]{16}\.log$/;

/** pi writes a long output to a file, and shows its end. Where the command failed, only the text names the file. */
function fileOf(content: unknown[], details: unknown, startedMs: unknown): { whole?: AgentFile; beside?: string } {
  const [block] = content;
  if (content.length !== 1 || !isRecord(block) || typeof block.text !== "string") return {};
  const { text } = block;
  const found = CUT.exec(text);
  if (found === null) return {};
  const [note, said = "", end = ""] = found;
  const field = isRecord(details) ? details.fullOutputPath : undefined;
  const path = typeof field === "string" ? field : said;
  const isNamed = dirname(path) === tmpdir() && NAME.test(path.slice(dirname(path).length + 1));
  if (!isNamed || (path !== field && typeof startedMs !== "number")) return {};
  const put = (whole: string) => [{ ...block, text: `${whole}${end}` }];
  const since = typeof startedMs === "number" && { sinceMs: startOf(startedMs, 0, 0) };
  return { whole: { path, part: text.slice(0, -note.length), ...since, put }, beside: end };
}
