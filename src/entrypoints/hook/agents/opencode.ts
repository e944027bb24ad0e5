import { homedir } from "node:os";
import { join } from "node:path";
import { isRecord } from "../../../values.ts";
import type { Agent, AgentFile } from "../agent.ts";
import { madeBy, textOf } from "../read-event.ts";
import { askHook } from "./ask-hook.ts";

const PLUGIN = `${askHook("opencode")}
export const Spillway = async ({ directory }) => ({
  "tool.execute.after": async (input, output) => {
    const answer = await ask({ input, output, directory });
    if (answer && output) Object.assign(output, answer);
  },
});
`;

const config = () => join(process.env.XDG_CONFIG_HOME || join(homedir(), ".config"), "opencode");

/** opencode: a plugin of our own that asks `spillway hook` after each tool. */
export const opencode: Agent = {
  about: `opencode: the file is .opencode/plugin/spillway.js, or ~/.config/opencode/plugin/spillway.js with --user
(OPENCODE_CONFIG_DIR and XDG_CONFIG_HOME are honoured). Covers the shell, failed commands too, files and MCP tools: opencode
keeps whole outputs, as far as it read them. It loses the end of what a command prints right before it ends.`,
  command: "opencode",
  folder: (whose) =>
    whose === "user" ? process.env.OPENCODE_CONFIG_DIR || config() : join(process.cwd(), ".opencode"),

  hooks: (whose) => ({ path: join(opencode.folder(whose), "plugin", "spillway.js"), text: PLUGIN }),
  whyUnwrapped: "opencode keeps whole outputs, those of failed commands too",

  mcpFiles: (whose) =>
    (whose === "user"
      ? [config(), ...(process.env.OPENCODE_CONFIG_DIR ? [process.env.OPENCODE_CONFIG_DIR] : [])]
      : [process.cwd(), join(process.cwd(), ".opencode")]
    )
      .flatMap((folder) => ["config.json", "opencode.json", "opencode.jsonc"].map((name) => join(folder, name)))
      .map((path) => ({ path, format: "json", at: [["mcp"]] })),

  readEvent(event) {
    const { input, output, directory } = event as Record<string, unknown>;
    if (!isRecord(input) || !isRecord(output)) return null;
    const { output: text, content, metadata } = output;
    const about = {
      kind: "result",
      tool: textOf(input.tool) ?? "tool",
      session: textOf(input.sessionID),
      call: textOf(input.callID),
      made: madeBy(input.args, directory),
    } as const;
    if (typeof text === "string") {
      const { outputPath, exit, display } = isRecord(metadata) ? metadata : {};
      return {
        ...about,
        response: text,
        whole: typeof outputPath === "string" ? fileOf(about.tool, text, outputPath) : undefined,
        exitCode: typeof exit === "number" ? exit : undefined,
        isNumbered: isRecord(display),
        answer: (shown: unknown) => ({ output: shown }),
      };
    }
    return Array.isArray(content)
      ? { ...about, response: content, answer: (shown: unknown) => ({ content: shown }) }
      : null;
  },
};

/** Where opencode keeps an output. */
const SAVED = /[\\/]opencode[\\/]tool-output[\\/]tool_\w+$/;

/** opencode writes a long output of its shell to a file, and puts its end into the result. */
function fileOf(tool: string, text: string, path: string): AgentFile | undefined {
  if (!/^(bash|shell)$/.test(tool) || !SAVED.test(path)) return undefined;
  return { path, part: text.slice(text.indexOf(path) + path.length), put: (whole) => whole };
}
