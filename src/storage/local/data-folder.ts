import { realpathSync, statSync } from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import path, { basename, dirname, join, resolve } from "node:path";
import { SpillwayError } from "../../errors.ts";

/** Overrides the environment, the platform and the home folder. What is absent is taken from this process. */
export interface DataFolderOptions {
  env?: Record<string, string | undefined>;
  platform?: NodeJS.Platform;
  home?: string;
}

/**
 * Returns the user's home folder. If HOME is not an absolute path, it is ignored: it would name another folder in each
 * working directory. In a container a user may have neither HOME nor a name; such a user gets a private folder among the
 * temporary files.
 */
function ownHome(): string {
  try {
    return path.isAbsolute(homedir()) ? homedir() : userInfo().homedir;
  } catch {
    return join(tmpdir(), `spillway-${process.getuid?.() ?? "home"}`);
  }
}

/** Returns the folder for this user's artifacts and events if nobody names another. */
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

/**
 * One of these files is enough to know a store: if somebody moves a damaged database away, the secret is still there.
 * The artifacts folder is no sign, because other programs have folders of that name too.
 */
const SIGNS = ["spillway.db", "secret"];

/**
 * Returns true if something was ever saved in the folder. If the folder cannot be read, returns true: opening it then
 * fails with the reason.
 */
export function hasStore(dir: string = dataFolder()): boolean {
  try {
    return SIGNS.some((name) => statSync(join(dir, name), { throwIfNoEntry: false }) !== undefined);
  } catch {
    return true;
  }
}

/** Throws if a new store would be made among the files of another one's artifacts. */
export function refuseAmongArtifacts(dir: string): void {
  if (hasStore(dir)) return;
  for (let at = realPath(resolve(dir)); dirname(at) !== at; at = dirname(at)) {
    if (basename(at) !== "artifacts" || !hasStore(dirname(at))) continue;
    throw new SpillwayError(
      "bad-input",
      `${dir} is among the outputs of the store in ${dirname(at)}: a store cannot be made there. Name another folder`,
    );
  }
}

/** The path without links, also if its last parts are not there yet. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(realPath(dirname(path)), basename(path));
  }
}

/** The file in it that says that the ledger did not answer. */
export const LEDGER_DOWN = "ledger-down";
