import { resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import type { UserOptions } from "../../config/index.ts";
import type { ByteRange, Retention, Store } from "../../contract/store.ts";
import { badInput, nearestName, SpillwayError } from "../../errors.ts";
import type { Access } from "../../stages/mark/access.ts";
import { definedOnly } from "../../stages/policy/check-row.ts";
import type { Local, OpenLocalOptions, ReadableLocal } from "../../storage/local/open-local.ts";
import type { Command } from "./command.ts";
import { tell } from "./tell.ts";

/** Whose things they are if nothing is said. */
export const LOCAL_SCOPE = "local";

/** The flags that name the folder, or what stands in for it, and whose part of it. */
export interface PlaceFlags {
  dir?: string;
  ledger?: string;
  store?: string;
  /** Whose artifacts and events. */
  scope?: string;
  /** The config file to read instead of the user's own, if the command has that flag. */
  config?: string | false;
}

/** The open folder, and the other options of the user's own config for `createSpillway`. Flags win over them. */
export interface Place extends Local {
  /** Whose artifacts and events: those of this machine's user, if nothing else is said. */
  scope: string;
  options: Omit<UserOptions, "dir" | "ledger" | "store" | "retention">;
  /** What that config lets stay in the folder. */
  retention: Retention | "off";
}

/** The same for a command that only reads. */
export interface ReadPlace extends ReadableLocal {
  scope: string;
  options: Place["options"];
}

/** Adds it to a command. */
export function addPlaceFlag(command: Command): Command {
  return command
    .option(
      "--dir <folder>",
      "where artifacts and events are kept (default: SPILLWAY_DIR, your config, or your data folder)",
      notEmpty("--dir takes a folder"),
    )
    .option(
      "--ledger <address>",
      "a PostgreSQL database for events instead (default: SPILLWAY_LEDGER or your config). Put a password into the variable: other users can see flags",
    )
    .option(
      "--store <address>",
      "a bucket for saved outputs instead, as s3://bucket/prefix?endpoint=https://host (default: SPILLWAY_STORE or your config)",
    )
    .option(
      "--scope <name>",
      "whose artifacts and events: no other scope's are seen (default: SPILLWAY_SCOPE or local)",
      notEmpty("--scope takes a name"),
    );
}

/** Refuses an empty name at once: an unset variable must not lead to another place than the one that was meant. */
function notEmpty(takes: string): (name: string) => string {
  return (name) => {
    if (name !== "") return name;
    throw new InvalidArgumentError(`${takes}: what was given is empty, perhaps a variable that is not set.`);
  };
}

/** Opens the folder. If it does not exist, it is made. */
export async function openPlace(flags: PlaceFlags, options: OpenLocalOptions = {}): Promise<Place> {
  return openNamed(await nameFolder(flags), options);
}

/** A place for a server that has to answer though its disk is full. */
export type ServedPlace = Pick<Place, "ledger" | "ledgerOf" | "spool" | "scope" | "close"> & {
  dir: string | undefined;
  store: Store;
};

/** Opens the folder. If its disk is full, says so and goes on without it; each use tries to open it again. */
export async function servePlace(flags: PlaceFlags): Promise<ServedPlace> {
  const named = await nameFolder(flags);
  const open = () => openNamed(named, { collects: true, tell });
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof SpillwayError) || error.code !== "store-full") throw error;
    tell(`requests pass, but nothing is saved or recorded until there is room: ${error.message}`);
    const { openLater } = await import("../../storage/local/open-local.ts");
    return { ...openLater(open), scope: named.scope ?? LOCAL_SCOPE, dir: named.dir };
  }
}

/** Finds the folder and the other options. `warn` prints what was ignored, if no other code does. */
async function nameFolder(
  { dir, ledger, store, scope, config }: PlaceFlags,
  warn: typeof tell = () => {},
): Promise<UserOptions> {
  if (dir !== undefined && /[\p{Cc}\p{Zl}\p{Zp}]/u.test(dir)) {
    throw badInput(`--dir must be a path without line breaks and the like; got ${JSON.stringify(dir)}`);
  }
  const userOptions = await loadUserOptions(config, warn);
  const { SPILLWAY_LEDGER, SPILLWAY_STORE } = process.env;
  const [namedLedger, namedStore] = [ledger ?? SPILLWAY_LEDGER, store ?? SPILLWAY_STORE];
  const named = definedOnly({ dir, scope, ledger: namedLedger || undefined, store: namedStore || undefined });
  return { ...userOptions, ...named };
}

async function openNamed(
  { dir, ledger, store, retention, ...options }: UserOptions,
  how: OpenLocalOptions,
): Promise<Place> {
  const { openLocal } = await import("../../storage/local/open-local.ts");
  const { scope } = options;
  const local = await openLocal(dir, { retention, ledger, store, scope, ...how });
  return { ...local, scope: scope ?? LOCAL_SCOPE, options, retention: retention ?? {} };
}

/** The options of the user's own config. A project's file may not set them and is not read. */
async function loadUserOptions(config: PlaceFlags["config"], warn: typeof tell): Promise<UserOptions> {
  const { loadConfig } = await import("../../config/index.ts");
  const { options, warnings } = await loadConfig({ ownOnly: true, lenient: true, ...(config && { file: config }) });
  warnings.forEach(warn);
  const { policy: _policy, ...userOptions } = options;
  return userOptions;
}

