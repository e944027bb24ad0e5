import { createHmac, randomBytes } from "node:crypto";
import { link, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { SpillwayError } from "../../errors.ts";
import { openNoFollow, readAt } from "./plain-file.ts";
import { ignoreExisting, PRIVATE_FILE, type StoreFolders, syncFolder } from "./store-folders.ts";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const ID_CHARS = 12;

/**
 * Returns the name of an artifact's bytes in a scope, in hex. Without the secret nobody can compute it, or see that two
 * scopes hold the same bytes.
 */
export function artifactKey(secret: Uint8Array, scope: string, sha256: string): string {
  return createHmac("sha256", secret).update(`${scope}\0${sha256}`).digest("hex");
}

/** Returns the id that readers get: the key's first 60 bits in base32. */
export function artifactId(key: string): string {
  let bits = BigInt(`0x${key.slice(0, 15)}`);
  let id = "";
  for (let at = 0; at < ID_CHARS; at += 1) {
    id = ALPHABET.charAt(Number(bits & 31n)) + id;
    bits >>= 5n;
  }
  return id;
}

/** Returns the first 15 hex digits of the key from which an id was made. */
export function keyStart(id: string): string {
  let bits = 0n;
  for (const char of id) bits = (bits << 5n) | BigInt(ALPHABET.indexOf(char));
  return bits.toString(16).padStart(15, "0");
}

/**
 * Returns true for a well-formed id. Ids come from models and networks, so no other value may reach a path or a query.
 */
export function isArtifactId(value: unknown): value is string {
  return typeof value === "string" && /^[a-z2-7]{12}$/.test(value);
}

/** Returns true for the start of an id. Only a person at the local command line may give one. */
export function isIdPrefix(value: unknown): value is string {
  return typeof value === "string" && /^[a-z2-7]{6,12}$/.test(value);
}

/** Its name in the store's folder. */
export const SECRET_FILE = "secret";
/** The length of a store's secret. */
export const SECRET_BYTES = 32;
/** Reads only the first bytes of a file that is not a secret. */
const MAX_SECRET_BYTES = 1024;

/**
 * Reads the store's secret, and makes it on first use. If two processes make the secret at the same time, both use the
 * one that was written first.
 */
export async function readSecret(
  folders: StoreFolders,
  newSecret: () => Promise<Uint8Array> = async () => randomBytes(SECRET_BYTES),
): Promise<Uint8Array> {
  const path = join(folders.dir, SECRET_FILE);
  const found = (await readExisting(path)) ?? (await makeSecret(path, folders, await newSecret()));
  if (found.length !== SECRET_BYTES) {
    throw new SpillwayError(
      "store-damaged",
      `${path} should hold ${SECRET_BYTES} bytes and holds ${found.length}. Restore it from a backup, or remove it: ` +
        "what is stored stays readable, but the same bytes kept again get a new id.",
    );
  }
  return found;
}

async function readExisting(path: string): Promise<Uint8Array | null> {
  const handle = await openNoFollow(path);
  if (handle === null) return null;
  try {
    const { size } = await handle.stat();
    return await readAt(handle, path, 0, Math.min(size, MAX_SECRET_BYTES));
  } finally {
    await handle.close();
  }
}

/** Writes the secret to another name and links it, so that nobody ever reads half a secret. */
async function makeSecret(path: string, folders: StoreFolders, secret: Uint8Array): Promise<Uint8Array> {
  const part = join(folders.spool, `${randomBytes(12).toString("hex")}.part`);
  try {
    const handle = await open(part, "wx", PRIVATE_FILE);
    try {
      await handle.writeFile(secret);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await link(part, path).catch(ignoreExisting);
    syncFolder(folders.dir);
  } catch (error) {
    throw new SpillwayError("store-unavailable", `${path} cannot be made: ${String(error)}`, { cause: error });
  } finally {
    await unlink(part).catch(() => {});
  }
  return (await readExisting(path)) ?? new Uint8Array();
}
