import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { tried } from "../../../values.ts";
import type { Agent } from "../../hook/agent.ts";
import { AGENT_NAMES, loadAgent } from "../../hook/agents/index.ts";

/** The agents that are here. */
export async function findAgents(): Promise<Agent[]> {
  const agents = await Promise.all(AGENT_NAMES.map(loadAgent));
  return agents.filter((agent) => whyNotHere(agent) === null);
}

/** Says what is missing of an agent; null if its command is on the PATH, or if it has settings. */
export function whyNotHere({ command, folder }: Agent): string | null {
  // In a container a user may have neither HOME nor a name.
  const settings = tried(() => folder("user"));
  if (isOnPath(command) || (settings !== null && existsSync(settings))) return null;
  const missing = settings === null ? "this user has no home folder" : `there is no ${settings}`;
  return `no "${command}" is on the PATH, and ${missing}`;
}

/** Returns true if a command is on the PATH. What npm puts there while it runs a script is not what an agent will have. */
function isOnPath(command: string): boolean {
  return foldersWith(command).some((folder) => !OF_NPM.test(folder));
}

const OF_NPM = /[\\/]node_modules[\\/]\.bin[\\/]?$/;

function foldersWith(command: string): string[] {
  const names = process.platform === "win32" ? [`${command}.cmd`, `${command}.exe`] : [command];
  const folders = (process.env.PATH ?? "").split(delimiter).filter((each) => each !== "");
  return folders.filter((folder) => names.some((each) => canRun(join(folder, each))));
}

/** Where an agent would look for `spillway` in vain; null if it finds it. */
export function whyNotFound(): string | null {
  if (isOnPath("spillway")) return null;
  return foldersWith("spillway").length > 0
    ? "is only in node_modules/.bin, which the agent will not have on its PATH"
    : "is not on the PATH";
}

/** Says why no agent can call `spillway`, and what helps; null if they can. */
export function whyNotCallable(): string | null {
  const why = whyNotFound();
  return why && `"spillway" ${why}, so that no agent can call it: ${howToInstall()}`;
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
