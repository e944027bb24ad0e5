import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { setNewest } from "../../values.ts";
import { type RankedDefinition, rankDefinitions } from "./rank-definitions.ts";
import { type FileNames, loadNameReader, MAX_FILE_BYTES } from "./read-names.ts";

/** What a map is made of, and which files it could not be made of. */
export interface RankedFiles {
  ranked: RankedDefinition[];
  skipped: { large: number; unreadable: number; beyond: number };
}

/** A larger repository is mapped folder by folder. */
const MAX_FILES = 5000;
/** Files whose names are kept, and rankings: some 10 KB and 1 MB each. */
const MAX_KEPT_FILES = 20_000;
const MAX_KEPT_RANKINGS = 4;

const keptNames = new Map<string, { stamp: string; names: FileNames | null }>();
const keptRankings = new Map<string, RankedFiles>();

/** Ranks what files define. A file is read again only if its time or its size has changed. */
export async function rankFiles(
  files: readonly { path: string; shown: string }[],
  signal?: AbortSignal,
): Promise<RankedFiles> {
  const skipped = { large: 0, unreadable: 0, beyond: Math.max(0, files.length - MAX_FILES) };
  const hash = createHash("sha256");
  const wanted: { path: string; shown: string; stamp: string }[] = [];
  for (const { path, shown } of files.slice(0, MAX_FILES)) {
    const status = statSync(path, { throwIfNoEntry: false });
    if (status === undefined || !status.isFile()) skipped.unreadable++;
    else if (status.size > MAX_FILE_BYTES) skipped.large++;
    else wanted.push({ path, shown, stamp: `${status.mtimeMs} ${status.size}` });
  }
  for (const { path, shown, stamp } of wanted) hash.update(`${path}\0${shown}\0${stamp}\0`);
  const key = hash.update(JSON.stringify(skipped)).digest("hex");
  const known = keptRankings.get(key);
  if (known !== undefined) return known;

  const reader = await loadNameReader();
  const read: FileNames[] = [];
  for (const { path, shown, stamp } of wanted) {
    signal?.throwIfAborted();
    const kept = keptNames.get(path);
    const names = kept?.stamp === stamp ? kept.names : await reader.read(path, shown);
    setNewest(keptNames, path, { stamp, names }, MAX_KEPT_FILES);
    if (names === null) skipped.unreadable++;
    else read.push({ ...names, path: shown });
  }
  const made = { ranked: rankDefinitions(read), skipped };
  setNewest(keptRankings, key, made, MAX_KEPT_RANKINGS);
  return made;
}
