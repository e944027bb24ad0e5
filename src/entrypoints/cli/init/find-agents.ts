import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
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

/** Says why no agent can call `spillway`, and what helps; null if they can. */
export function whyNotCallable(): string | null {
  return isOnPath("spillway") ? null : `"spillway" is not on the PATH, so that no agent can call it: ${howToInstall()}`;
}

/** What puts the program that runs now on the PATH, whether it comes from a registry or from a folder. */
export function howToInstall(): string {
  const program = realpathSync(process.argv[1] ?? "");
  const folder = dirname(dirname(program));
  // npx takes packages from the registry, and its folder may be gone tomorrow.
  const what = /[\\/]_npx[\\/]/.test(folder) ? "spillway" : /\s/.test(folder) ? JSON.stringify(folder) : folder;
  return isOnPath("npm") ? `run: npm install --global ${what}` : `put a link to ${program} there, named spillway`;
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
