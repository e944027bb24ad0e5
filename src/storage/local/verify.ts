import { messageOf } from "../../errors.ts";
import { all, type Sql } from "../sql.ts";
import { type OpenBytes, scanAll } from "./artifact-files.ts";
import { artifactId, artifactKey } from "./artifact-key.ts";
import type { ArtifactRows } from "./artifact-rows.ts";
import type { ArtifactTable } from "./schema.ts";

/** Says what is wrong with an artifact. */
export interface Defect {
  id: string;
  scope: string;
  reason: string;
}

/** Reports what a check of every byte found. */
export interface VerifyReport {
  checked: number;
  checkedBytes: number;
  /** Artifacts whose bytes are not those that were saved. */
  damaged: Defect[];
  /** Artifacts whose bytes are gone. */
  missing: Defect[];
  /** Files that no row names, as paths inside the store's folder. `gc` removes them after a while. */
  orphaned: string[];
}

/** Where the bytes are. */
export interface VerifiedFiles {
  /** Returns null if there is no such artifact any more; `opened` is null if only its bytes are gone. */
  open(row: ArtifactTable): Promise<{ opened: Pick<OpenBytes, "bytes"> | null } | null>;
  /** Names what no row names. */
  orphans(): Promise<string[]>;
}

const PAGE = 100;

/** Reads every artifact and compares its hash. Changes nothing. */
export async function verify(
  { kysely, read }: Sql,
  rows: ArtifactRows,
  secrets: readonly Uint8Array[],
  files: VerifiedFiles,
): Promise<VerifyReport> {
  const report: VerifyReport = { checked: 0, checkedBytes: 0, damaged: [], missing: [], orphaned: [] };
  for (let after = ""; ; ) {
    const next = kysely.selectFrom("artifacts").selectAll().where("key", ">", after).orderBy("key").limit(PAGE);
    const page = await read(() => all(next));
    for (const row of page) {
      after = row.key;
      const fault = await check(row);
      // If the artifact was removed meanwhile, there is nothing to report.
      if (fault !== null && (await read(() => rows.findByKey(row.key))) === null) continue;
      report.checked += 1;
      report.checkedBytes += row.bytes;
      if (fault === null) continue;
      const { id, scope } = row;
      report[fault.isMissing ? "missing" : "damaged"].push({ id, scope, reason: fault.reason });
    }
    if (page.length < PAGE) break;
  }
  report.orphaned = await files.orphans();
  return report;

  async function check(row: ArtifactTable): Promise<{ isMissing: boolean; reason: string } | null> {
    const bad = (reason: string) => ({ isMissing: false, reason });
    if (artifactId(row.key) !== row.id) return bad("its id is not that of its key");
    if (!secrets.some((secret) => artifactKey(secret, row.scope, row.sha256) === row.key))
      return bad("its key is not that of its hash");
    try {
      const there = await files.open(row);
      if (there === null) return null;
      if (there.opened === null) return { isMissing: true, reason: "its bytes are gone" };
      const { bytes } = there.opened;
      const { sha256 } = await scanAll(bytes).finally(() => bytes.close());
      return sha256 === row.sha256 ? null : bad("its bytes are not those that were kept");
    } catch (error) {
      return bad(messageOf(error));
    }
  }
}
