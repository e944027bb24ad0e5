import { randomBytes } from "node:crypto";
import { isRecord } from "../../../values.ts";
import { isBlank, lookAtLine, readLines } from "./read-lines.ts";
import type { Snapshot } from "./rewrite-file.ts";

/** A line of a pi or OpenClaw session. */
export interface Entry {
  type: string;
  id: string;
  parentId: string | null;
  timestamp?: unknown;
  message?: unknown;
  [field: string]: unknown;
}

/** Returns true if this is the first line of a session, which has an id but is not part of the tree. */
export function isHeader(value: unknown): boolean {
  return isRecord(value) && value.type === "session" && typeof value.id === "string";
}

/** Returns true if a line is part of the tree. */
export function isEntry(value: unknown): value is Entry {
  if (!isRecord(value) || typeof value.type !== "string" || value.type === "session") return false;
  return typeof value.id === "string" && (value.parentId === null || typeof value.parentId === "string");
}

/** Returns true if this is a line of the oldest sessions, which are plain lists. */
export function isPlainEntry(value: unknown): value is { message: unknown; timestamp?: unknown } {
  return isRecord(value) && value.type === "message" && isRecord(value.message) && !isEntry(value);
}

/** What one pass over all lines of a session finds. */
export interface Survey {
  /** The entries from the root to the leaf. A model is sent these, except for edits and compactions. */
  branch: Set<string>;
  leaf: string | null;
  /** Entries that a context_edit of this branch has changed already. */
  edited: Set<string>;
  /** True if the program that wrote the session knows context_edit. */
  hasEdits: boolean;
  ids: Set<string>;
  /** True if the file ends with a line break or is empty. */
  isComplete: boolean;
}

/** Only versions of pi that know context_edit write these. */
const SIGNS_OF_EDITS = new Set(["context_edit", "usage"]);

/** The signs as JSON has them. In a text of a message its quotes have backslashes. */
const SIGN = new RegExp(`"type"\\s*:\\s*"(?:${[...SIGNS_OF_EDITS].join("|")})"`);

const NOTHING = new Uint8Array();

/** Returns true if the program that wrote a session knows context_edit. Only lines that may say so are parsed. */
export function knowsEdits({ descriptor, bytes }: Snapshot): boolean {
  for (const line of readLines(descriptor, 0, bytes)) {
    const { buffer, byteOffset, byteLength } = line.bytes ?? NOTHING;
    if (!SIGN.test(Buffer.from(buffer, byteOffset, byteLength).toString("latin1"))) continue;
    const entry = lookAtLine(line);
    if (isEntry(entry) && SIGNS_OF_EDITS.has(entry.type)) return true;
  }
  return false;
}

/** Reads a session's tree. Memory grows with the number of entries, not with what they hold. */
export function surveyEntries({ descriptor, bytes }: Snapshot): Survey {
  const parents = new Map<string, string | null>();
  const targets = new Map<string, string>();
  let leaf: string | null = null;
  let hasEdits = false;
  let isComplete = true;
  for (const line of readLines(descriptor, 0, bytes)) {
    isComplete = line.hasBreak;
    const entry = isBlank(line) ? undefined : lookAtLine(line);
    if (!isEntry(entry)) continue;
    parents.set(entry.id, entry.parentId);
    leaf = entry.id;
    // OpenClaw moves the leaf with such an entry.
    if (entry.type === "leaf") leaf = typeof entry.targetId === "string" ? entry.targetId : null;
    hasEdits ||= SIGNS_OF_EDITS.has(entry.type);
    if (entry.type === "context_edit" && typeof entry.targetId === "string") targets.set(entry.id, entry.targetId);
  }
  const branch = new Set<string>();
  for (let id = leaf; id !== null && parents.has(id) && !branch.has(id); id = parents.get(id) ?? null) branch.add(id);
  const edited = new Set([...targets].filter(([id]) => branch.has(id)).map(([, target]) => target));
  return { branch, leaf, edited, hasEdits, ids: new Set(parents.keys()), isComplete };
}

/** An id that no entry has, in the form that pi gives them. */
export function freeId(taken: Set<string>): string {
  for (;;) {
    const id = randomBytes(4).toString("hex");
    if (taken.has(id)) continue;
    taken.add(id);
    return id;
  }
}
