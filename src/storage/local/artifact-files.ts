import { createHash } from "node:crypto";
import { existsSync, renameSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { codeOf, SpillwayError } from "../../errors.ts";
import type { ArtifactRows } from "./artifact-rows.ts";
import { checkedBytes, type LineIndex, readLineIndex, startLineIndex } from "./line-index.ts";
import type { Database } from "./open-database.ts";
import { type ArtifactBytes, openPlain } from "./plain-file.ts";
import type { ArtifactTable } from "./schema.ts";
import { artifactFolder, makeArtifactFolder, type StoreFolders, syncFolder } from "./store-folders.ts";

const READ_BYTES = 1024 * 1024;
/** A file can become a row or the reverse between the reading of its row and its opening, but not again and again. */
const ATTEMPTS = 3;

/** An artifact that is open for reading. Every byte that is read is checked. */
export interface OpenBytes {
  row: ArtifactTable;
  bytes: ArtifactBytes;
  index: LineIndex;
}

/** Gives access to the files of a store's artifacts. */
export type ArtifactFiles = ReturnType<typeof openFiles>;

/** Opens the files of artifacts by the rows that name them. */
export function openFiles(folders: StoreFolders, database: Database, rows: ArtifactRows) {
  const pathOf = (key: string) => join(artifactFolder(folders, key), key);

  const damaged = ({ id }: ArtifactTable) =>
    new SpillwayError(
      "store-damaged",
      `the bytes of artifact ${id} in ${folders.dir} are damaged: they are not those that were kept. Run: spillway verify`,
    );

  function openRow(row: ArtifactTable): OpenBytes | null {
    const data = database.now(rows.smallData(row.key));
    if (data === null) return null;
    if (createHash("sha256").update(data).digest("hex") !== row.sha256) throw damaged(row);
    const index = startLineIndex();
    index.add(data);
    const read = async (from: number, to: number) => new Uint8Array(data.subarray(from, to));
    return { row, bytes: { bytes: row.bytes, read, close: async () => {} }, index: index.end() };
  }

  async function openFile(row: ArtifactTable): Promise<OpenBytes | null> {
    const path = pathOf(row.key);
    const plain = await openPlain(path, row.bytes);
    if (plain === null) return null;
    try {
      const stored = database.now(rows.indexData(row.key));
      const index = (stored && readLineIndex(stored, row)) ?? (await rebuild(row, plain));
      return { row, bytes: checkedBytes(plain, index, path), index };
    } catch (error) {
      await plain.close();
      throw error;
    }
  }

  async function rebuild(row: ArtifactTable, bytes: ArtifactBytes): Promise<LineIndex> {
    const { sha256, index } = await scanAll(bytes);
    // The checksums of damaged bytes must not become those of the artifact.
    if (sha256 !== row.sha256) throw damaged(row);
    // Saves the index only to spare the next reader the work. If nothing can be written, that is no fault.
    await database.commit(() => rows.saveIndex(row.key, index.data)).catch(() => {});
    return index;
  }

  return {
    folders,
    pathOf,

    /**
     * Opens an artifact's bytes. Returns null if there is no such artifact. `opened` is null if the row is there and the
     * bytes are gone.
     */
    async openBytes(key: string): Promise<{ opened: OpenBytes | null } | null> {
      for (let attempt = 1; ; attempt += 1) {
        const row = database.now(rows.findByKey(key));
        if (row === null) return null;
        const opened = row.form === "plain" ? await openFile(row) : openRow(row);
        if (opened !== null || attempt === ATTEMPTS) return { opened };
      }
    },

    /**
     * Renames a finished part to the artifact's name and syncs the folder. Call it inside a transaction, so that nobody
     * collects the file meanwhile.
     */
    place(key: string, part: string): void {
      const folder = makeArtifactFolder(folders, key);
      renameSync(part, join(folder, key));
      syncFolder(folder);
    },

    /** Removes every file of a key that the key's row does not name. If there is no row, removes all of them. */
    tidy(key: string): Promise<void> {
      return database.write(() => {
        if (database.now(rows.findByKey(key))?.form !== "plain") unlinkIfThere(pathOf(key));
        // Earlier versions had these files too.
        for (const ending of [".idx", ".blocks"]) unlinkIfThere(pathOf(key) + ending);
      });
    },

    /** Returns the file's path, or null if the artifact is a row or its file is gone. */
    plainFile(key: string): string | null {
      const path = database.now(rows.findByKey(key))?.form === "plain" ? pathOf(key) : null;
      return path !== null && existsSync(path) ? path : null;
    },
  };
}

/** Reads every byte and returns their hash and line index. */
export async function scanAll(bytes: ArtifactBytes): Promise<{ sha256: string; index: LineIndex }> {
  const hash = createHash("sha256");
  const index = startLineIndex();
  for (let from = 0; from < bytes.bytes; from += READ_BYTES) {
    const piece = await bytes.read(from, Math.min(bytes.bytes, from + READ_BYTES));
    hash.update(piece);
    index.add(piece);
  }
  return { sha256: hash.digest("hex"), index: index.end() };
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}
