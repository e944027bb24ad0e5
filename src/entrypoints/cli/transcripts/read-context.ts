import { readSync } from "node:fs";
import { StoredMessage } from "../../../wire/stored-message.ts";
import { type Entry, isEntry, isPlainEntry } from "./entries.ts";
import type { Transcript } from "./open-transcript.ts";
import { readDocument } from "./open-transcript.ts";
import { isBlank, type Line, parseLine, readLines } from "./read-lines.ts";
import type { Snapshot } from "./rewrite-file.ts";

/** What a model would be sent next, and where each message comes from. */
export interface Context {
  /** Those on long lines are stored messages, which can be loaded while the file is open. */
  messages: unknown[];
  /** Null if the message stands on no line of its own. */
  sources: (Source | null)[];
}

/** Where a message stands. */
export interface Source {
  /** The entry's id; null if it has none. */
  id: string | null;
  /** The first byte of its line; of a document, the number of the message. */
  from: number;
}

/** What longer lines hold stays in the file. */
const HELD_LINE_BYTES = 1024;

/** Reads the lines of a file again, and keeps the one that was read last. */
class Lines {
  readonly #descriptor: number;
  #from = -1;
  #value: unknown;

  constructor({ descriptor }: Snapshot) {
    this.#descriptor = descriptor;
  }

  at({ from, to }: Place): unknown {
    if (from === this.#from) return this.#value;
    const bytes = Buffer.allocUnsafe(to - from);
    const length = readSync(this.#descriptor, bytes, 0, bytes.length, from);
    this.#value = parseLine({ from, to, bytes: bytes.subarray(0, length), hasBreak: true });
    this.#from = from;
    return this.#value;
  }
}

type Place = Pick<Line, "from" | "to">;

/** An entry and its place. Of an entry on a long line only the references are held. */
interface Held extends Place {
  entry: Entry;
  isWhole: boolean;
}

/**
 * Reads a session's next request: its current branch from the last compaction on, with edits applied. Memory grows with the
 * number of lines, not with what they hold.
 */
export function readContext(transcript: Transcript, snapshot: Snapshot): Context {
  const { descriptor, bytes } = snapshot;
  if (transcript.kind === "document") {
    const messages = [...readDocument(transcript.path, snapshot, transcript.wire).messages];
    return { messages, sources: messages.map((_, from) => ({ id: null, from })) };
  }
  const lines = new Lines(snapshot);
  const entries = new Map<string, Held>();
  const context: Context = { messages: [], sources: [] };
  let leaf: string | null = null;
  for (const line of readLines(descriptor, 0, bytes)) {
    const value = isBlank(line) ? undefined : parseLine(line);
    const { from, to } = line;
    const isWhole = to - from <= HELD_LINE_BYTES;
    if (isEntry(value)) {
      entries.set(value.id, { from, to, isWhole, entry: isWhole ? value : referencesOf(value) });
      leaf = value.type !== "leaf" ? value.id : typeof value.targetId === "string" ? value.targetId : null;
    } else if (isPlainEntry(value) || (transcript.kind === "messages" && value !== undefined)) {
      context.messages.push(isWhole ? messageIn(value) : new StoredMessage(() => messageIn(lines.at({ from, to }))));
      context.sources.push({ id: null, from });
    }
  }
  return entries.size === 0 ? context : branchContext(entries, leaf, lines);
}

function messageIn(value: unknown): unknown {
  return isPlainEntry(value) ? value.message : value;
}

function referencesOf({ type, id, parentId, targetId, firstKeptEntryId }: Entry): Entry {
  return { type, id, parentId, targetId, firstKeptEntryId };
}

function branchContext(entries: ReadonlyMap<string, Held>, leaf: string | null, lines: Lines): Context {
  const branch: Held[] = [];
  const seen = new Set<Held>();
  for (let at = leaf === null ? undefined : entries.get(leaf); at !== undefined && !seen.has(at); ) {
    branch.push(at);
    seen.add(at);
    at = at.entry.parentId === null ? undefined : entries.get(at.entry.parentId);
  }
  branch.reverse();
  const whole = (held: Held) => (held.isWhole ? held.entry : (lines.at(held) as Entry));
  const edits = new Map<unknown, Held>();
  for (const held of branch) if (held.entry.type === "context_edit") edits.set(held.entry.targetId, held);
  const context: Context = { messages: [], sources: [] };
  const add = (held: Held) => {
    const { id, type } = held.entry;
    const edit = edits.get(id);
    if (type !== "message" || (edit !== undefined && whole(edit).replacement === null)) return;
    const load = () => {
      const message = whole(held).message as object;
      const replacement =
        edit === undefined ? undefined : (whole(edit).replacement as { content?: unknown } | undefined);
      return replacement === undefined ? message : { ...message, content: replacement.content };
    };
    context.messages.push(held.isWhole && edit?.isWhole !== false ? load() : new StoredMessage(load));
    context.sources.push({ id, from: held.from });
  };
  const last = branch.findLastIndex(({ entry }) => entry.type === "compaction");
  const compaction = branch[last];
  if (compaction !== undefined) {
    const { summary, timestamp, firstKeptEntryId } = whole(compaction);
    context.messages.push({ role: "compactionSummary", summary, timestamp });
    context.sources.push(null);
    const first = branch.findIndex(({ entry }) => entry.id === firstKeptEntryId);
    if (first >= 0) branch.slice(first, last).forEach(add);
  }
  branch.slice(last + 1).forEach(add);
  return context;
}
