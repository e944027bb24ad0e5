import { statSync } from "node:fs";
import { SpillwayError } from "../../errors.ts";
import { isUnwritable } from "./database-fault.ts";

/** The error of opening a folder, in words that say whose it is where that is why; else as it came. */
export function ownerFault(error: unknown, dir: string): unknown {
  const self = process.getuid?.();
  const owner = ownerOf(dir);
  if (self === undefined || owner === undefined || owner === self || !isUnwritable(error)) return error;
  return new SpillwayError(
    "store-unavailable",
    `${dir} belongs to another user (uid ${owner}; this process has uid ${self}), and a store is for its owner alone. ` +
      "Run as that user, or choose a folder of your own with --dir or SPILLWAY_DIR.",
    { cause: error },
  );
}

/** Undefined where it cannot be seen. */
function ownerOf(dir: string): number | undefined {
  try {
    return statSync(dir, { throwIfNoEntry: false })?.uid;
  } catch {
    return undefined;
  }
}
