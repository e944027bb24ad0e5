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
/** Files whose names are kept: some 10 KB each. */
const MAX_KEPT_FILES = 20_000;

const keptNames = new Map<string, { stamp: string; names: FileNames | null }>();

/** Ranks what files define. A file is read again only if its time or its size has changed. */
export async function rankFiles(
  files: readonly { path: string; shown: string }[],
  signal?: AbortSignal,
): Promise<RankedFiles> {
  const skipped = { large: 0, unreadable: 0, beyond: Math.max(0, files.length - MAX_FILES) };
  const wanted: { path: string; shown: string; stamp: string }[] = [];
  for (const { path, shown } of files.slice(0, MAX_FILES)) {
    const status = statSync(path, { throwIfNoEntry: false });
    if (status === undefined || !status.isFile()) skipped.unreadable++;
    else if (status.size > MAX_FILE_BYTES) skipped.large++;
    else wanted.push({ path, shown, stamp: `${status.mtimeMs} ${status.size}` });
  }
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
  return { ranked: rankDefinitions(read), skipped };
}
