import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, lstat, open, readdir, rename, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Artifact, Scope, Store } from "../../contract/store.ts";
import { SpillwayError } from "../../errors.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { eventLine } from "../ledgers/event-form.ts";
import { makeFolder } from "../local/store-folders.ts";
import { storedName } from "../stored-name.ts";
import { appendLine, type EventListener } from "./file-events.ts";

/** Options of `runDirectory`. */
export interface RunDirectoryOptions {
  /** The scope whose artifacts are copied. */
  scope?: Scope;
  /** Once an hour, runs without an event for this long are deleted, except those of sessions that are pinned. */
  maxAgeMs?: number | undefined;
  isPinned?: IsPinned | undefined;
}

/** Says whether a session is to be kept. */
export type IsPinned = (session: string) => Promise<boolean>;

// `safeFileName` never returns a name that begins with an underscore.
const NO_SESSION = "_no-session";
const EVENTS_FILE = "events.jsonl";
const CHUNK_BYTES = 1024 * 1024;

/** Returns the folder of a session's run under `dir`. `session` is the name that `storedName` gives. */
export function runPath(dir: string, session: string | null): string {
  return join(dir, session === null || session === "" ? NO_SESSION : safeFileName(session));
}

/** Returns the path of an artifact's plain copy in its run. */
export function outputPath(dir: string, { session, tool, id }: Pick<Artifact, "session" | "tool" | "id">): string {
  return join(runPath(dir, session), `${safeFileName(tool)}-${safeFileName(id)}.txt`);
}

/**
 * Keeps a folder for each session under `dir`: its events as lines of JSON, and each spilled output as a plain file.
 * The option `runs: DIR` uses it. If an artifact is gone already, only its event is written.
 */
export function runDirectory(
  dir: string,
  store: Store | null,
  { scope = "local", maxAgeMs, isPinned }: RunDirectoryOptions = {},
): EventListener {
  let sweptMs = -Infinity;
  return async (event) => {
    if (maxAgeMs !== undefined && performance.now() - sweptMs >= NUMBERS.collectEveryMs.default) {
      sweptMs = performance.now();
      // In the background: a run that stays too long does no harm.
      void sweepWhenDue(dir, maxAgeMs, isPinned).catch(() => {});
    }
    // Uses the store's form of the name, so that `copyOut` finds the same run.
    const session = storedName(event.session ?? event.receipt?.session);
    const run = await makeRun(dir, session);
    appendLine(join(run, EVENTS_FILE), eventLine(event), constants.O_NOFOLLOW ?? 0);
    if (store === null || (event.kind !== "artifact-spilled" && event.kind !== "output-clamped")) return;
    const ids = new Set([event.artifact, ...(event.receipt?.artifacts ?? [])]);
    const tool = storedName(event.tool);
    for (const id of ids) if (id !== null) await copyOutput(dir, store, { id, scope, session, tool });
  };
}

/** The artifact to copy, and the names that its copy gets. */
interface CopiedOutput {
  id: string;
  scope: Scope;
  session: string | null;
  /** Null takes the name of the tool that the store holds. */
  tool: string | null;
}

/**
 * Makes the plain copy of an artifact in its session's run if it is missing, and returns its path. Returns null if the
 * artifact is gone or too large, or if the disk has no room.
 */
