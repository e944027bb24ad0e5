import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Agent } from "../../hook/agent.ts";
import { AGENT_NAMES, loadAgent } from "../../hook/agents/index.ts";

/** The agents that are here: their command is on the PATH, or they have settings. */
export async function findAgents(): Promise<Agent[]> {
  const agents = await Promise.all(AGENT_NAMES.map(loadAgent));
  return agents.filter((agent) => isOnPath(agent.command) || existsSync(agent.folder("user")));
}

/** Whether a command is on the PATH. What npm puts there while it runs a script is not what an agent will have. */
export function isOnPath(command: string): boolean {
  const names = process.platform === "win32" ? [`${command}.cmd`, `${command}.exe`] : [command];
  const folders = (process.env.PATH ?? "")
    .split(delimiter)
    .filter((each) => each !== "" && !/[\\/]node_modules[\\/]\.bin[\\/]?$/.test(each));
  return folders.some((folder) => names.some((each) => canRun(join(folder, each))));
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
