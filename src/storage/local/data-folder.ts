import { statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import path, { join } from "node:path";

/** Where the question is asked; what is absent is this process's own. */
export interface DataFolderOptions {
  env?: Record<string, string | undefined>;
  platform?: NodeJS.Platform;
  home?: string;
}

/** Not what HOME says if that is no absolute path: it would be another folder for each working directory. */
function ownHome(): string {
  return path.isAbsolute(homedir()) ? homedir() : userInfo().homedir;
}

/** The folder in which this user's artifacts and events are kept when nobody names another. */
export function dataFolder({
  env = process.env,
  platform = process.platform,
  home = ownHome(),
}: DataFolderOptions = {}): string {
  const { join, isAbsolute, resolve } = platform === "win32" ? path.win32 : path.posix;
  if (env["SPILLWAY_DIR"]) return resolve(env["SPILLWAY_DIR"]);
  if (platform === "win32") return join(env["LOCALAPPDATA"] || join(home, "AppData", "Local"), "spillway");
  if (platform === "darwin") return join(home, "Library", "Application Support", "spillway");
  // The XDG rules say that a path that is not absolute must be ignored.
  const xdg = env["XDG_DATA_HOME"];
  return join(xdg && isAbsolute(xdg) ? xdg : join(home, ".local", "share"), "spillway");
}

/** Either is enough: who moves a damaged database away still has the files beside it. Others have folders of artifacts too. */
const SIGNS = ["spillway.db", "secret"];

/** Whether something was ever kept in a folder. Where that cannot be seen the answer is yes: opening it says why. */
export function hasStore(dir: string = dataFolder()): boolean {
  try {
    return SIGNS.some((name) => statSync(join(dir, name), { throwIfNoEntry: false }) !== undefined);
  } catch {
    return true;
  }
}
