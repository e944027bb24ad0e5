import type { Artifact, ArtifactAbout } from "../../contract/store.ts";
import { storedName } from "../stored-name.ts";
import type { ArtifactFiles, FileKind } from "./artifact-files.ts";
import { artifactId, artifactKey } from "./artifact-key.ts";
import { type ArtifactRows, toArtifact } from "./artifact-rows.ts";

/** Where an artifact is saved. */
export interface SavePlace {
  secret: Uint8Array;
  rows: ArtifactRows;
  files: ArtifactFiles;
  now: () => number;
}

/** What is known of its bytes. */
export type Facts = Pick<Artifact, "bytes" | "lines" | "sha256" | "saved">;

/** Saves an artifact whose bytes are at hand (`data`) or in spooled files (`parts`), in one transaction. */
export function saveArtifact(
  { rows, files, secret, now }: SavePlace,
  about: ArtifactAbout,
  facts: Facts,
  redactions: Artifact["redactions"],
  data: Uint8Array | null,
  parts: Partial<Record<FileKind, string>>,
): Artifact {
  const scope = storedName(about.scope) ?? "";
  const key = artifactKey(secret, scope, facts.sha256);
  let isPlaced = false;
  const row = rows.save(
    {
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
    },
    now(),
    data,
    () => {
      // The transaction may be tried again after the files were moved.
      if (data === null && !isPlaced) files.place(key, parts);
      isPlaced = true;
    },
  );
  // The same bytes may have been there in another form.
  if (row.form === "plain") files.tidy(key);
  return { ...toArtifact(row), saved: facts.saved };
}
