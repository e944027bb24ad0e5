import { readSync } from "node:fs";
import { isRecord } from "../../../values.ts";
import { StoredMessage } from "../../../wire/stored-message.ts";
import { type Entry, isEntry, isPlainEntry } from "./entries.ts";
import type { Transcript } from "./open-transcript.ts";
import { readDocument } from "./open-transcript.ts";
import { isBlank, type Line, parseLine, readLines } from "./read-lines.ts";
import type { Snapshot } from "./rewrite-file.ts";

/** What a model would be sent next, and where each message comes from. */
export interface Context {
  /** Those of JSON lines are stored messages, which can be loaded while the file is open. */
  messages: unknown[];
  /** Null if the message stands on no line of its own. */
  sources: (Source | null)[];
  /** How many of the messages the context before had too, or a summary that stands for them. */
  carried: number;
}

/** Where a message stands: the first byte of its line and the one after it; of a document, the number of the message. */
export interface Source extends Place {
  /** The entry's id, if it has one. */
  id?: string | undefined;
}

/** What is read of a file at a time: messages are asked for in about the order of their lines. */
const BLOCK_BYTES = 256 * 1024;

/** Reads the lines of a file again, and keeps the one that was read last. */
class Lines {
  readonly #descriptor: number;
  #from = -1;
  #value: unknown;
  #block: Buffer = Buffer.alloc(0);
  #blockFrom = 0;

  constructor({ descriptor }: Snapshot) {
    this.#descriptor = descriptor;
  }

  at({ from, to }: Place): unknown {
    if (from === this.#from) return this.#value;
    if (from < this.#blockFrom || to > this.#blockFrom + this.#block.length) {
      const block = Buffer.allocUnsafe(Math.max(BLOCK_BYTES, to - from));
      this.#block = block.subarray(0, readSync(this.#descriptor, block, 0, block.length, from));
      this.#blockFrom = from;
    }
    const bytes = this.#block.subarray(from - this.#blockFrom, to - this.#blockFrom);
    this.#value = parseLine({ from, to, bytes, hasBreak: true });
    this.#from = from;
    return this.#value;
  }
}

type Place = Pick<Line, "from" | "to">;

/** The references of an entry, and its place. */
type Held = Place & ReturnType<typeof referencesOf>;

const NOTHING = () => undefined;

/** A message on a line of the file, as it was edited. */
class StoredLine extends StoredMessage {
  readonly #whole: (held: Held) => Partial<Entry>;
  readonly #held: Held;
  readonly #edit: Held | undefined;

  constructor(whole: (held: Held) => Partial<Entry>, held: Held, edit: Held | undefined) {
    super(NOTHING);
    this.#whole = whole;
    this.#held = held;
    this.#edit = edit;
  }

  override load(): unknown {
    const { message } = this.#whole(this.#held);
    if (this.#edit === undefined) return message;
    const { replacement } = this.#whole(this.#edit) as { replacement?: { content?: unknown } };
    return replacement === undefined ? message : { ...(message as object), content: replacement.content };
  }
}

/** Reads a session's next request: its current branch from the last compaction on, with edits applied. */
export function readContext(transcript: Transcript, snapshot: Snapshot): Context {
  return readContexts(transcript, snapshot).contexts.at(-1) as Context;
}

/**
 * Reads what a session's model was sent before each compaction, and what it would be sent next, with edits applied to all of
 * it. Memory grows with the number of lines, not with what they hold.
 */
export function readContexts(
  transcript: Transcript,
  snapshot: Snapshot,
): { contexts: Context[] /** Answers on other branches. */; answersBeside: number } {
  const { descriptor, bytes } = snapshot;
  if (transcript.kind === "document") {
    const messages = [...readDocument(transcript.path, snapshot, transcript.wire).messages];
    return {
      contexts: [{ messages, sources: messages.map((_, from) => ({ from, to: from })), carried: 0 }],
      answersBeside: 0,
    };
  }
  const entries = new Map<string, Held>();
  // The oldest sessions are plain lists, and name entries by their place.
  const list: Held[] = [];
  const answers = new Set<Held>();
  let leaf: string | null = null;
  for (const line of readLines(descriptor, 0, bytes)) {
    if (isBlank(line)) continue;
    const value = parseLine(line);
    const { from, to } = line;
    const entry: Partial<Entry> =
      transcript.kind === "messages" ? { type: "message", message: value } : isUsable(value) ? value : {};
    const held = { from, to, ...referencesOf(entry) };
    if (transcript.kind === "entries" || value !== undefined) list.push(held);
    if (!isEntry(value)) continue;
    entries.set(value.id, held);
    leaf = value.type !== "leaf" ? value.id : typeof value.targetId === "string" ? value.targetId : null;
    if ((value.message as { role?: unknown } | undefined)?.role === "assistant") answers.add(held);
  }
  const lines = new Lines(snapshot);
  const whole = (held: Held): Partial<Entry> => {
    const value = lines.at(held);
    return transcript.kind === "messages" ? { type: "message", message: value } : (value as Entry);
  };
  const branch = entries.size === 0 ? list : branchOf(entries, leaf);
  for (const held of branch) answers.delete(held);
  return { contexts: contextsOf(branch, whole), answersBeside: answers.size };
}

/** False for what is no object, and for a line of a plain list that should have a message and has none. */
function isUsable(value: unknown): value is Partial<Entry> {
  return isRecord(value) && (value.type !== "message" || isEntry(value) || isPlainEntry(value));
}

function referencesOf({ type, id, parentId, targetId, firstKeptEntryId, firstKeptEntryIndex }: Partial<Entry>) {
  return { type, id, parentId, targetId, firstKeptEntryId, firstKeptEntryIndex };
}

function branchOf(entries: ReadonlyMap<string, Held>, leaf: string | null): Held[] {
  const branch = new Set<Held>();
  for (let at = entries.get(leaf ?? ""); at !== undefined && !branch.has(at); at = entries.get(at.parentId ?? "")) {
    branch.add(at);
  }
  return [...branch].reverse();
}

function contextsOf(branch: readonly Held[], whole: (held: Held) => Partial<Entry>): Context[] {
  const edits = new Map<unknown, Held>();
  for (const held of branch) if (held.type === "context_edit") edits.set(held.targetId, held);
  const add = (context: Context, held: Held) => {
    const { id, type } = held;
    const edit = id === undefined ? undefined : edits.get(id);
    if (type !== "message" || (edit !== undefined && whole(edit).replacement === null)) return;
    context.messages.push(new StoredLine(whole, held, edit));
    context.sources.push(held);
  };
  let context: Context = { messages: [], sources: [], carried: 0 };
  const contexts = [context];
  for (const [at, held] of branch.entries()) {
    if (held.type !== "compaction") add(context, held);
    else {
      const { summary, timestamp, firstKeptEntryId, firstKeptEntryIndex } = whole(held);
      context = { messages: [{ role: "compactionSummary", summary, timestamp }], sources: [null], carried: 0 };
      const first =
        typeof firstKeptEntryIndex === "number"
          ? firstKeptEntryIndex
          : branch.findIndex(({ id }) => id !== undefined && id === firstKeptEntryId);
      if (first >= 0) for (const kept of branch.slice(first, at)) add(context, kept);
      context.carried = context.messages.length;
      contexts.push(context);
    }
  }
  return contexts;
}
