import { createHash } from "node:crypto";

const READABLE_CHARS = 48;
const HASH_CHARS = 16;
const PLAIN = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const LOOKS_HASHED = /-[0-9a-f]{16}$/;
const HAS_ODD_DOTS = /\.\.|\.$/;
// Windows takes these as devices, whatever follows the first dot.
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/;

/**
 * A file name for a session or a tool, whatever it is called: readable, never a path, and never the same for two names,
 * also where the file system does not tell capitals from small letters.
 */
export function safeFileName(name: string): string {
  if (PLAIN.test(name) && !LOOKS_HASHED.test(name) && !HAS_ODD_DOTS.test(name) && !DEVICE.test(name)) return name;
  const hash = createHash("sha256").update(Buffer.from(name, "utf16le")).digest("hex").slice(0, HASH_CHARS);
  const readable = name
    .slice(0, READABLE_CHARS)
    .replaceAll(/[^A-Za-z0-9._-]+/g, "_")
    .replaceAll(/\.{2,}/g, ".")
    .replace(/^[._-]+/, "");
  return `${readable || "x"}-${hash}`;
}
