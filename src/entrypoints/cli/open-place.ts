import type { Command } from "commander";
import type { KeepingOptions } from "../../config/index.ts";
import type { Retention } from "../../contract/store.ts";
import { SpillwayError } from "../../errors.ts";
import type { Local } from "../../storage/local/open-local.ts";

/** Whose artifacts the command line reads: those of this machine's user. */
export const SCOPE = "local";

/** The flag that names the folder. */
export interface PlaceFlags {
  dir?: string;
  /** The config file to read instead of the user's own, where a command has that flag. */
  config?: string | false;
}

/** The folder, and what else the user's own config says of keeping: options for `createSpillway`, weaker than flags. */
export interface Place extends Local {
  options: Omit<KeepingOptions, "dir" | "retention">;
  /** What may stay in it, by that config. */
  retention: Retention | "off";
}

/** Adds it to a command. */
export function addPlaceFlag(command: Command): Command {
  return command.option(
    "--dir <folder>",
    "where artifacts and events are kept (default: SPILLWAY_DIR, your config, or your data folder)",
  );
}

/** Opens the folder. */
export async function openPlace(
  { dir, config }: PlaceFlags,
  { collects = false, readsOnly = false }: { collects?: boolean; readsOnly?: boolean } = {},
): Promise<Place> {
  if (dir !== undefined && /[\p{Cc}\p{Zl}\p{Zp}]/u.test(dir)) {
    throw new SpillwayError(
      "bad-input",
      `--dir must be a path without line breaks and the like; got ${JSON.stringify(dir)}`,
    );
  }
  const [{ dir: configured, retention, ...options }, { openLocal }] = await Promise.all([
    loadKeeping(config),
    import("../../storage/local/open-local.ts"),
  ]);
  const local = await openLocal(dir ?? configured, { retention, collects, readsOnly });
  return { ...local, options, retention: retention ?? {} };
}

/** What the user's own config says of keeping. A project's file has no say in it and is not read. */
async function loadKeeping(config: PlaceFlags["config"]): Promise<KeepingOptions> {
  const { loadConfig } = await import("../../config/index.ts");
  const { policy: _policy, ...keeping } = (await loadConfig({ ownOnly: true, ...(config && { file: config }) }))
    .options;
  return keeping;
}

/** Does something with the folder, and closes it. */
export async function withPlace<T>(
  flags: PlaceFlags,
  act: (place: Place) => Promise<T>,
  options: { readsOnly?: boolean } = {},
): Promise<T> {
  const place = await openPlace(flags, options);
  try {
    return await act(place);
  } finally {
    await place.close();
  }
}

/** The whole id of what a person typed: an id, or its first 6 characters or more. */
export async function resolveId({ store, dir }: Local, typed: string): Promise<string> {
  const wanted = typed.trim().toLowerCase();
  const found = await store.resolvePrefix(wanted, SCOPE);
  const [id] = found;
  if (id !== undefined && (found.length === 1 || found.includes(wanted))) return found.length === 1 ? id : wanted;
  const name = JSON.stringify(typed.slice(0, 40));
  if (id !== undefined) {
    throw new SpillwayError("bad-input", `${name} begins several ids: ${found.join(", ")}; type more of it`);
  }
  if (!/^[a-z2-7]{6,12}$/.test(wanted)) {
    throw new SpillwayError(
      "bad-input",
      `${name} is no artifact's id: those have 12 letters a-z and digits 2-7, and 6 of them may do`,
    );
  }
  throw new SpillwayError(
    "unknown-artifact",
    `there is no artifact ${name} in ${dir}: it was removed or is kept elsewhere; "spillway ls" lists what there is`,
  );
}
