import type { Artifact } from "../contract/store.ts";
import { boundValue } from "../stages/clamp/bound-value.ts";
import type { Access, Keeping } from "../stages/mark/access.ts";
import { encodeText } from "../stages/measure/encode-text.ts";
import { type SpillPlace, startSpill } from "../stages/spill/spill.ts";

/** Under this name messages are kept. */
const TOOL = "conversation";

/** Keeps messages as one artifact, a line of JSON each, as they came. */
export async function spillMessages(
  messages: readonly unknown[],
  {
    place,
    access,
    scope,
  }: { place: SpillPlace; access: (artifact: Artifact) => Access | Promise<Access>; scope: string },
): Promise<Omit<Keeping, "redactions">> {
  const spill = startSpill(place, { scope, session: null, tool: TOOL, call: null });
  for (const message of messages) for (const bytes of encodeText(`${jsonOf(message)}\n`)) await spill.add(bytes);
  const { artifact } = await spill.end();
  if (artifact === null) return { saved: "no", savedBytes: 0, id: null, access: { by: "operator" } };
  const { id, saved, bytes } = artifact;
  return { id, saved, savedBytes: bytes, access: await access(artifact) };
}

function jsonOf(message: unknown): string {
  try {
    return JSON.stringify(message) ?? "null";
  } catch {
    return JSON.stringify(boundValue(message, Number.POSITIVE_INFINITY).value) ?? "null";
  }
}
