import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { messageOf, SpillwayError } from "../../../errors.ts";

/** A file that is about to be changed. */
export interface FileChange {
  path: string;
  before: string;
  /** Empty to remove the file. */
  after: string;
}

/** Plans the change of a file; null if it is already as it should be. Throws if the file cannot be read or understood. */
export function planChange(path: string, change: (text: string) => string): FileChange | null {
  try {
    const before = readText(path);
    const after = change(before);
    return after === before ? null : { path, before, after };
  } catch (error) {
    throw new SpillwayError("bad-input", `${path} is not read and not changed: ${messageOf(error)}`);
  }
}

/** The text of a file; empty if there is none. Throws if it is not UTF-8, since it could not be written back as it was. */
export function readText(path: string): string {
  return existsSync(path) ? new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(path)) : "";
}

/** Where a file is kept as it was before us. */
export function backupOf(path: string): string {
  return `${path}.before-spillway`;
}

/** What a file has once we have been there: a hook, a proxy, or Codex's trust in a hook. */
const OURS = /\bspillway(\.cmd)? hook\b|"spillway"|\[hooks\.state\./;

/**
 * Writes a change. The file is written under another name and renamed; a link stays one, and the mode stays as it was. The
 * file as it was before us is kept; once it is so again, that copy goes.
 */
export function writeChange({ path, before, after }: FileChange, isRemoval: boolean): void {
  const target = existsSync(path) ? realpathSync(path) : path;
  const backup = backupOf(path);
  if (!isRemoval && existsSync(path) && !OURS.test(before)) copyFileSync(path, backup);
  if (after === "") rmSync(target, { force: true });
  else {
    mkdirSync(dirname(target), { recursive: true });
    const temporary = `${target}.${process.pid}.tmp`;
    const mode = existsSync(target) ? statSync(target).mode : undefined;
    writeFileSync(temporary, after, { mode: mode === undefined ? 0o666 : 0o600 });
    if (mode !== undefined) chmodSync(temporary, mode);
    renameSync(temporary, target);
  }
  if (isRemoval && existsSync(backup) && readText(backup) === after) rmSync(backup);
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
