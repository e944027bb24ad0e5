import { statSync } from "node:fs";
import { SpillwayError } from "../../errors.ts";

/** Watches that what is written still goes where the next reader looks. */
export interface DatabaseHome {
  /** Throws once the file, or the log beside it, is not the one that was opened. */
  check(): void;
}

/** Begins with the file that stands at the path now: it was opened just before. */
export function watchHome(path: string): DatabaseHome {
  const file = whoIs(path);
  let log: string | null = null;
  return {
    check() {
      const logNow = whoIs(`${path}-wal`);
      log ??= logNow;
      if (file !== null && whoIs(path) === file && logNow === log) return;
      throw new SpillwayError(
        "store-unavailable",
        `database ${path} was moved, removed or replaced while it was open, so nothing is saved in it any more. Put it ` +
          "back, or start again: a new one is made where it is missing.",
      );
    },
  };
}

function whoIs(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}
