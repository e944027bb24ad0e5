import { SpillwayError } from "../../../errors.ts";
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

/** The agent of a bare `spillway hook`, which stands in settings that were written before other agents had hooks. */
export const DEFAULT_AGENT = "claude-code";

export const AGENT_NAMES: readonly string[] = Object.keys(AGENTS);

/** Throws if there is no such agent. */
export async function loadAgent(name: string): Promise<Agent> {
  const load = Object.hasOwn(AGENTS, name) ? AGENTS[name] : undefined;
  if (load) return load();
  throw new SpillwayError("bad-input", `there is no set-up for "${name}"; known are ${AGENT_NAMES.join(", ")}`);
}
