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
/**
 * A file can change its form between the reading of its row and its opening, but it does not change again and again.
 */
const ATTEMPTS = 3;
const HELD_INDEXES = 8;
/** The index of an artifact of 8 GiB has this many blocks and takes 1 MiB of memory. */
const MAX_HELD_BLOCKS = 131_072;

/** Names what a file of an artifact holds. */
export type FileKind = keyof typeof ENDINGS;

/** Gives access to the files of a store's artifacts. */
export type ArtifactFiles = ReturnType<typeof openFiles>;

/** Opens the files of artifacts by the rows that name them. */
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

  /**
   * Opens an artifact's bytes in any form. Returns null if there is no such artifact. `bytes` is null if the row is
   * there and the bytes are gone.
   */
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
    // Saves the index only to spare the next reader the work. If the folder cannot be written, that is no fault.
    await writeSpool(encodeLineIndex(rebuilt))
      .then((part) => renameSync(part, pathOf(row.key, "index")))
      .catch(() => {});
    return rebuilt;
  }

  /**
   * Returns where the artifact's lines begin. Holds the indexes that were used last, because readers often ask several
   * times in a row.
   */
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

  /** Writes a file under a temporary name in the spool. The caller renames it. */
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

    /**
     * Renames finished parts to the artifact's names and syncs the folder. Call it inside a transaction, so that nobody
     * collects the files meanwhile.
     */
    place(key: string, parts: Partial<Record<FileKind, string>>): void {
      const folder = makeArtifactFolder(folders, key);
      for (const [kind, part] of Object.entries(parts) as [FileKind, string][]) {
        renameSync(part, join(folder, key + ENDINGS[kind]));
      }
      syncFolder(folder);
    },

    /** Removes every file of a key that the key's row does not name. If there is no row, removes all of them. */
    tidy(key: string): Promise<void> {
      return rows.write(() => {
        const form = rows.findByKey(key)?.form ?? null;
        if (form !== "plain") unlinkIfThere(pathOf(key, "plain"));
        if (form !== "blocks") unlinkIfThere(pathOf(key, "blocks"));
        if (form === null || form === "row") unlinkIfThere(pathOf(key, "index"));
      });
    },

    /**
     * Returns the plain file's path, or null if there is none. Sets the file's time to now, so that it is not
     * compressed while a searcher reads it.
     */
    async plainFile(key: string): Promise<string | null> {
      const path = pathOf(key, "plain");
      const now = new Date();
      try {
        if (rows.findByKey(key)?.form !== "plain") return null;
        await utimes(path, now, now);
        return rows.findByKey(key)?.form === "plain" ? path : null;
      } catch (error) {
        if (codeOf(error) === "ENOENT") return null;
        // If the folder is read-only, nobody can compress the file either.
        return path;
      }
    },
  };
}

/** Yields every byte in order, in pieces of 1 MiB. */
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
