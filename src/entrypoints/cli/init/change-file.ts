import { randomUUID } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, relative, sep } from "node:path";
import { badInput, cannotWrite, messageOf } from "../../../errors.ts";
import { tried } from "../../../values.ts";
import type { Whose } from "../../hook/agent.ts";

/** A file that is about to be changed. */
export interface FileChange {
  path: string;
  before: string;
  /** Empty to remove the file. */
  after: string;
  /** True if we wrote the file as it is; if it is left out, the text tells. */
  isOurs?: boolean;
}

/**
 * Plans the change of a file; null if it is already as it should be. Throws if the file cannot be read or understood, or if
 * the change would reach another file: others have a hand in a project, and a link in it could lead to any file of the user.
 */
export function planChange(path: string, whose: Whose, change: (text: string) => string): FileChange | null {
  try {
    const before = readText(path);
    const after = change(before);
    if (after === before) return null;
    if (whose === "project") for (const each of [path, dirname(path)]) checkInside(process.cwd(), each);
    readBackup(path);
    return { path, before, after };
  } catch (error) {
    throw badInput(`${path} is not read and not changed: ${messageOf(error)}`);
  }
}

/** Throws if a path leads out of a folder, over a link at its end or on its way. */
function checkInside(folder: string, path: string): void {
  let there = path;
  while (!existsSync(there)) there = dirname(there);
  const target = realpathSync(there);
  const way = relative(realpathSync(folder), target);
  if (way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way))
    throw new Error(
      `${there} is a link out of the project, to ${target}; take the link away, or change that file yourself`,
    );
}

/** The text of a file; empty if there is none. Throws if it is not UTF-8, since it could not be written back as it was. */
export function readText(path: string): string {
  if (!existsSync(path)) return "";
  // A pipe would let us wait for ever.
  if (!statSync(path).isFile()) throw new Error("it is not a regular file");
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
}

/** Where a file is kept as it was before us. */
export function backupOf(path: string): string {
  return `${path}.before-spillway`;
}

/** The text of a file as it was before us; null if none is kept. Throws if a link or a folder has the name of that copy. */
export function readBackup(path: string): string | null {
  const backup = backupOf(path);
  const about = lstatSync(backup, { throwIfNoEntry: false });
  if (about === undefined) return null;
  if (!about.isFile())
    throw new Error(`${backup}, where the file as it was is kept, is not a regular file; take it away`);
  return readText(backup);
}

/** What a file has once we have been there: a hook, a proxy, or Codex's trust in a hook. */
const OURS = /\bspillway(\.cmd)? hook\b|"spillway"|\[hooks\.state\./;

/**
 * Writes a change. The file is written under another name and renamed; a link stays one, and the mode stays as it was. The
 * file as it was before us is kept; once it is so again, that copy goes.
 */
export function writeChange({ path, before, after, isOurs = OURS.test(before) }: FileChange, isRemoval: boolean): void {
  const target = existsSync(path) ? realpathSync(path) : path;
  const mode = existsSync(target) ? statSync(target).mode : undefined;
  if (!isRemoval && mode !== undefined && !isOurs) replaceFile(backupOf(path), before, mode);
  if (after === "") {
    rmSync(target, { force: true });
    if (isRemoval) removeEmpty(dirname(target));
  } else replaceFile(target, after, mode);
  if (isRemoval && readBackup(path) === after) rmSync(backupOf(path));
}

/** Removes folders that are empty now, up to the user's own or the project's. Those of agents come with their settings. */
function removeEmpty(folder: string): void {
  const isKept = [homedir(), process.cwd()].some(
    (each) => existsSync(each) && realpathSync(each) === realpathSync(folder),
  );
  if (isKept || dirname(folder) === folder || readdirSync(folder).length > 0) return;
  rmdirSync(folder);
  removeEmpty(dirname(folder));
}

/** Puts a file in the place of another, never through a link: nobody can know the name under which it is written. */
function replaceFile(path: string, text: string, mode: number | undefined): void {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(temporary, text, { mode: mode === undefined ? 0o666 : 0o600, flag: "wx" });
    if (mode !== undefined) chmodSync(temporary, mode);
    renameSync(temporary, path);
  } catch (error) {
    // A full disk leaves a part of it.
    tried(() => rmSync(temporary, { force: true }));
    throw cannotWrite(path, error);
  }
}

/** The lines that go and those that come, without the lines at both ends that stay. */
export function describeChange({ path, before, after }: FileChange): string {
  const [old, fresh] = [before, after].map((text) => text.split("\n").slice(0, text === "" ? 0 : undefined)) as [
    string[],
    string[],
  ];
  let start = 0;
  while (start < old.length && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < Math.min(old.length, fresh.length) - start && old.at(-1 - end) === fresh.at(-1 - end)) end++;
  const rows = [
    ...old.slice(start, old.length - end).map((line) => `- ${line}`),
    ...fresh.slice(start, fresh.length - end).map((line) => `+ ${line}`),
  ];
  return `${path}\n${rows.join("\n")}\n`;
}
