import { readSync } from "node:fs";
import { isRecord } from "../../../values.ts";
import { StoredMessage } from "../../../wire/stored-message.ts";
import { type Entry, isEntry, isHeader, isPlainEntry } from "./entries.ts";
import type { Transcript } from "./open-transcript.ts";
import { readDocument } from "./open-transcript.ts";
import { isBlank, type Line, lookAtLine, readLines } from "./read-lines.ts";
import type { Snapshot } from "./rewrite-file.ts";

/** Messages that are read from where they are kept when they are asked for, or a plain list. */
export type MessageList = Pick<readonly unknown[], "length" | "at" | "slice">;

/** What a model would be sent next. Of JSON lines each message is a stored line, which can be loaded while the file is open. */
export interface Context {
  messages: MessageList;
  /** How many of the messages the context before had too, or a summary that stands for them. */
  carried: number;
}

/** What is read of a file at a time: messages are asked for in about the order of their lines. */
const BLOCK_BYTES = 256 * 1024;
const CHUNK = 64 * 1024;

type Place = Pick<Line, "from" | "to">;

/** Numbers in chunks: a transcript has millions of lines, and an object for each would take ten times the memory. */
class Column {
  readonly #chunks: (Float64Array | Int32Array | Uint8Array)[] = [];
  readonly #kind: Float64ArrayConstructor | Int32ArrayConstructor | Uint8ArrayConstructor;
  length = 0;

  constructor(kind: Float64ArrayConstructor | Int32ArrayConstructor | Uint8ArrayConstructor = Int32Array) {
    this.#kind = kind;
  }

  push(value: number): void {
    if (this.length % CHUNK === 0) this.#chunks.push(new this.#kind(CHUNK));
    this.set(this.length++, value);
  }

