import type { Spillway } from "../../spillway.ts";
import { claudeCode } from "./agents/claude-code.ts";
import { clampResult } from "./clamp-result.ts";

/** What may be said for the hooks of one agent. */
export interface ClaudeHooksOptions {
  /** The name in `mcpServers` of the server with the tools that read back, whose results are bounded already. */
  server?: string | undefined;
}

/** What a hook answers, as the Claude Agent SDK types it. */
interface HookAnswer {
  hookSpecificOutput?: { hookEventName: "PostToolUse"; updatedToolOutput?: unknown };
}

/** `hooks` of a query, as the Claude Agent SDK types them. */
export interface ClaudeHooks {
  PostToolUse: { hooks: ((input: unknown) => Promise<HookAnswer>)[] }[];
}

/**
 * Hooks for a query of the Claude Agent SDK: `query({ prompt, options: { hooks: spillwayHooks(spillway) } })`. The results of
 * all tools, the agent's own included, are clamped in the shape that each tool has. A fault leaves a result as it came.
 */
export function spillwayHooks(
  spillway: Pick<Spillway, "admit" | "resolve">,
  { server = "spillway" }: ClaudeHooksOptions = {},
): ClaudeHooks {
  const answer = async (input: unknown): Promise<HookAnswer> => {
    try {
      const event = claudeCode.readEvent(input as object);
      if (event?.kind !== "result" || event.tool.startsWith(`mcp__${server}__`)) return {};
      return ((await clampResult(spillway, event)) ?? {}) as HookAnswer;
    } catch {
      return {}; // the agent goes on with what the tool gave
    }
  };
  return { PostToolUse: [{ hooks: [answer] }] };
}
