import { createHash, randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Artifact, ArtifactAbout } from "../../contract/store.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { encodeLineIndex, startLineIndex } from "./line-index.ts";
import type { Quota } from "./quota.ts";
import { artifactSave, type Facts, type SavePlace } from "./save-artifact.ts";
import { writeFault } from "./spool-part.ts";
import { codeOf, PRIVATE_FILE } from "./store-folders.ts";

/** Keeps a whole output without waiting: durable once it returns. */
export function keepNow(
  place: SavePlace & { quota: Quota; logPath: string },
  about: ArtifactAbout,
  data: Uint8Array,
  redactions: Artifact["redactions"],
): Artifact {
  place.quota.requireNow(data.length);
  const index = startLineIndex();
  index.add(data);
  const lines = index.end();
  const sha256 = createHash("sha256").update(data).digest("hex");
  const facts: Facts = { bytes: lines.bytes, lines: lines.lines, sha256, saved: "yes" };
  const isSmall = data.length <= NUMBERS.smallArtifactBytes.default;
  const parts: { plain?: string; index?: string } = {};
  const part = () => join(place.files.folders.spool, `${randomBytes(12).toString("hex")}.part`);
  try {
    if (!isSmall) {
      writeSynced((parts.plain = part()), data);
      const index = part();
      try {
        writeSynced(index, encodeLineIndex(lines));
        parts.index = index;
      } catch {
        // Without room for the index it is made anew by the first who needs it.
        rmSync(index, { force: true });
      }
    }
    const save = artifactSave(place, about, facts, redactions, isSmall ? data : null, parts);
    const kept = save.kept(place.rows.transaction(save.act));
    syncLog(place.logPath);
    const key = save.tidyKey();
    if (key !== null) void place.files.tidy(key).catch(() => {});
    return kept;
  } catch (error) {
    for (const path of Object.values(parts)) rmSync(path, { force: true });
    throw writeFault(error);
  }
}

function writeSynced(path: string, bytes: Uint8Array): void {
  const descriptor = openSync(path, "wx", PRIVATE_FILE);
  try {
    writeFileSync(descriptor, bytes);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The database's log, as `logSyncer` in stores/local.ts does it. */
function syncLog(path: string): void {
  try {
    flush(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

function flush(path: string): void {
  const descriptor = openSync(path, "r+");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
