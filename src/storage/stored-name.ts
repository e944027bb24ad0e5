import { createHash } from "node:crypto";
import { NUMBERS } from "../stages/policy/defaults.ts";

const READABLE_CHARS = 100;
const SHORTENED = /~[0-9a-f]{64}$/;

/**
 * Returns the form in which the name of a session, a tool or a call is stored. Most names stay as they are. A name that
 * is too long, or that has characters which not every engine can store (NUL, half a surrogate pair), becomes its
 * readable start and its hash. So two names never become the same. For an empty name it returns null.
 */
export function storedName(name: string | null | undefined): string | null {
  if (name === null || name === undefined || name === "") return null;
  const isKeepable = name.length <= NUMBERS.nameChars.default && !name.includes("\0") && name.isWellFormed();
  if (isKeepable && !SHORTENED.test(name)) return name;
  // UTF-16 tells half pairs apart. UTF-8 would turn all of them into the same character.
  const hash = createHash("sha256").update(Buffer.from(name, "utf16le")).digest("hex");
  return `${name.slice(0, READABLE_CHARS).replaceAll("\0", " ").toWellFormed()}~${hash}`;
}

/** Returns the form in which a command or a folder is stored: its start, without what not every engine can store. */
export function storedText(text: string | null | undefined): string | null {
  if (text === null || text === undefined || text === "") return null;
  return text.slice(0, NUMBERS.aboutChars.default).replaceAll("\0", " ").toWellFormed();
}
