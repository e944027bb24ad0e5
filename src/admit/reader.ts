import type { Artifact } from "../contract/store.ts";
import { badInput } from "../errors.ts";
import type { Access } from "../stages/mark/access.ts";
import { tried } from "../values.ts";

/** How the reader of a marker gets at the rest. "file": a plain copy is made for it in the run directory. */
export type Reader = Exclude<Access, { by: "file" }> | { by: "file" };

/** What names an artifact to a reader. */
export type Named = Pick<Artifact, "id" | "session" | "tool">;

const READERS: readonly Reader["by"][] = ["operator", "tool", "shell", "file"];

/** Throws if nobody could read by it. */
export function checkReader(reader: unknown, name: string): void {
  const { by, recall, search, dir } = (typeof reader === "object" && reader !== null ? reader : {}) as {
    [name: string]: unknown;
  };
  if (!READERS.includes(by as Reader["by"])) {
    throw badInput(`${name}.by must be one of ${READERS.map((each) => `"${each}"`).join(", ")}; got ${shown(by)}`);
  }
  if (by === "tool" && (typeof recall !== "string" || typeof search !== "string")) {
    throw badInput(`${name}: { by: "tool" } needs recall and search, the names of those tools`);
  }
  if (by === "shell" && dir !== undefined && typeof dir !== "string") {
    throw badInput(`${name}.dir must be a folder's path; got ${shown(dir)}`);
  }
}

/** A value as an error names it. */
export function shown(value: unknown): string {
  return tried(() => JSON.stringify(value) ?? String(value)) ?? typeof value;
}
