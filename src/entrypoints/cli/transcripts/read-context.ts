import { type Entry, isEntry, isPlainEntry } from "./entries.ts";
import type { Transcript } from "./open-transcript.ts";
import { readDocument } from "./open-transcript.ts";
import { isBlank, parseLine, readLines } from "./read-lines.ts";
import type { Snapshot } from "./rewrite-file.ts";

/** What a model would be sent next, and where each message comes from. */
export interface Context {
  messages: unknown[];
  /** The entry's id, or the place of the line's first byte; null if the message stands on no line. */
  sources: (string | number | null)[];
}

/** Reads a session's next request: its current branch from the last compaction on, with edits applied. Holds all of it. */
export function readContext(transcript: Transcript, snapshot: Snapshot): Context {
  const { descriptor, bytes } = snapshot;
  if (transcript.kind === "document") {
    const messages = [...readDocument(transcript.path, snapshot, transcript.wire).messages];
    return { messages, sources: messages.map((_, index) => index) };
  }
  const entries = new Map<string, Entry>();
  const context: Context = { messages: [], sources: [] };
  let leaf: string | null = null;
  for (const line of readLines(descriptor, 0, bytes)) {
    const value = isBlank(line) ? undefined : parseLine(line);
    if (isEntry(value)) {
      entries.set(value.id, value);
      leaf = value.type !== "leaf" ? value.id : typeof value.targetId === "string" ? value.targetId : null;
    } else if (isPlainEntry(value) || (transcript.kind === "messages" && value !== undefined)) {
      context.messages.push(isPlainEntry(value) ? value.message : value);
      context.sources.push(line.from);
    }
  }
  return entries.size === 0 ? context : branchContext(entries, leaf);
}

function branchContext(entries: ReadonlyMap<string, Entry>, leaf: string | null): Context {
  const branch: Entry[] = [];
  const seen = new Set<Entry>();
  for (let at = leaf === null ? undefined : entries.get(leaf); at !== undefined && !seen.has(at); ) {
    branch.push(at);
    seen.add(at);
    at = at.parentId === null ? undefined : entries.get(at.parentId);
  }
  branch.reverse();
  const edits = new Map<unknown, unknown>();
  for (const entry of branch) if (entry.type === "context_edit") edits.set(entry.targetId, entry.replacement);
  const context: Context = { messages: [], sources: [] };
  const add = (entry: Entry) => {
    const edit = edits.get(entry.id) as { content?: unknown } | null | undefined;
    if (entry.type !== "message" || edit === null) return;
    const message = entry.message as object;
    context.messages.push(edit === undefined ? message : { ...message, content: edit.content });
    context.sources.push(entry.id);
  };
  const last = branch.findLastIndex(({ type }) => type === "compaction");
  const compaction = branch[last];
  if (compaction !== undefined) {
    context.messages.push({ role: "compactionSummary", summary: compaction.summary, timestamp: compaction.timestamp });
    context.sources.push(null);
    const first = branch.findIndex(({ id }) => id === compaction.firstKeptEntryId);
    if (first >= 0) branch.slice(first, last).forEach(add);
  }
  branch.slice(last + 1).forEach(add);
  return context;
}
