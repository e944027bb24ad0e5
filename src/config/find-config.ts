import { realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";
import type { Environment } from "../stages/policy/policy-from-environment.ts";

/** The names a config file may have, the first found being read. */
const CONFIG_NAMES: readonly string[] = [
  "spillway.yaml",
  "spillway.yml",
  "spillway.json",
  "spillway.json5",
  "spillway.jsonc",
];

/** A config file, and those beside it that are not read because of it. */
export interface Found {
  path: string;
  passedOver: string[];
}

/** Told of what has a config file's name and is not read, and why. */
export type Refuse = (path: string, why: string) => void;

/** The user's own config file. */
export function findUserConfig(env: Environment, home: string, platform: string, refuse: Refuse): Found | undefined {
  for (const folder of userFolders(env, home, platform)) {
    const found = findIn(folder, (path) => isFile(path, refuse));
    if (found) return found;
  }
  return undefined;
}

/** A project's config file: the first from `cwd` upwards, home or the root being the last folder looked into. */
export function findProjectConfig(cwd: string, home: string, refuse: Refuse): Found | undefined {
  const last = resolve(home);
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const found = findIn(folder, (path) => isFile(path, refuse) && staysInside(path, refuse));
    if (found) return found;
    if (folder === last || folder === dirname(folder)) return undefined;
  }
}

/** Where a user's own config is looked for. */
function userFolders(env: Environment, home: string, platform: string): string[] {
  const folders: string[] = [];
  const xdg = env.XDG_CONFIG_HOME;
  // A relative path there is to be ignored, says the XDG specification.
  if (xdg && isAbsolute(xdg)) folders.push(xdg);
  else if (platform === "win32") folders.push(env.APPDATA || join(home, "AppData", "Roaming"));
  else folders.push(join(home, ".config"));
  if (platform === "darwin") folders.push(join(home, "Library", "Application Support"));
  return folders.map((folder) => join(folder, "spillway"));
}

function findIn(folder: string, isFine: (path: string) => boolean): Found | undefined {
  const [path, ...passedOver] = CONFIG_NAMES.map((name) => join(folder, name)).filter(isFine);
  return path === undefined ? undefined : { path, passedOver };
}

// Only regular files: a pipe or a device under that name would hang the search.
function isFile(path: string, refuse: Refuse): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile()) refuse(path, "it is not a file");
    return found?.isFile() ?? false;
  } catch (error) {
    // Links in a circle, or a folder that lets nobody look into it: then nobody knows whether there is anything.
    if ((error as NodeJS.ErrnoException).code === "ELOOP") refuse(path, "it is a link that leads nowhere");
    return false;
  }
}

// Git keeps links: one that leaves its folder would have us read a file that the project's author cannot.
function staysInside(path: string, refuse: Refuse): boolean {
  const folder = realpathSync(dirname(path));
  const isInside = realpathSync(path).startsWith(folder.endsWith(sep) ? folder : folder + sep);
  if (!isInside) refuse(path, "it is a link to a file outside of its folder");
  return isInside;
}
