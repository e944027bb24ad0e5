import type { Artifact } from "../contract/store.ts";
import type { Access } from "../stages/mark/access.ts";
import { NOT_KEPT } from "./admission.ts";
import type { OwnText } from "./own-texts.ts";

/** What to remember of a text whose whole became this artifact. */
export async function ownText(
  artifact: Artifact | null,
  access: (artifact: Artifact) => Access | Promise<Access>,
  exitCode: number | null,
): Promise<OwnText> {
  return ownTextNow(artifact, artifact === null ? NOT_KEPT.access : await access(artifact), exitCode);
}

/** The same where the way to it is known. */
export function ownTextNow(artifact: Artifact | null, access: Access, exitCode: number | null): OwnText {
  if (artifact === null) return { keeping: NOT_KEPT, sha256: null, exitCode };
  const { id, bytes, saved, sha256, redactions } = artifact;
  return { keeping: { saved, savedBytes: bytes, id, access, redactions }, sha256, exitCode };
}