  set(at: number, value: number): void {
    (this.#chunks[Math.floor(at / CHUNK)] as Float64Array)[at % CHUNK] = value;
  }

  get(at: number): number {
    return (this.#chunks[Math.floor(at / CHUNK)] as Float64Array)[at % CHUNK] as number;
  }
}

/** The lines of a file: where each begins, and the one that was read last. */
class Lines {
  readonly #descriptor: number;
  readonly #bytes: number;
  readonly #kind: Transcript["kind"];
  readonly #from = new Column(Float64Array);
  #last = -1;
  #value: unknown;
  #block: Buffer = Buffer.alloc(0);
  #blockFrom = 0;

  constructor({ descriptor, bytes }: Snapshot, kind: Transcript["kind"]) {
    this.#descriptor = descriptor;
    this.#bytes = bytes;
    this.#kind = kind;
  }

  get count(): number {
    return this.#from.length;
  }

  add({ from }: Place): void {
    this.#from.push(from);
  }

  place(at: number): Place {
    return { from: this.#from.get(at), to: at + 1 < this.count ? this.#from.get(at + 1) : this.#bytes };
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

// What a line is.
const OTHER = 0;
const MESSAGE = 1;
const COMPACTION = 2;
const EDIT = 3;
const BLANK = 4;
const KINDS: Readonly<Record<string, number>> = { message: MESSAGE, compaction: COMPACTION, context_edit: EDIT };
/** Added to what an answer is, until it is found on the branch. */
const BESIDE = 8;

/** What it takes to find the branch of each line. Nothing of it is held later. */
class Tree {
  readonly kinds = new Column(Uint8Array);
  /** The line of the entry before; -1 if it has none, and -2 if `#far` has its id. */
  readonly #parents = new Column();
  readonly #far = new Map<number, string>();
  /** The entries that others name by their ids, except for those right before them. */
  readonly #named = new Map<string, number>();
  readonly #hashes = new Column();
  readonly #lines: Lines;
  #last: { id: string; at: number } | null = null;
  #leaf: string | null = null;

  constructor(lines: Lines) {
    this.#lines = lines;
  }

  get hasEntries(): boolean {
    return this.#last !== null;
  }

  add(line: Line, value: unknown, kind: number): void {
    const at = this.#lines.count;
    this.#lines.add(line);
    const entry = isEntry(value) ? value : null;
    const isAnswer = entry !== null && (entry.message as { role?: unknown } | undefined)?.role === "assistant";
    this.kinds.push(isAnswer ? kind + BESIDE : kind);
    this.#hashes.push(isRecord(value) && typeof value.id === "string" ? hashOf(value.id) : 0);
    for (const name of isRecord(value) ? [value.targetId, value.firstKeptEntryId] : []) this.#name(name);
    const parentId = entry?.parentId ?? null;
    const isNear = parentId !== null && parentId === this.#last?.id;
    this.#parents.push(parentId === null ? -1 : isNear ? (this.#last as { at: number }).at : -2);
    if (entry === null) return;
    if (parentId !== null && !isNear) {
      this.#far.set(at, parentId);
      this.#name(parentId);
    }
    this.#last = { id: entry.id, at };
    this.#leaf = entry.type !== "leaf" ? entry.id : typeof entry.targetId === "string" ? entry.targetId : null;
  }

  /** The lines of the branch, the leaf's first. */
  branch(): Column {
    this.#findNamed();
    const branch = new Column();
    if (!this.hasEntries) {
      for (let at = this.#lines.count - 1; at >= 0; at--) if (this.kinds.get(at) !== BLANK) branch.push(at);
      return branch;
    }
    const seen = new Uint8Array(this.#lines.count);
    const last = this.#last as { id: string; at: number };
    let at = this.#leaf === last.id ? last.at : this.placeOf(this.#leaf);
    while (at >= 0 && seen[at] === 0) {
      seen[at] = 1;
      this.kinds.set(at, this.kinds.get(at) % BESIDE);
      branch.push(at);
      const parent = this.#parents.get(at);
      at = parent === -2 ? this.placeOf(this.#far.get(at)) : parent;
    }
    return branch;
  }

  /** The line of an entry that others name; -1 if there is none. */
  placeOf(id: unknown): number {
    return this.#named.get(id as string) ?? -1;
  }

  #name(id: unknown): void {
    if (typeof id === "string") this.#named.set(id, -1);
  }

  /** Only lines that may have one of the ids are read again. */
  #findNamed(): void {
    const hashes = new Set([...this.#named.keys()].map(hashOf));
    for (let at = 0; hashes.size > 0 && at < this.#hashes.length; at++) {
      if (!hashes.has(this.#hashes.get(at))) continue;
      const entry = this.#lines.whole(at);
      if (isUsable(entry) && !isHeader(entry) && this.#named.has(entry.id as string))
        this.#named.set(entry.id as string, at);
    }
  }
}

function hashOf(id: string): number {
  let hash = 0;
  for (let at = 0; at < id.length; at++) hash = (Math.imul(hash, 31) + id.charCodeAt(at)) | 0;
  return hash;
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

/** Messages on lines of the file, and what stands before them. */
export class StoredLines implements MessageList {
  readonly #head: readonly unknown[];
  readonly #lines: Lines;
  readonly #edits: ReadonlyMap<number, number>;
  readonly #at = new Column();
  /** Each stands behind the one before it. */
  isInOrder = true;

  constructor(lines: Lines, edits: ReadonlyMap<number, number>, head: readonly unknown[] = []) {
    this.#head = head;
    this.#lines = lines;
    this.#edits = edits;
  }

  get length(): number {
    return this.#head.length + this.#at.length;
  }

  add(at: number): void {
    const { length } = this.#at;
    this.isInOrder &&= length === 0 || at > this.#at.get(length - 1);
    this.#at.push(at);
  }

  at(index: number): unknown {
    if (index < this.#head.length) return this.#head[index];
    const at = this.#at.get(index - this.#head.length);
    return new StoredLine(this.#lines, at, this.#edits.get(at));
  }

  slice(from = 0, to = this.length): unknown[] {
    const count = Math.max(0, Math.min(to, this.length) - from);
    return Array.from({ length: count }, (_, index) => this.at(from + index));
  }
}

/** Reads a session's next request: its current branch from the last compaction on, with edits applied. */
export function readContext(transcript: Transcript, snapshot: Snapshot): Context {
  return readContexts(transcript, snapshot).contexts.at(-1) as Context;
}

/**
 * Reads what a session's model was sent before each compaction, and what it would be sent next, with edits applied to all of
 * it. Memory grows by a few numbers for each line, not with what they hold.
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
  const tree = new Tree(lines);
  for (const line of readLines(descriptor, 0, bytes)) {
    const value = isBlank(line) ? undefined : lookAtLine(line);
    // The oldest sessions are plain lists, and name entries by their place, where a line that cannot be read counts too.
    if (value === undefined) tree.add(line, value, kind === "messages" || isBlank(line) ? BLANK : OTHER);
    else if (kind === "messages") tree.add(line, undefined, MESSAGE);
    else tree.add(line, value, isUsable(value) ? (KINDS[String(value.type)] ?? OTHER) : OTHER);
  }
  const contexts = contextsOf(tree, lines);
  let answersBeside = 0;
  for (let at = 0; at < lines.count; at++) if (tree.kinds.get(at) >= BESIDE) answersBeside++;
  return { contexts, answersBeside };
}

/** Returns false for what is no object, and for a line of a plain list that should have a message and has none. */
function isUsable(value: unknown): value is Partial<Entry> {
  return isRecord(value) && (value.type !== "message" || isEntry(value) || isPlainEntry(value));
}

function contextsOf(tree: Tree, lines: Lines): Context[] {
  const branch = tree.branch();
  const { length } = branch;
  const lineAt = (index: number) => branch.get(length - 1 - index);
  const edits = new Map<number, number>();
  for (let index = 0; index < length; index++) {
    const at = lineAt(index);
    if (tree.kinds.get(at) === EDIT) edits.set(tree.placeOf(lines.whole(at).targetId), at);
  }
  const add = (messages: StoredLines, at: number) => {
    const edit = edits.get(at);
    if (tree.kinds.get(at) === MESSAGE && (edit === undefined || lines.whole(edit).replacement !== null))
      messages.add(at);
  };
  let messages = new StoredLines(lines, edits);
  const contexts: Context[] = [{ messages, carried: 0 }];
  for (let index = 0; index < length; index++) {
    const at = lineAt(index);
    if (tree.kinds.get(at) !== COMPACTION) {
      add(messages, at);
      continue;
    }
    const { summary, timestamp, firstKeptEntryId, firstKeptEntryIndex } = lines.whole(at);
    messages = new StoredLines(lines, edits, [{ role: "compactionSummary", summary, timestamp }]);
    let first = typeof firstKeptEntryIndex === "number" ? firstKeptEntryIndex : index;
    const kept = tree.placeOf(firstKeptEntryId);
    if (typeof firstKeptEntryIndex !== "number" && kept >= 0) {
      first = 0;
      while (first < index && lineAt(first) !== kept) first++;
    }
    if (first >= 0) for (; first < index; first++) add(messages, lineAt(first));
    contexts.push({ messages, carried: messages.length });
  }
  return contexts;
}