export async function copyOutput(
  dir: string,
  store: Store,
  { id, scope, session, tool }: CopiedOutput,
): Promise<string | null> {
  const artifact = await store.find(id, scope);
  if (artifact === null || artifact.bytes > NUMBERS.runCopyBytes.default) return null;
  const path = outputPath(dir, { session, tool: tool ?? artifact.tool, id: artifact.id });
  const found = await lstat(path).catch(() => null);
  if (found?.isFile() && found.size === artifact.bytes) return path;
  const run = await makeRun(dir, session);
  if (!(await hasRoom(run, artifact.bytes))) return null;
  const temporary = join(run, `.${randomBytes(8).toString("hex")}.tmp`);
  try {
    if (!(await copyPlain(store, artifact, temporary)) && !(await copyRead(store, artifact, temporary))) return null;
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
  return path;
}

/** Returns true if the copy leaves the reserve free on the disk, or if the free space cannot be read. */
async function hasRoom(run: string, bytes: number): Promise<boolean> {
  const disk = await statfs(run).catch(() => null);
  return disk === null || disk.bavail * disk.bsize - bytes >= NUMBERS.freeReserveBytes.default;
}

/**
 * Deletes a session's run with all its files (null: the run of events without a session). Returns the number of files.
 */
export async function removeRun(dir: string, session: string | null): Promise<number> {
  const run = runPath(dir, storedName(session));
  const files = await readdir(run).catch(() => []);
  await rm(run, { recursive: true, force: true });
  return files.length;
}

async function sweepWhenDue(dir: string, maxAgeMs: number, isPinned?: IsPinned): Promise<void> {
  const { folderTurn } = await import("../local/collect-when-due.ts");
  await folderTurn(dir)(Date.now(), async () => (await sweepRuns(dir, { maxAgeMs, isPinned })) >= 0);
}

/** Deletes runs that had no event for so long, except those of sessions that are pinned. Returns how many. */
export async function sweepRuns(
  dir: string,
  { maxAgeMs, isPinned, isDryRun = false }: { maxAgeMs: number; isPinned?: IsPinned | undefined; isDryRun?: boolean },
): Promise<number> {
  let swept = 0;
  for (const run of await readdir(dir, { withFileTypes: true }).catch(() => [])) {
    if (!run.isDirectory()) continue;
    const events = join(dir, run.name, EVENTS_FILE);
    const stats = await lstat(events).catch(() => null);
    if (!stats?.isFile() || stats.mtimeMs > Date.now() - maxAgeMs) continue;
    const session = await sessionOf(events);
    // A folder that is not ours is left alone.
    if (session === undefined || runPath(dir, session) !== join(dir, run.name)) continue;
    if (session !== null && (await isPinned?.(session))) continue;
    if (!isDryRun) await rm(join(dir, run.name), { recursive: true, force: true });
    swept += 1;
  }
  return swept;
}

/** The session that the first line of a run's events names. */
async function sessionOf(events: string): Promise<string | null | undefined> {
  const file = await open(events, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    for await (const line of file.readLines({ autoClose: false })) return storedName(JSON.parse(line).session);
  } catch {
    // It is no event.
  } finally {
    await file.close();
  }
  return undefined;
}

/** Deletes an artifact's plain copies from every run. Returns how many there were. */
export async function removeCopies(dir: string, id: string): Promise<number> {
  const ending = `-${safeFileName(id)}.txt`;
  let removed = 0;
  for (const run of await readdir(dir, { withFileTypes: true }).catch(() => [])) {
    // A link to another folder is not a run of ours.
    if (!run.isDirectory()) continue;
    for (const name of await readdir(join(dir, run.name)).catch(() => [])) {
      if (!name.endsWith(ending)) continue;
      await rm(join(dir, run.name, name), { force: true });
      removed += 1;
    }
  }
  return removed;
}

async function makeRun(dir: string, session: string | null): Promise<string> {
  const run = runPath(dir, session);
  await makeFolder(run);
  if (!(await lstat(run)).isDirectory()) {
    throw new SpillwayError("store-unavailable", `${run} is a link; nothing is written through it. Remove it.`);
  }
  return run;
}

/** Copies the store's own file. Most file systems do this without moving a byte. */
async function copyPlain(store: Store, { id, scope, bytes }: Artifact, to: string): Promise<boolean> {
  const file = await store.file(id, scope);
  if (file === null) return false;
  try {
    await copyFile(file, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    const copy = await open(to, "r+");
    try {
      await copy.chmod(0o600);
      if ((await copy.stat()).size === bytes) return true;
    } finally {
      await copy.close();
    }
  } catch {
    // If the file was compressed or collected meanwhile, `copyRead` reads the artifact through the store.
  }
  await rm(to, { force: true });
  return false;
}

async function copyRead(store: Store, { id, scope, bytes }: Artifact, to: string): Promise<boolean> {
  const copy = await open(to, "wx", 0o600);
  try {
    for (let from = 0; from < bytes; ) {
      const chunk = await store.read(id, scope, { from, to: Math.min(from + CHUNK_BYTES, bytes) });
      if (chunk === null || chunk.length === 0) return false;
      await copy.writeFile(chunk);
      from += chunk.length;
    }
    return true;
  } finally {
    await copy.close();
  }
}

const READABLE_CHARS = 48;
const HASH_CHARS = 16;
const PLAIN = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const LOOKS_HASHED = /-[0-9a-f]{16}$/;
const HAS_ODD_DOTS = /\.\.|\.$/;
// Windows treats these names as devices, whatever follows the first dot.
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/;

/**
 * Returns a file name for any name of a session or a tool. The file name is readable, is never a path, and differs for
 * different names even if the file system ignores case.
 */
export function safeFileName(name: string): string {
  if (PLAIN.test(name) && !LOOKS_HASHED.test(name) && !HAS_ODD_DOTS.test(name) && !DEVICE.test(name)) return name;
  const hash = createHash("sha256").update(Buffer.from(name, "utf16le")).digest("hex").slice(0, HASH_CHARS);
  const readable = name
    .slice(0, READABLE_CHARS)
    .replaceAll(/[^A-Za-z0-9._-]+/g, "_")
    .replaceAll(/\.{2,}/g, ".")
    .replace(/^[._-]+/, "");
  return `${readable || "x"}-${hash}`;
}
