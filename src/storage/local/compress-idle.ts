import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { open, stat, unlink } from "node:fs/promises";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import type { ArtifactFiles } from "./artifact-files.ts";
import type { ArtifactRows } from "./artifact-rows.ts";
import { writeBlocks } from "./block-file.ts";
import type { Database } from "./open-database.ts";
import type { ArtifactTable } from "./schema.ts";
import { reasonOf } from "./store-folders.ts";

/** Says which artifacts to compress. */
export interface CompressOptions {
  nowMs?: number;
  /** Compresses artifacts that were saved and last searched longer ago than this. */
  olderThanMs?: number;
  /** Compresses at most this many. */
  max?: number;
  /** Only reports what would be compressed. */
  dryRun?: boolean;
  /** Ids of artifacts that are not compressed. */
  except?: ReadonlySet<string>;
}

/** Says what compressing achieved. */
export interface CompressReport {
  compressed: number;
  bytesBefore: number;
  /** Null after a dry run. */
  bytesAfter: number | null;
  /** Artifacts that could not be compressed, and why. They stay as they are. */
  failed: { id: string; reason: string }[];
}

const PAGE = 100;

/** Compresses artifacts that nobody uses. Readers can go on meanwhile. */
export async function compressIdle(
  { kysely, all }: Database,
  rows: ArtifactRows,
  files: ArtifactFiles,
  options: CompressOptions = {},
): Promise<CompressReport> {
  const { nowMs = Date.now(), olderThanMs = NUMBERS.compressAfterMs.default, max = Infinity, dryRun = false } = options;
  const report: CompressReport = { compressed: 0, bytesBefore: 0, bytesAfter: dryRun ? null : 0, failed: [] };
  const beforeMs = nowMs - olderThanMs;
  const idle = kysely
    .selectFrom("artifacts")
    .selectAll()
    .where("form", "=", "plain")
    .where("created_ms", "<=", beforeMs)
    .orderBy("key")
    .limit(PAGE);
  for (let after = ""; ; ) {
    const page = all(idle.where("key", ">", after));
    for (const row of page) {
      if (report.compressed >= max) return report;
      after = row.key;
      if (options.except?.has(row.id)) continue;
      try {
        const bytesAfter = dryRun
          ? await idleBytes(files, row, beforeMs)
          : await compressOne(rows, files, row, beforeMs);
        if (bytesAfter === null) continue;
        report.compressed += 1;
        report.bytesBefore += row.bytes;
        if (report.bytesAfter !== null) report.bytesAfter += bytesAfter;
      } catch (error) {
        report.failed.push({ id: row.id, reason: reasonOf(error) });
      }
    }
    if (page.length < PAGE) return report;
  }
}

/** Returns the size of the plain file, or null if the file was used too recently to be compressed. */
async function idleBytes(files: ArtifactFiles, { key }: ArtifactTable, beforeMs: number): Promise<number | null> {
  const { mtimeMs, size } = await stat(files.pathOf(key, "plain"));
  return mtimeMs > beforeMs ? null : size;
}

async function compressOne(
  rows: ArtifactRows,
  files: ArtifactFiles,
  { key, sha256 }: ArtifactTable,
  beforeMs: number,
): Promise<number | null> {
  const plain = files.pathOf(key, "plain");
  if ((await stat(plain)).mtimeMs > beforeMs) return null;
  const opened = await files.openBytes(key);
  if (opened === null || opened.bytes === null) return null;
  const { bytes } = opened;
  if (opened.row.form !== "plain") {
    // Another process has compressed it already.
    await bytes.close();
    return null;
  }
  const part = await files.writeSpool(new Uint8Array()).catch(async (error: unknown) => {
    await bytes.close();
    throw error;
  });
  try {
    const target = await open(part, "r+");
    try {
      const hash = createHash("sha256");
      await writeBlocks(bytes, target, (block) => hash.update(block));
      // If the bytes are damaged, they must not be packed as if they were the artifact.
      if (hash.digest("hex") !== sha256) throw new Error("its bytes are not those that were kept");
      await target.sync();
    } finally {
      await target.close();
      await bytes.close();
    }
    const { size } = await stat(part);
    const isSwitched = await rows.write(() => {
      // A searcher may have got the plain file meanwhile.
      const isIdle = (statSync(plain, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) <= beforeMs;
      if (!isIdle || !rows.changeForm(key, "plain", "blocks")) return false;
      files.place(key, { blocks: part });
      return true;
    });
    if (isSwitched) await files.tidy(key);
    return isSwitched ? size : null;
  } finally {
    await unlink(part).catch(() => {});
  }
}
