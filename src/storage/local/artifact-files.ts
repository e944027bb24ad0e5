import { createHash, randomBytes } from "node:crypto";
import { constants, renameSync, unlinkSync } from "node:fs";
import { open, unlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { SpillwayError } from "../../errors.ts";
import type { ArtifactRows } from "./artifact-rows.ts";
import { openBlocks } from "./block-file.ts";
import { decodeLineIndex, encodeLineIndex, type LineIndex, startLineIndex } from "./line-index.ts";
import { type ArtifactBytes, openNoFollow, openPlain } from "./plain-file.ts";
import type { ArtifactTable } from "./schema.ts";
import { writeFault } from "./spool-part.ts";
import {
  artifactFolder,
  codeOf,
  makeArtifactFolder,
  PRIVATE_FILE,
  type StoreFolders,
  syncFolder,
} from "./store-folders.ts";

const ENDINGS = { plain: "", blocks: ".blocks", index: ".idx" } as const;
const READ_BYTES = 1024 * 1024;
/** A file can change its form between the look at its row and its opening; it does not change over and over. */
const ATTEMPTS = 3;
const HELD_INDEXES = 8;
/** Of an artifact of 8 GiB: 1 MiB of memory. */
const MAX_HELD_BLOCKS = 131_072;

/** What a file of an artifact holds. */
export type FileKind = keyof typeof ENDINGS;

/** The files of a store's artifacts. */
export type ArtifactFiles = ReturnType<typeof openFiles>;

/** Reads and places files by the rows they belong to. */
export function openFiles(folders: StoreFolders, rows: ArtifactRows) {
  const indexes = new Map<string, LineIndex>();
  const pathOf = (key: string, kind: FileKind) => join(artifactFolder(folders, key), key + ENDINGS[kind]);

  async function openRow(row: ArtifactTable): Promise<ArtifactBytes | null> {
    if (row.form === "plain") return openPlain(pathOf(row.key, "plain"), row.bytes);
    if (row.form === "blocks") return openBlocks(pathOf(row.key, "blocks"), row.bytes);
    const data = rows.smallData(row.key);
    if (data === null) return null;
    if (createHash("sha256").update(data).digest("hex") !== row.sha256) {
      throw new SpillwayError(
        "store-damaged",
        `the bytes of artifact ${row.id} in ${folders.dir} are damaged: they are not those that were kept. Run: spillway verify`,
      );
    }
    return {
      bytes: row.bytes,
      read: async (from, to) => new Uint8Array(data.subarray(from, to)),
      close: async () => {},
    };
  }

  /** An artifact's bytes, whatever their form, null if they are gone; null if there is no such artifact any more. */
  async function openBytes(key: string): Promise<{ row: ArtifactTable; bytes: ArtifactBytes | null } | null> {
    for (let attempt = 1; ; attempt += 1) {
      const row = rows.findByKey(key);
      if (row === null) return null;
      const bytes = await openRow(row);
      if (bytes !== null || attempt === ATTEMPTS) return { row, bytes };
    }
  }

  async function loadIndex(row: ArtifactTable, bytes: ArtifactBytes): Promise<LineIndex> {
    const handle = await openNoFollow(pathOf(row.key, "index")).catch(() => null);
    const file = await handle?.readFile().finally(() => handle.close());
    const found = file === undefined ? null : decodeLineIndex(file, row);
    if (found !== null) return found;
    const rebuilt = await indexOf(bytes);
    // Only saves the next reader the work: a folder that cannot be written is no fault here.
    await writeSpool(encodeLineIndex(rebuilt))
      .then((part) => renameSync(part, pathOf(row.key, "index")))
      .catch(() => {});
    return rebuilt;
  }

  /** Where the artifact's lines stand. The last ones asked for are at hand: readers ask often in a row. */
  async function readIndex(row: ArtifactTable, bytes: ArtifactBytes): Promise<LineIndex> {
    if (row.form === "row") return indexOf(bytes);
    const index = indexes.get(row.key) ?? (await loadIndex(row, bytes));
    indexes.delete(row.key);
    if (index.ends.length <= MAX_HELD_BLOCKS) indexes.set(row.key, index);
    for (const oldest of indexes.keys()) {
      if (indexes.size <= HELD_INDEXES) break;
      indexes.delete(oldest);
    }
    return index;
  }

  /** Writes a file that is going to be renamed. */
  async function writeSpool(bytes: Uint8Array): Promise<string> {
    const part = join(folders.spool, `${randomBytes(12).toString("hex")}.part`);
    const handle = await open(part, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, PRIVATE_FILE);
    try {
      await handle.writeFile(bytes).finally(() => handle.close());
    } catch (error) {
      await unlink(part).catch(() => {});
      throw writeFault(error);
    }
    return part;
  }

  return {
    folders,
    pathOf,
    openBytes,
    readIndex,
    writeSpool,

    /** Moves finished parts to their names, for good. Inside a transaction, so that nobody collects them meanwhile. */
    place(key: string, parts: Partial<Record<FileKind, string>>): void {
      const folder = makeArtifactFolder(folders, key);
      for (const [kind, part] of Object.entries(parts) as [FileKind, string][]) {
        renameSync(part, join(folder, key + ENDINGS[kind]));
      }
      syncFolder(folder);
    },

    /** Removes every file of a key that its row, if there is one, does not name. */
    tidy(key: string): Promise<void> {
      return rows.write(() => {
        const form = rows.findByKey(key)?.form ?? null;
        if (form !== "plain") unlinkIfThere(pathOf(key, "plain"));
        if (form !== "blocks") unlinkIfThere(pathOf(key, "blocks"));
        if (form === null || form === "row") unlinkIfThere(pathOf(key, "index"));
      });
    },

    /** The plain file, marked as in use, so that it is not compressed under a searcher's hands. */
    async plainFile(key: string): Promise<string | null> {
      const path = pathOf(key, "plain");
      const now = new Date();
      try {
        if (rows.findByKey(key)?.form !== "plain") return null;
        await utimes(path, now, now);
        return rows.findByKey(key)?.form === "plain" ? path : null;
      } catch (error) {
        if (codeOf(error) === "ENOENT") return null;
        // Read-only: nobody compresses it either.
        return path;
      }
    },
  };
}

/** Every byte in order, in pieces. */
export async function* pieces(bytes: ArtifactBytes): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.bytes; from += READ_BYTES) {
    yield await bytes.read(from, Math.min(bytes.bytes, from + READ_BYTES));
  }
}

async function indexOf(bytes: ArtifactBytes): Promise<LineIndex> {
  const index = startLineIndex();
  for await (const piece of pieces(bytes)) index.add(piece);
  return index.end();
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}
