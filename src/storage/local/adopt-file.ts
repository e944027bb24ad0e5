import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { type ArtifactFiles, pieces } from "./artifact-files.ts";
import { artifactKey, keyStart } from "./artifact-key.ts";
import type { ArtifactRow, ArtifactRows } from "./artifact-rows.ts";
import { blocksBytes, openBlocks } from "./block-file.ts";
import { startLineIndex } from "./line-index.ts";
import { type ArtifactBytes, openPlain } from "./plain-file.ts";
import type { ArtifactTable } from "./schema.ts";
import { artifactFolder } from "./store-folders.ts";

/**
 * Writes a new row for a file that no row names, after the database was lost. The file's name is made from its bytes,
 * its scope and the secret, so a caller that asks with the right scope proves that the file belongs to the scope.
 * Returns null if there is no such file.
 */
export async function adoptFile(
  rows: ArtifactRows,
  files: ArtifactFiles,
  secret: Uint8Array,
  { id, scope }: { id: string; scope: string },
): Promise<ArtifactRow | null> {
  const key = await findKey(files, keyStart(id));
  if (key === null || rows.findByKey(key) !== null) return null;
  const found = await openEither(files, key);
  if (found === null) return null;
  const { bytes, form, path } = found;
  try {
    const keptMs = Math.floor((await stat(path)).mtimeMs);
    // A file that is newer than the database is not adopted, because this database may have had its row and removed it.
    if (keptMs >= rows.madeMs()) return null;
    const hash = createHash("sha256");
    const index = startLineIndex();
    for await (const piece of pieces(bytes)) {
      hash.update(piece);
      index.add(piece);
    }
    const sha256 = hash.digest("hex");
    if (artifactKey(secret, scope, sha256) !== key) return null;
    const { lines } = index.end();
    const unknown = { session: "", tool: "", call: null, command: null, folder: null, exit_code: null };
    const facts = { key, id, scope, bytes: bytes.bytes, lines, sha256, saved: "yes", form };
    const row = { ...unknown, ...facts, redaction_count: 0, redaction_bytes: 0 };
    return await rows.write(() => {
      // Another process may have written the row already, or collected the file.
      const known = rows.find(id, scope);
      if (known !== null || !existsSync(path)) return known;
      return rows.save(row, keptMs, null, () => {});
    });
  } finally {
    await bytes.close();
  }
}

async function findKey(files: ArtifactFiles, start: string): Promise<string | null> {
  const names = await readdir(artifactFolder(files.folders, start)).catch(() => []);
  return names.find((name) => name.startsWith(start) && /^[0-9a-f]{64}(\.blocks)?$/.test(name))?.slice(0, 64) ?? null;
}

async function openEither(
  files: ArtifactFiles,
  key: string,
): Promise<{ bytes: ArtifactBytes; form: ArtifactTable["form"]; path: string } | null> {
  const plain = files.pathOf(key, "plain");
  const found = await stat(plain).catch(() => null);
  const bytes = found && (await openPlain(plain, found.size));
  if (bytes !== null) return { bytes, form: "plain", path: plain };
  const path = files.pathOf(key, "blocks");
  const total = await blocksBytes(path);
  const blocks = total === null ? null : await openBlocks(path, total);
  return blocks && { bytes: blocks, form: "blocks", path };
}
