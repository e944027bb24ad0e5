import { resolve } from "node:path";
import type { Access } from "../../stages/mark/access.ts";
import type { PlaceFlags } from "./open-place.ts";

/** A reader with a shell: a folder that was named for this call only, by a flag or its config, has to be named again. */
export function shellReader(
  { dir, config }: PlaceFlags,
  place: { dir: string } | null,
): Extract<Access, { by: "shell" }> {
  const named = dir ?? (config ? place?.dir : undefined);
  return named === undefined ? { by: "shell" } : { by: "shell", dir: resolve(named) };
}
