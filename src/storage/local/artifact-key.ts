import { createHmac } from "node:crypto";

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
