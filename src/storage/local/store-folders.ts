import { closeSync, fsyncSync, lstatSync, mkdirSync, openSync } from "node:fs";
import { chmod, lstat, mkdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { codeOf, messageOf, SpillwayError } from "../../errors.ts";

const PRIVATE_FOLDER = 0o700;
/** The mode of a file that only its owner can read. */
export const PRIVATE_FILE = 0o600;

/** The folders of a local store. They are made private when the store is opened. */
export interface StoreFolders {
  dir: string;
  artifacts: string;
  spool: string;
}

/** Makes the folders of a local store. Throws with the reason if the place cannot be used. */
export async function openFolders(dir: string): Promise<StoreFolders> {
  const folders = { dir, artifacts: join(dir, "artifacts"), spool: join(dir, "spool") };
  try {
    await makeFolder(dir);
    const { mode } = await stat(dir);
    if (process.platform !== "win32" && (mode & 0o022) !== 0) {
      throw new SpillwayError(
        "store-unavailable",
        `${dir} can be written by other users, who could plant files in it. Run: chmod go-w ${dir}`,
      );
    }
    for (const folder of [folders.artifacts, folders.spool]) {
      await mkdir(folder, { mode: PRIVATE_FOLDER }).catch(ignoreExisting);
      const found = await lstat(folder);
      if (!found.isDirectory()) throw notAFolder(folder);
      if (process.platform !== "win32" && (found.mode & 0o077) !== 0) await chmod(folder, PRIVATE_FOLDER);
    }
  } catch (error) {
    if (SpillwayError.is(error)) throw error;
    throw new SpillwayError("store-unavailable", `the store in ${dir} cannot be opened: ${messageOf(error)}`, {
      cause: error,
    });
  }
  return folders;
}

/**
 * Makes a private folder and its missing parents. Node's recursive mkdir never returns under a folder that takes no
 * others, such as /proc.
 */
export async function makeFolder(folder: string): Promise<void> {
  const missing = [resolve(folder)];
  for (let at = missing[0] as string; !(await isThere(at)); ) {
    const parent = dirname(at);
    if (parent === at) break;
    missing.push(parent);
    at = parent;
  }
  for (const each of missing.toReversed()) {
    await mkdir(each, { mode: PRIVATE_FOLDER }).catch(ignoreExisting);
  }
  if (!(await stat(folder)).isDirectory())
    throw new Error(`${folder} is not a folder: name one, or a place where nothing is yet`);
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** Returns the folder of a key's files. Throws if it is a link or a file. */
export function artifactFolder(folders: StoreFolders, key: string): string {
  const folder = join(folders.artifacts, key.slice(0, 2));
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found && !found.isDirectory()) throw notAFolder(folder);
  return folder;
}

/** Returns the same folder, and makes it if it is missing. */
export function makeArtifactFolder(folders: StoreFolders, key: string): string {
  const folder = artifactFolder(folders, key);
  try {
    mkdirSync(folder, { mode: PRIVATE_FOLDER });
    syncFolder(folders.artifacts);
  } catch (error) {
    ignoreExisting(error);
  }
  return folder;
}

/** Makes a rename in a folder survive a power cut. Windows has no such call and keeps its own journal. */
export function syncFolder(folder: string): void {
  if (process.platform !== "win32") syncFile(folder, "r");
}

/** Flushes what was written to a file. */
export function syncFile(path: string, flags = "r+"): void {
  const descriptor = openSync(path, flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Throws an error again, unless it says that the file or the folder is there already. */
export function ignoreExisting(error: unknown): void {
  if (codeOf(error) !== "EEXIST") throw error;
}

function notAFolder(folder: string): SpillwayError {
  return new SpillwayError(
    "store-damaged",
    `${folder} is not a folder but a link or a file; nothing is read or written through it. Remove it and try again.`,
  );
}
