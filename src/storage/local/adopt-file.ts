import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { type ArtifactFiles, scanAll } from "./artifact-files.ts";
import { artifactKey, keyStart } from "./artifact-key.ts";
import type { ArtifactRow } from "./artifact-rows.ts";
import type { SavePlace } from "./artifact-writer.ts";
import { openPlain } from "./plain-file.ts";
import { artifactFolder } from "./store-folders.ts";

/**
 * Writes a new row for a file that no row names, after the database was lost. The file's name is made from its bytes,
 * its scope and the secret, so a caller that asks with the right scope proves that the file belongs to the scope.
 * Returns null if there is no such file.
 */
export async function adoptFile(
  { database, rows, files, secret }: Omit<SavePlace, "now">,
  { id, scope }: { id: string; scope: string },
): Promise<ArtifactRow | null> {
  const key = await findKey(files, keyStart(id));
  if (key === null || database.now(rows.findByKey(key)) !== null) return null;
  const path = files.pathOf(key);
  const { size, mtimeMs } = await stat(path);
  const keptMs = Math.floor(mtimeMs);
  // A file that is newer than the database is not adopted, because this database may have had its row and removed it.
  const bytes = keptMs >= database.now(rows.madeMs()) ? null : await openPlain(path, size);
  if (bytes === null) return null;
  const { sha256, index } = await scanAll(bytes).finally(() => bytes.close());
  if (artifactKey(secret, scope, sha256) !== key) return null;
  const unknown = { session: "", tool: "", call: null, command: null, folder: null, exit_code: null };
  const facts = {
    key,
    id,
    scope,
    bytes: size,
    lines: index.lines,
    sha256,
    saved: "yes",
    form: "plain" as const,
    place: null,
  };
  const row = { ...unknown, ...facts, redaction_count: 0, redaction_bytes: 0 };
  return database.commit(function* () {
    // Another process may have written the row already, or collected the file.
    const known = yield* rows.find(id, scope);
    if (known !== null || !existsSync(path)) return known;
    return yield* rows.save(row, keptMs, { index: index.data });
  });
}

async function findKey(files: ArtifactFiles, start: string): Promise<string | null> {
  const names = await readdir(artifactFolder(files.folders, start)).catch(() => []);
  return names.find((name) => name.startsWith(start) && /^[0-9a-f]{64}$/.test(name)) ?? null;
}
