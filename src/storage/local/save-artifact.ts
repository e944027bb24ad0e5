import type { Artifact, ArtifactAbout } from "../../contract/store.ts";
import { storedName } from "../stored-name.ts";
import type { ArtifactFiles, FileKind } from "./artifact-files.ts";
import { artifactId, artifactKey } from "./artifact-key.ts";
import { type ArtifactRows, type NewRow, toArtifact } from "./artifact-rows.ts";
import type { ArtifactTable } from "./schema.ts";

/** Where an artifact is saved. */
export interface SavePlace {
  secret: Uint8Array;
  rows: ArtifactRows;
  files: ArtifactFiles;
  now: () => number;
}

/** What is known of its bytes. */
export type Facts = Pick<Artifact, "bytes" | "lines" | "sha256" | "saved">;

/** How an artifact is saved. */
export interface ArtifactSave {
  /** To be done in one transaction. */
  act: () => ArtifactTable;
  /** What was saved, once it is. */
  kept: (row: ArtifactTable) => Artifact;
  /** Then: the same bytes were there in another form, whose file may go. */
  tidyKey: () => string | null;
}

/** Prepares saving an artifact whose bytes are at hand (`data`) or in spooled files (`parts`). */
export function artifactSave(
  { rows, files, secret, now }: SavePlace,
  about: ArtifactAbout,
  facts: Facts,
  redactions: Artifact["redactions"],
  data: Uint8Array | null,
  parts: Partial<Record<FileKind, string>>,
): ArtifactSave {
  const scope = storedName(about.scope) ?? "";
  const key = artifactKey(secret, scope, facts.sha256);
  let isPlaced = false;
  let had = "plain";
  const row: NewRow = {
    ...facts,
    key,
    id: artifactId(key),
    scope,
    session: storedName(about.session),
    tool: storedName(about.tool) ?? "",
    call: storedName(about.call),
    redaction_count: redactions.count,
    redaction_bytes: redactions.bytes,
    form: data === null ? "plain" : "row",
  };
  return {
    act() {
      had = rows.findByKey(key)?.form ?? "plain";
      return rows.save(row, now(), data, () => {
        // The transaction may be tried again after the files were moved.
        if (data === null && !isPlaced) files.place(key, parts);
        isPlaced = true;
      });
    },
    kept: (saved) => ({ ...toArtifact(saved), saved: facts.saved }),
    tidyKey: () => (row.form === "plain" && had !== "plain" ? key : null),
  };
}
