import { readSync } from "node:fs";
import { isRecord } from "../../../values.ts";
import { StoredMessage } from "../../../wire/stored-message.ts";
import { type Entry, isEntry, isPlainEntry } from "./entries.ts";
import type { Transcript } from "./open-transcript.ts";
import { readDocument } from "./open-transcript.ts";
import { isBlank, type Line, lookAtLine, readLines } from "./read-lines.ts";
import type { Snapshot } from "./rewrite-file.ts";

/** What a model would be sent next. Of JSON lines each message is a stored line, which can be loaded while the file is open. */
export interface Context {
  messages: unknown[];
  /** How many of the messages the context before had too, or a summary that stands for them. */
  carried: number;
}

/** What is read of a file at a time: messages are asked for in about the order of their lines. */
const BLOCK_BYTES = 256 * 1024;

type Place = Pick<Line, "from" | "to">;

/** The lines of a file: two numbers of each, and the one that was read last. */
class Lines {
  readonly #descriptor: number;
  readonly #kind: Transcript["kind"];
  readonly #from: number[] = [];
  readonly #to: number[] = [];
  #last = -1;
  #value: unknown;
  #block: Buffer = Buffer.alloc(0);
  #blockFrom = 0;

  constructor({ descriptor }: Snapshot, kind: Transcript["kind"]) {
    this.#descriptor = descriptor;
    this.#kind = kind;
  }

  get count(): number {
    return this.#from.length;
  }

  add({ from, to }: Place): number {
    this.#to.push(to);
    return this.#from.push(from) - 1;
  }

  place(at: number): Place {
    return { from: this.#from[at] as number, to: this.#to[at] as number };
  }

  /** The entry on a line. */
  whole(at: number): Partial<Entry> {
    const value = at === this.#last ? this.#value : this.#read(at);
    return this.#kind === "messages" ? { type: "message", message: value } : (value as Entry);
  }

  #read(at: number): unknown {
    const { from, to } = this.place(at);
    if (from < this.#blockFrom || to > this.#blockFrom + this.#block.length) {
      const block = Buffer.allocUnsafe(Math.max(BLOCK_BYTES, to - from));
      this.#block = block.subarray(0, readSync(this.#descriptor, block, 0, block.length, from));
      this.#blockFrom = from;
    }
    const bytes = this.#block.subarray(from - this.#blockFrom, to - this.#blockFrom);
    this.#value = lookAtLine({ from, to, bytes, hasBreak: true });
    this.#last = at;
    return this.#value;
  }
}

/** Of each line what it takes to find the branch. Nothing of it is held later. */
interface Tree {
  types: unknown[];
  ids: (string | undefined)[];
  parents: (string | null | undefined)[];
}

/** A message on a line of the file, as it was edited. */
export class StoredLine extends StoredMessage {
  readonly #lines: Lines;
  readonly #at: number;
  readonly #edit: number | undefined;

  constructor(lines: Lines, at: number, edit: number | undefined) {
    super();
    this.#lines = lines;
    this.#at = at;
    this.#edit = edit;
  }

  /** The first byte of its line and the one after it. */
  get place(): Place {
    return this.#lines.place(this.#at);
  }

  /** The entry's id, if it has one. */
  get id(): string | undefined {
    return this.#lines.whole(this.#at).id;
  }

  override load(): unknown {
    const { message } = this.#lines.whole(this.#at);
    if (this.#edit === undefined) return message;
    const { replacement } = this.#lines.whole(this.#edit) as { replacement?: { content?: unknown } };
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
  const { kind } = transcript;
  if (kind === "document") {
    const messages = [...readDocument(transcript.path, snapshot, transcript.wire).messages];
    return { contexts: [{ messages, carried: 0 }], answersBeside: 0 };
  }
  const lines = new Lines(snapshot, kind);
  const tree: Tree = { types: [], ids: [], parents: [] };
  const entries = new Map<string, number>();
  const answers = new Set<number>();
  let leaf: string | null = null;
  for (const line of readLines(descriptor, 0, bytes)) {
    const value = isBlank(line) ? undefined : lookAtLine(line);
    // The oldest sessions are plain lists, and name entries by their place, where a line that cannot be read counts too.
    if (value === undefined && (kind === "messages" || isBlank(line))) continue;
    const { type, id, parentId } = kind === "messages" ? A_MESSAGE : isUsable(value) ? value : NO_ENTRY;
    const at = lines.add(line);
    tree.types.push(type);
    tree.ids.push(id);
    tree.parents.push(parentId);
    if (!isEntry(value)) continue;
    entries.set(value.id, at);
    leaf = value.type !== "leaf" ? value.id : typeof value.targetId === "string" ? value.targetId : null;
    if ((value.message as { role?: unknown } | undefined)?.role === "assistant") answers.add(at);
  }
  const branch =
    entries.size === 0 ? Array.from({ length: lines.count }, (_, at) => at) : branchOf(tree, entries, leaf);
  for (const at of branch) answers.delete(at);
  return { contexts: contextsOf(branch, tree, lines), answersBeside: answers.size };
}

const NO_ENTRY: Partial<Entry> = {};
const A_MESSAGE: Partial<Entry> = { type: "message" };

/** False for what is no object, and for a line of a plain list that should have a message and has none. */
function isUsable(value: unknown): value is Partial<Entry> {
  return isRecord(value) && (value.type !== "message" || isEntry(value) || isPlainEntry(value));
}

function branchOf({ parents }: Tree, entries: ReadonlyMap<string, number>, leaf: string | null): number[] {
  const branch = new Set<number>();
  for (let at = entries.get(leaf ?? ""); at !== undefined && !branch.has(at); at = entries.get(parents[at] ?? "")) {
    branch.add(at);
  }
  return [...branch].reverse();
}

function contextsOf(branch: readonly number[], { types, ids }: Tree, lines: Lines): Context[] {
  const edits = new Map<unknown, number>();
  for (const at of branch) if (types[at] === "context_edit") edits.set(lines.whole(at).targetId, at);
  const add = (context: Context, at: number) => {
    const id = ids[at];
    const edit = id === undefined ? undefined : edits.get(id);
    if (types[at] !== "message" || (edit !== undefined && lines.whole(edit).replacement === null)) return;
    context.messages.push(new StoredLine(lines, at, edit));
  };
  let context: Context = { messages: [], carried: 0 };
  const contexts = [context];
  for (const [index, at] of branch.entries()) {
    if (types[at] !== "compaction") add(context, at);
    else {
      const { summary, timestamp, firstKeptEntryId, firstKeptEntryIndex } = lines.whole(at);
      context = { messages: [{ role: "compactionSummary", summary, timestamp }], carried: 0 };
      const first =
        typeof firstKeptEntryIndex === "number"
          ? firstKeptEntryIndex
          : branch.findIndex((one) => ids[one] !== undefined && ids[one] === firstKeptEntryId);
      if (first >= 0) for (const kept of branch.slice(first, index)) add(context, kept);
      context.carried = context.messages.length;
      contexts.push(context);
    }
  }
  return contexts;
}