/** Opens the folder, calls the function and closes it. If a flag names the folder, it must exist. */
export async function withPlace<T>(flags: PlaceFlags, act: (place: Place) => Promise<T>): Promise<T> {
  const named = await nameFolder(flags, tell);
  await hasKept(flags, named);
  return closing(await openNamed(named, {}), act);
}

/** Opens the folder to wait for new events. If the usual folder does not exist yet, it is made; otherwise it is only read. */
export async function followPlace<T>(flags: PlaceFlags, act: (place: ReadPlace) => Promise<T>): Promise<T> {
  const named = await nameFolder(flags, tell);
  const readsOnly = await hasKept(flags, named);
  return closing(await openNamed(named, { readsOnly }), act);
}

/** Opens the folder for reading and makes nothing. If the usual folder does not exist yet, it is read as an empty one. */
export async function readPlace<T>(flags: PlaceFlags, act: (place: ReadPlace) => Promise<T>): Promise<T> {
  const named = await nameFolder(flags, tell);
  return readNamed(named, await hasKept(flags, named), act);
}

/** The same for a command that makes the folder when it does more than look: any that is not there yet is an empty one. */
export async function lookPlace<T>(flags: PlaceFlags, act: (place: ReadPlace) => Promise<T>): Promise<T> {
  const { hasStore } = await import("../../storage/local/data-folder.ts");
  const named = await nameFolder(flags);
  return readNamed(named, named.ledger !== undefined || hasStore(named.dir), act);
}

async function readNamed<T>(named: UserOptions, isThere: boolean, act: (place: ReadPlace) => Promise<T>): Promise<T> {
  if (isThere) return closing(await openNamed(named, { readsOnly: true }), act);
  const { emptyLocal } = await import("../../storage/local/open-local.ts");
  const { dir, ledger: _ledger, store: _store, retention: _retention, ...options } = named;
  return act({ ...emptyLocal(dir), scope: options.scope ?? LOCAL_SCOPE, options });
}

/** Returns true if the folder has a store. Throws if --dir names a folder that has none. */
async function hasKept(flags: PlaceFlags, { dir, ledger }: UserOptions): Promise<boolean> {
  if (ledger !== undefined) return true;
  const { hasStore } = await import("../../storage/local/data-folder.ts");
  if (hasStore(dir)) return true;
  if (flags.dir === undefined) return false;
  throw badInput(`there is no store in ${dir}: nothing was ever saved there. Check what --dir says, or leave it out`);
}

async function closing<P extends ReadPlace, T>(place: P, act: (place: P) => Promise<T>): Promise<T> {
  try {
    return await act(place);
  } finally {
    await place.close();
  }
}

/** Stands for the id of the output that was saved last. No id is so short. */
export const LAST = "last";

/** Names what was looked through: the folder, and the scope if it is not the usual one. */
export function placeText({ dir, scope }: Pick<ReadPlace, "dir" | "scope">): string {
  return scope === LOCAL_SCOPE ? dir : `scope ${scope} of ${dir}`;
}

/** The error for an artifact that is not there. */
export function unknownArtifact(message: string): SpillwayError {
  return new SpillwayError("unknown-artifact", message);
}

/** Finds the whole id for what a person typed: an id, its first 6 characters or more, or `last`. */
export async function resolveId(place: Pick<ReadPlace, "store" | "dir" | "scope">, typed: string): Promise<string> {
  const { store, scope } = place;
  const wanted = typed.trim().toLowerCase();
  if (wanted === LAST) {
    const [newest] = await store.list({ scope, max: 1 });
    if (newest !== undefined) return newest.id;
    throw unknownArtifact(`nothing is saved in ${placeText(place)} yet, so there is no last output`);
  }
  const found = await store.resolvePrefix(wanted, scope);
  const [id] = found;
  if (id !== undefined && (found.length === 1 || found.includes(wanted))) return found.length === 1 ? id : wanted;
  const name = JSON.stringify(typed.slice(0, 40));
  if (id !== undefined) {
    throw badInput(`${name} begins several ids: ${found.join(", ")}; type more of it`);
  }
  if (!/^[a-z2-7]{6,12}$/.test(wanted)) {
    const meant = nearestName(wanted, [LAST]) === undefined ? "" : `. Did you mean ${LAST}?`;
    throw badInput(
      `${name} is no artifact's id: ids have 12 letters a-z and digits 2-7, of which the first 6 are enough${meant}`,
    );
  }
  const where = "it was removed, or is in another --dir or --scope";
  throw unknownArtifact(
    `there is no artifact ${name} in ${placeText(place)}: ${where}; "spillway ls" lists what there is`,
  );
}

const CHUNK_BYTES = 1024 * 1024;

/** Reads a range of an artifact's bytes. */
export async function* readArtifact(
  { store, scope }: { store: Pick<Store, "read">; scope: string },
  id: string,
  { from, to }: ByteRange,
): AsyncGenerator<Uint8Array> {
  for (let at = from; at < to; ) {
    const chunk = await store.read(id, scope, { from: at, to: Math.min(at + CHUNK_BYTES, to) });
    if (chunk === null || chunk.length === 0) {
      throw unknownArtifact(`artifact ${id} was removed while it was read`);
    }
    yield chunk;
    at += chunk.length;
  }
}

/** A reader with a shell. What flags or their config named for this call only, the reader has to name again. */
export function shellReader(
  { dir, config, scope }: PlaceFlags,
  place: { dir: string | undefined } | null,
): Extract<Access, { by: "shell" }> {
  const named = dir ?? (config ? place?.dir : undefined);
  return { by: "shell", ...definedOnly({ dir: named && resolve(named), scope }) };
}
