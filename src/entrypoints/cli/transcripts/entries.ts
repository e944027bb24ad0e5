import { randomBytes } from "node:crypto";
import { isBlank, parseLine, readLines } from "./read-lines.ts";
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

/** The first line of a session: it has an id, but is no part of the tree. */
export function isHeader(value: unknown): boolean {
  return isRecord(value) && value.type === "session" && typeof value.id === "string";
}

/** A line that is part of the tree. */
export function isEntry(value: unknown): value is Entry {
  if (!isRecord(value) || typeof value.type !== "string" || value.type === "session") return false;
  return typeof value.id === "string" && (value.parentId === null || typeof value.parentId === "string");
}

/** A line of the oldest sessions, which are plain lists. */
export function isPlainEntry(value: unknown): value is { message: unknown; timestamp?: unknown } {
  return isRecord(value) && value.type === "message" && isRecord(value.message) && !isEntry(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What the whole of a session's lines say, read once. */
export interface Survey {
  /** Entries from the root to the leaf: what a model would be sent, edits and compactions aside. */
  branch: Set<string>;
  leaf: string | null;
  /** Entries that a context_edit of this branch has changed already. */
  edited: Set<string>;
  /** The session's own writer has context_edit. */
  hasEdits: boolean;
  ids: Set<string>;
  /** Ends with a line break, or is empty. */
  isComplete: boolean;
}

/** Written by versions of pi that know context_edit, and by no others. */
const SIGNS_OF_EDITS = new Set(["context_edit", "usage"]);

/** Reads a session's tree. Memory grows with the number of entries, not with what they hold. */
export function surveyEntries({ descriptor, bytes }: Snapshot): Survey {
  const parents = new Map<string, string | null>();
  const targets = new Map<string, string>();
  let leaf: string | null = null;
  let hasEdits = false;
  let isComplete = true;
  for (const line of readLines(descriptor, 0, bytes)) {
    isComplete = line.hasBreak;
    const entry = isBlank(line) ? undefined : parseLine(line);
    if (!isEntry(entry)) continue;
    parents.set(entry.id, entry.parentId);
    leaf = entry.id;
    // OpenClaw's way of moving the leaf.
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
