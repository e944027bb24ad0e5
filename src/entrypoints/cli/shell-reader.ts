import { resolve } from "node:path";
import type { Access } from "../../stages/mark/access.ts";
import type { PlaceFlags } from "./open-place.ts";

/** A reader with a shell: a folder that was named for this call only has to be named for the next one, too. */
export function shellReader({ dir }: PlaceFlags): Extract<Access, { by: "shell" }> {
  return dir === undefined ? { by: "shell" } : { by: "shell", dir: resolve(dir) };
}
