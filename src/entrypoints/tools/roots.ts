import { readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, extname, isAbsolute, relative, resolve, sep } from "node:path";
import { badInput, nearestName, type SpillwayError } from "../../errors.ts";
import { parsedJson } from "../../values.ts";

/** The folders that tools may read. */
export interface Roots {
  readonly folders: readonly string[];
  /** The folder in which all of them are. Paths that a model reads are relative to it, unless it is the root of the disk. */
  readonly base: string;
  /** The true path of what a model named. Throws if it is outside the folders, also by way of a link or "..". */
  find(path: string): Promise<string>;
  /** The true paths of what a model named; all folders where it named none. */
  findAll(path: string | undefined): Promise<readonly string[]>;
  /** The same, where only a folder will do. */
  findFolders(path: string | undefined): Promise<readonly string[]>;
  /** A path as a model should see it: `find` takes it back. */
  show(path: string): string;
}

/** Folders named in descriptions; more would only cost tokens. */
const MAX_NAMED = 8;
const MAX_PATH_CHARS = 200;
/** Names of a folder that a mistyped one is compared with. */
const MAX_COMPARED = 2000;

/** Confines tools to folders. */
export async function openRoots(given: readonly string[]): Promise<Roots> {
  const all = await Promise.all(given.map((folder) => realpath(folder)));
  for (const folder of all) {
    if (!(await stat(folder)).isDirectory()) throw badInput(`${folder} is no folder`);
  }
  // A folder inside another one would be searched twice.
  const folders = all.filter(
    (folder, index) => !all.some((other, at) => isWithin(other, folder) && (other !== folder || at < index)),
  );
  const base = folders.reduce(sharedFolder, folders[0] ?? resolve("."));
  const isReadable = (path: string) => folders.some((folder) => isWithin(folder, path));

  async function find(path: string): Promise<string> {
    if (path.includes("\0")) throw outside(path);
    const asShown = resolve(base, path);
    // Checked before the disk is read, so that a model does not learn what exists outside.
    const ways = [...new Set([asShown, ...folders.map((folder) => resolve(folder, path))])].filter(isReadable);
    const [first] = ways;
    if (first === undefined) throw outside(path);
    const found = new Set<string>();
    for (const way of ways) {
      const place = await realpath(way).catch(() => null);
      if (place === null) continue;
      if (!isReadable(place)) throw outside(path);
      // What answers show means one file, whatever else has that name in another folder.
      if (way === asShown) return place;
      found.add(place);
    }
    const [place, ...others] = found;
    if (others.length > 0) {
      throw badInput(`${printable(path)} is in several folders; say which: ${[...found].map(show).join(", ")}`);
    }
    if (place !== undefined) return place;
    const unquoted = readQuoted(path);
    if (unquoted !== null) return find(unquoted);
    throw badInput(`there is no ${printable(path)}${await hint(first)}`);
  }

  /** The nearest name in the last folder of the path that exists. */
  async function hint(wanted: string): Promise<string> {
    for (let path = wanted; isReadable(dirname(path)); path = dirname(path)) {
      const folder = await realpath(dirname(path)).catch(() => null);
      if (folder === null || !isReadable(folder)) continue;
      const names = (await readdir(folder).catch(() => [])).slice(0, MAX_COMPARED);
      const near = nearestName(stem(path), names.map(stem));
      const name = names.find((each) => stem(each) === near);
      return name === undefined ? "" : `; did you mean ${show(resolve(folder, name))}?`;
    }
    return "";
  }

  function show(path: string): string {
    // Folders that share nothing but the root of the disk are told apart best by their whole paths.
    const isFar = base === dirname(base) || !isWithin(base, path);
    return escaped((isFar ? path : relative(base, path) || ".").replaceAll(sep, "/"));
  }

  async function findAll(path: string | undefined): Promise<readonly string[]> {
    return path === undefined || path === "" || path === "." ? folders : [await find(path)];
  }

  return {
    folders,
    base,
    find,
    findAll,
    async findFolders(path) {
      const found = await findAll(path);
      for (const each of found) {
        if (!(await stat(each)).isDirectory()) throw badInput(`${show(each)} is no folder`);
      }
      return found;
    },
    show,
  };
}

/** Which folders there are, for the description of an argument. */
export function nameFolders({ folders, base, show }: Roots): string {
  if (folders.length === 1) return `relative to ${escaped(base)}`;
  const named = folders.slice(0, MAX_NAMED).map(show).join(", ");
  const more = folders.length > MAX_NAMED ? ` and ${folders.length - MAX_NAMED} more` : "";
  return `in one of the folders ${named}${more}${base === dirname(base) ? "" : `, relative to ${escaped(base)}`}`;
}

/** A name that cannot be taken for several lines: with control characters it is written as a JSON string. */
export function escaped(name: string): string {
  if (!/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|^"/u.test(name)) return name.toWellFormed();
  const hex = (char: string) =>
    [...Array(char.length).keys()].map((at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");
  return JSON.stringify(name).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, hex);
}

/** Takes back what `escaped` wrote. */
function readQuoted(path: string): string | null {
  const read = /^".*"$/s.test(path) ? parsedJson(path) : null;
  return typeof read === "string" ? read : null;
}

function sharedFolder(one: string, other: string): string {
  let folder = one;
  while (!isWithin(folder, other) && folder !== dirname(folder)) folder = dirname(folder);
  return folder;
}

/** A file's name without its folder and its ending. */
function stem(path: string): string {
  return basename(path, extname(path));
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way));
}

function outside(path: string): SpillwayError {
  return badInput(`${printable(path)} is outside the folders that may be read`);
}

function printable(path: string): string {
  return JSON.stringify(path.slice(0, MAX_PATH_CHARS).toWellFormed());
}
