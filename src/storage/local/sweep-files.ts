import { readdir, stat, unlink } from "node:fs/promises";
import { join, relative } from "node:path";
import type { ArtifactFiles } from "./artifact-files.ts";
import type { ArtifactRows } from "./artifact-rows.ts";
import { artifactFolder } from "./store-folders.ts";

const OURS = /^([0-9a-f]{64})(\.blocks|\.idx)?$/;
const FOLDER = /^[0-9a-f]{2}$/;
const FORM_OF: Record<string, string> = { "": "plain", ".blocks": "blocks" };

/** Removes files that no row names and parts that nobody writes any more; gives their paths inside the store's folder. */
export async function sweepFiles(
  rows: ArtifactRows,
  files: ArtifactFiles,
  { nowMs, staleMs, maxAgeMs, dryRun }: { nowMs: number; staleMs: number; maxAgeMs: number; dryRun: boolean },
): Promise<string[]> {
  const { dir, spool } = files.folders;
  const swept: string[] = [];
  const madeMs = rows.madeMs();
  // A fresh file may belong to a row that another process is about to commit.
  const isStale = async (path: string): Promise<boolean> => {
    const found = await stat(path).catch(() => null);
    if (found === null || Math.max(found.mtimeMs, found.ctimeMs) >= nowMs - staleMs) return false;
    // Older than the database: its row went with an earlier one, and whoever has its id may still read it.
    return found.mtimeMs >= madeMs || found.mtimeMs < nowMs - maxAgeMs;
  };
  for (const name of await readdir(spool)) {
    const path = join(spool, name);
    if (!name.endsWith(".part") || !(await isPartStale(path, nowMs - staleMs))) continue;
    if (!dryRun) await unlink(path).catch(() => {});
    swept.push(relative(dir, path));
  }
  for (const { path, key } of await findOrphans(rows, files)) {
    if (key === null || !(await isStale(path))) continue;
    if (!dryRun) await files.tidy(key);
    swept.push(relative(dir, path));
  }
  return swept;
}

/** A writer touches its part from time to time, whatever else it waits for. */
async function isPartStale(path: string, beforeMs: number): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found !== null && found.mtimeMs < beforeMs;
}

/** Files under artifacts/ that no row names. A null key: not a file of ours at all. */
export async function findOrphans(
  rows: ArtifactRows,
  files: ArtifactFiles,
): Promise<{ path: string; key: string | null }[]> {
  const orphans: { path: string; key: string | null }[] = [];
  const { artifacts } = files.folders;
  for (const folder of await readdir(artifacts, { withFileTypes: true })) {
    const path = join(artifacts, folder.name);
    if (!folder.isDirectory() || !FOLDER.test(folder.name)) {
      orphans.push({ path, key: null });
      continue;
    }
    for (const entry of await readdir(artifactFolder(files.folders, folder.name), { withFileTypes: true })) {
      const [, key = null, ending = ""] = OURS.exec(entry.name) ?? [];
      const form = key === null || !key.startsWith(folder.name) ? null : (rows.findByKey(key)?.form ?? null);
      const isNamed = form !== null && (ending === ".idx" ? form !== "row" : FORM_OF[ending] === form);
      if (!isNamed || !entry.isFile()) {
        orphans.push({ path: join(path, entry.name), key: entry.isFile() || form === null ? key : null });
      }
    }
  }
  return orphans;
}
