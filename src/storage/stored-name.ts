import { createHash } from "node:crypto";
import { NUMBERS } from "../stages/policy/defaults.ts";

const READABLE_CHARS = 100;
const SHORTENED = /~[0-9a-f]{64}$/;

/**
 * A session's, tool's or call's name as it is kept. Nearly all stay as they are; one that is too long, or has characters
 * that not every engine can keep (NUL, half a surrogate pair), becomes its readable start and its hash: never two names
 * one. An empty name is none.
 */
export function storedName(name: string | null | undefined): string | null {
  if (name === null || name === undefined || name === "") return null;
  const isKeepable = name.length <= NUMBERS.nameChars.default && !name.includes("\0") && name.isWellFormed();
  if (isKeepable && !SHORTENED.test(name)) return name;
  // UTF-16 keeps half pairs apart, which UTF-8 would all turn into the same character.
  const hash = createHash("sha256").update(Buffer.from(name, "utf16le")).digest("hex");
  return `${name.slice(0, READABLE_CHARS).replaceAll("\0", " ").toWellFormed()}~${hash}`;
}
