import { badInput } from "../../../errors.ts";
import { isRecord } from "../../../values.ts";
import type { Agent } from "../agent.ts";

/** Every agent by its name on the command line. Only the one that is asked for is loaded. */
const AGENTS: Record<string, () => Promise<Agent>> = {
  "claude-code": async () => (await import("./claude-code.ts")).claudeCode,
  codex: async () => (await import("./codex.ts")).codex,
  gemini: async () => (await import("./gemini.ts")).gemini,
  qwen: async () => (await import("./qwen.ts")).qwen,
  opencode: async () => (await import("./opencode.ts")).opencode,
  pi: async () => (await import("./pi.ts")).pi,
  copilot: async () => (await import("./copilot.ts")).copilot,
  cursor: async () => (await import("./cursor.ts")).cursor,
};

/** The agent of a bare `spillway hook`, as Claude Code's settings and its plugin have it. */
export const DEFAULT_AGENT = "claude-code";

/** Other agents run the hooks of Claude Code's settings and plugins too. Their events have a field that its events have not. */
const TOLD_BY = { turn_id: "codex", tool_result: "copilot" };

/** The agent whose event this is, if that is another one than Claude Code. */
export function otherAgentOf(event: unknown): string | undefined {
  return Object.entries(TOLD_BY).find(([field]) => isRecord(event) && field in event)?.[1];
}

export const AGENT_NAMES: readonly string[] = Object.keys(AGENTS);

/** Throws if there is no such agent. */
export async function loadAgent(name: string): Promise<Agent> {
  const load = Object.hasOwn(AGENTS, name) ? AGENTS[name] : undefined;
  if (load) return load();
  throw badInput(`there is no set-up for "${name}"; known are ${AGENT_NAMES.join(", ")}`);
}
