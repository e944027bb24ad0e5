import { createHmac, randomBytes } from "node:crypto";
import { link, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { SpillwayError } from "../../errors.ts";
import { openNoFollow, readAt } from "./plain-file.ts";
import { codeOf, PRIVATE_FILE, type StoreFolders, syncFolder } from "./store-folders.ts";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const ID_CHARS = 12;

/** The name of an artifact's bytes in a scope, in hex. Nobody without the secret can name it or tie two scopes. */
export function artifactKey(secret: Uint8Array, scope: string, sha256: string): string {
  return createHmac("sha256", secret).update(`${scope}\0${sha256}`).digest("hex");
}

/** What readers are given: the key's first 60 bits in base32. */
export function artifactId(key: string): string {
  let bits = BigInt(`0x${key.slice(0, 15)}`);
  let id = "";
  for (let at = 0; at < ID_CHARS; at += 1) {
    id = ALPHABET.charAt(Number(bits & 31n)) + id;
    bits >>= 5n;
  }
  return id;
}

/** The first 15 hex digits of the key that an id was made of. */
export function keyStart(id: string): string {
  let bits = 0n;
  for (const char of id) bits = (bits << 5n) | BigInt(ALPHABET.indexOf(char));
  return bits.toString(16).padStart(15, "0");
}

/** Ids come from models and networks: nothing else ever reaches a path or a query. */
export function isArtifactId(value: unknown): value is string {
  return typeof value === "string" && /^[a-z2-7]{12}$/.test(value);
}

/** The start of an id as a person types it, on the local command line only. */
export function isIdPrefix(value: unknown): value is string {
  return typeof value === "string" && /^[a-z2-7]{6,12}$/.test(value);
}

const SECRET_BYTES = 32;
/** Of a file that is none, no more is read than it takes to say so. */
const MAX_SECRET_BYTES = 1024;

/** The store's secret, made on first use. Of two processes that make it at once, both get the first one's. */
export async function readSecret(folders: StoreFolders): Promise<Uint8Array> {
  const path = join(folders.dir, "secret");
  const found = (await readExisting(path)) ?? (await makeSecret(path, folders));
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

/** Written whole under another name first: nobody ever reads half a secret. */
async function makeSecret(path: string, folders: StoreFolders): Promise<Uint8Array> {
  const part = join(folders.spool, `${randomBytes(12).toString("hex")}.part`);
  try {
    const handle = await open(part, "wx", PRIVATE_FILE);
    try {
      await handle.writeFile(randomBytes(SECRET_BYTES));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await link(part, path).catch((error: unknown) => {
      if (codeOf(error) !== "EEXIST") throw error;
    });
    syncFolder(folders.dir);
  } catch (error) {
    throw new SpillwayError("store-unavailable", `${path} cannot be made: ${String(error)}`, { cause: error });
  } finally {
    await unlink(part).catch(() => {});
  }
  return (await readExisting(path)) ?? new Uint8Array();
}
