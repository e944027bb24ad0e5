import { realpath } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { SpillwayError } from "../../errors.ts";

/** The folders that tools may read. */
export interface Roots {
  readonly folders: readonly string[];
  /** The true path of what a model named. Throws if it is outside the folders, also by way of a link or "..". */
  find(path: string): Promise<string>;
  /** A path as a model should see it. */
  show(path: string): string;
}

/** Confines tools to folders. */
export async function openRoots(given: readonly string[]): Promise<Roots> {
  const folders = await Promise.all(given.map((folder) => realpath(folder)));
  const [first = "."] = folders;
  return {
    folders,
    async find(path) {
      if (path.includes("\0")) throw outside(path);
      const wanted = resolve(first, path);
      // Checked before the disk is read, so that a model does not learn what exists outside.
      if (!folders.some((folder) => isWithin(folder, wanted))) throw outside(path);
      const found = await realpath(wanted).catch(() => {
        throw new SpillwayError("bad-input", `there is no ${printable(path)}`);
      });
      if (!folders.some((folder) => isWithin(folder, found))) throw outside(path);
      return found;
    },
    show: (path) => (isWithin(first, path) ? relative(first, path) || "." : path),
  };
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way));
}

function outside(path: string): SpillwayError {
  return new SpillwayError("bad-input", `${printable(path)} is outside the folders that may be read`);
}

function printable(path: string): string {
  return JSON.stringify(path.slice(0, 200));
}
