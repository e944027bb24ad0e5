import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import type { KeepingOptions } from "../../config/index.ts";
import type { Retention } from "../../contract/store.ts";
import { SpillwayError } from "../../errors.ts";
import type { Access } from "../../stages/mark/access.ts";
import type { Local, OpenLocalOptions, ReadableLocal } from "../../storage/local/open-local.ts";
import { tell } from "./tell.ts";

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

/** The same for a command that only reads. */
export interface ReadPlace extends ReadableLocal {
  options: Place["options"];
}

/** Adds it to a command. */
export function addPlaceFlag(command: Command): Command {
  return command.option(
    "--dir <folder>",
    "where artifacts and events are kept (default: SPILLWAY_DIR, your config, or your data folder)",
    readFolder,
  );
}

/** An empty variable must not lead to another folder than the one that was meant, so it is refused as it is read. */
function readFolder(dir: string): string {
  if (dir !== "") return dir;
  throw new InvalidArgumentError("--dir takes a folder: what was given is empty, perhaps a variable that is not set.");
}

/** Opens the folder, and makes it where it is missing. */
export async function openPlace(flags: PlaceFlags, options: { collects?: boolean } = {}): Promise<Place> {
  return openNamed(await nameFolder(flags), options);
}

/** The folder that is meant, and what else is said of keeping. `warn` where nobody else tells what was ignored. */
async function nameFolder({ dir, config }: PlaceFlags, warn: typeof tell = () => {}): Promise<KeepingOptions> {
  if (dir !== undefined && /[\p{Cc}\p{Zl}\p{Zp}]/u.test(dir)) {
    throw new SpillwayError(
      "bad-input",
      `--dir must be a path without line breaks and the like; got ${JSON.stringify(dir)}`,
    );
  }
  const keeping = await loadKeeping(config, warn);
  return dir === undefined ? keeping : { ...keeping, dir };
}

async function openNamed({ dir, retention, ...options }: KeepingOptions, how: OpenLocalOptions): Promise<Place> {
  const { openLocal } = await import("../../storage/local/open-local.ts");
  return { ...(await openLocal(dir, { ...how, retention })), options, retention: retention ?? {} };
}

/** What the user's own config says of keeping. A project's file has no say in it and is not read. */
async function loadKeeping(config: PlaceFlags["config"], warn: typeof tell): Promise<KeepingOptions> {
  const { loadConfig } = await import("../../config/index.ts");
  const { options, warnings } = await loadConfig({ ownOnly: true, ...(config && { file: config }) });
  warnings.forEach(warn);
  const { policy: _policy, ...keeping } = options;
  return keeping;
}

/** Does something with what is kept in the folder, and closes it. A folder that is named by a flag must be there. */
export async function withPlace<T>(flags: PlaceFlags, act: (place: Place) => Promise<T>): Promise<T> {
  const named = await nameFolder(flags, tell);
  await hasKept(flags, named);
  return closing(await openNamed(named, {}), act);
}

/** For what is still to come: a usual folder that is not there yet is made, and one that is there only read. */
export async function followPlace<T>(flags: PlaceFlags, act: (place: ReadPlace) => Promise<T>): Promise<T> {
  const named = await nameFolder(flags, tell);
  const readsOnly = await hasKept(flags, named);
  return closing(await openNamed(named, { readsOnly }), act);
}

/** Does something with what is kept in the folder and makes nothing: a usual folder that is not there yet is read as an empty one. */
export async function readPlace<T>(flags: PlaceFlags, act: (place: ReadPlace) => Promise<T>): Promise<T> {
  const named = await nameFolder(flags, tell);
  return readNamed(named, await hasKept(flags, named), act);
}

/** The same for a command that makes the folder when it does more than look: any that is not there yet is an empty one. */
export async function lookPlace<T>(flags: PlaceFlags, act: (place: ReadPlace) => Promise<T>): Promise<T> {
  const { hasStore } = await import("../../storage/local/data-folder.ts");
  const named = await nameFolder(flags);
  return readNamed(named, hasStore(named.dir), act);
}

async function readNamed<T>(
  named: KeepingOptions,
  isThere: boolean,
  act: (place: ReadPlace) => Promise<T>,
): Promise<T> {
  if (isThere) return closing(await openNamed(named, { readsOnly: true }), act);
  const { emptyLocal } = await import("../../storage/local/open-local.ts");
  const { dir, retention: _retention, ...options } = named;
  return act({ ...emptyLocal(dir), options });
}

/** Whether there is something to act on. A folder that somebody names and that holds nothing is a mistake. */
async function hasKept(flags: PlaceFlags, { dir }: KeepingOptions): Promise<boolean> {
  const { hasStore } = await import("../../storage/local/data-folder.ts");
  if (hasStore(dir)) return true;
  if (flags.dir === undefined) return false;
  throw new SpillwayError(
    "bad-input",
    `there is no store in ${dir}: nothing was ever saved there. Check what --dir says, or leave it out`,
  );
}

async function closing<P extends ReadPlace, T>(place: P, act: (place: P) => Promise<T>): Promise<T> {
  try {
    return await act(place);
  } finally {
    await place.close();
  }
}

/** The whole id of what a person typed: an id, or its first 6 characters or more. */
export async function resolveId({ store, dir }: ReadableLocal, typed: string): Promise<string> {
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

/** A reader with a shell: a folder that was named for this call only, by a flag or its config, has to be named again. */
export function shellReader(
  { dir, config }: PlaceFlags,
  place: { dir: string } | null,
): Extract<Access, { by: "shell" }> {
  const named = dir ?? (config ? place?.dir : undefined);
  return named === undefined ? { by: "shell" } : { by: "shell", dir: resolve(named) };
}
