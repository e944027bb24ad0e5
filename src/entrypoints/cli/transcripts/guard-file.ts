import type { GuardedSession, SessionManager } from "../../../histories/histories.ts";
import type { Spillway } from "../../../index.ts";
import { isRecord } from "../../../values.ts";
import { appendEdits } from "./append-edits.ts";
import { type Entry, freeId, isEntry, isPlainEntry, type Survey, surveyEntries } from "./entries.ts";
import { readDocument, readSnapshot, type Transcript, tryOut } from "./open-transcript.ts";
import { breakOf, isBlank, type Line, parseLine, readLines } from "./read-lines.ts";
import { rewriteFile, type Sink, type Snapshot } from "./rewrite-file.ts";

/** How a transcript is guarded. */
export interface GuardFileOptions {
  /** "edits" appends context_edit records, "rewrite" writes the file anew. By default it is "edits" if the session has some. */
  by?: "edits" | "rewrite" | undefined;
  dryRun: boolean;
  session?: string | undefined;
  /** The model's context in tokens, of which one result gets a share. */
  window?: number | undefined;
}

/** What guarding a transcript did, or would do. */
export interface GuardReport {
  by: "edits" | "rewrite";
  /** Messages that were changed. */
  changed: number;
  /** Results that were filled in for calls without one. */
  filled: number;
  /** Lines that are not JSON or are too long to be read. They are kept as they were. */
  unread: number;
  /** Messages whose details, or whose command's output, stay over the limit, since a context_edit changes content only. */
  detailsLeft: number;
  bytesBefore: number;
  bytesAfter: number;
  backup: string | null;
  appendedBytes: number;
}

type Counts = Pick<GuardReport, "changed" | "filled" | "unread" | "detailsLeft">;

const NONE: Readonly<Counts> = { changed: 0, filled: 0, unread: 0, detailsLeft: 0 };

/** Brings every result in a transcript under the limits. */
export async function guardFile(
  transcript: Transcript,
  spillway: Spillway,
  options: GuardFileOptions,
): Promise<GuardReport> {
  const { path, kind } = transcript;
  const survey = kind === "entries" ? readSnapshot(path, surveyEntries) : null;
  const by = options.by ?? (survey?.hasEdits ? "edits" : "rewrite");
  let counts: Counts = { ...NONE };
  let [bytesBefore, bytesAfter] = [0, 0];
  const { session, window } = options;
  if (by === "edits" && survey !== null) {
    const appended = await appendEdits(path, options.dryRun, (old, tree) => {
      counts = { ...NONE };
      return editSteps(old, tree, new Chain(spillway, { wire: "pi", session, window, fillMissing: false }), counts);
    });
    return { by, ...counts, backup: null, appendedBytes: 0, ...appended };
  }
  const make = async (old: Snapshot, sink: Sink): Promise<boolean> => {
    counts = { ...NONE };
    bytesBefore = old.bytes;
    const counting = countBytes(sink);
    const startChain = (wire: string) => new Chain(spillway, { wire, session, window, fillMissing: true });
    const work = { old, sink: counting, counts, startChain };
    if (kind === "document") await guardDocument(transcript, work);
    else if (kind === "messages") await guardMessages(transcript, work);
    else await guardEntries(work);
    bytesAfter = counting.bytes;
    return counts.changed + counts.filled > 0;
  };
  const done = options.dryRun ? await tryOut(path, make) : await rewriteFile(path, make);
  return { by: "rewrite", ...counts, bytesBefore, bytesAfter: bytesAfter + done.appendedBytes, ...done };
}

function countBytes(sink: Sink): Sink & { bytes: number } {
  return {
    bytes: 0,
    write(bytes) {
      this.bytes += Buffer.byteLength(bytes);
      sink.write(bytes);
    },
    copy(from, to) {
      this.bytes += to - from;
      sink.copy(from, to);
    },
  };
}

/** One pass over a file: what is read, where the new file goes, and what was done so far. */
interface Work {
  old: Snapshot;
  sink: Sink;
  counts: Counts;
  startChain(wire: string): Chain;
}

/** A guarded session that returns what it would have persisted. */
class Chain {
  readonly #guarded: GuardedSession<SessionManager>;
  readonly #boundOutput: (message: CommandRun) => Promise<CommandRun>;
  #taken: unknown[] = [];

  constructor(spillway: Spillway, options: ChainOptions) {
    const { session, window } = options;
    this.#boundOutput = (message) =>
      boundOutput(message, (one) => spillway.guard(one, { wire: "pi", session, window }));
    const manager = { appendMessage: (message: unknown) => void this.#taken.push(message) };
    this.#guarded = spillway.guardSession(manager as SessionManager, { async: true, ...options });
  }

  /** The message as it should be, and the messages that have to be written before it. */
  async take(message: unknown): Promise<{ before: unknown[]; message: unknown }> {
    this.#taken = [];
    await (this.#guarded.session.appendMessage as (message: unknown) => unknown)(message);
    const taken = this.#taken.at(-1);
    return { before: this.#taken.slice(0, -1), message: isCommandRun(taken) ? await this.#boundOutput(taken) : taken };
  }
}

interface ChainOptions {
  wire: string;
  session: string | undefined;
  window: number | undefined;
  fillMissing: boolean;
}

/** A command that a person ran in pi. The model reads it as that person's words, so no wire has its output as a result. */
interface CommandRun {
  role: "bashExecution";
  output: string;
}

function isCommandRun(message: unknown): message is CommandRun {
  return isRecord(message) && message.role === "bashExecution" && typeof message.output === "string";
}

/** The message with its output as the result of a tool `bash` would be guarded. */
async function boundOutput(message: CommandRun, guard: (message: unknown) => Promise<unknown>): Promise<CommandRun> {
  const content = [{ type: "text", text: message.output }];
  const guarded = await guard({ role: "toolResult", toolCallId: null, toolName: "bash", content, isError: false });
  const [block] = (guarded as { content: typeof content }).content;
  return block === undefined || block.text === message.output ? message : { ...message, output: block.text };
}

async function guardDocument({ path, wire }: Transcript, { old, sink, counts, startChain }: Work): Promise<void> {
  const document = readDocument(path, old, wire);
  const chain = startChain(wire.name);
  const messages: unknown[] = [];
  for (const message of document.messages) {
    const taken = await chain.take(message);
    counts.filled += taken.before.length;
    if (taken.message !== message) counts.changed++;
    messages.push(...taken.before, taken.message);
  }
  sink.write(document.text(messages));
}

async function guardMessages({ wire }: Transcript, { old, sink, counts, startChain }: Work): Promise<void> {
  const chain = startChain(wire.name);
  for (const line of readLines(old.descriptor, 0, old.bytes)) {
    const message = readable(line, counts);
    if (message === undefined) sink.copy(line.from, line.to);
    else {
      const taken = await chain.take(message);
      counts.filled += taken.before.length;
      for (const lost of taken.before) sink.write(`${JSON.stringify(lost)}${breakOf(line) || "\n"}`);
      if (taken.message === message) sink.copy(line.from, line.to);
      else writeLine(sink, taken.message, line, counts);
    }
  }
}

async function guardEntries(work: Work): Promise<void> {
  const { old, sink, counts, startChain } = work;
  const { ids } = surveyEntries(old);
  let chain = startChain("pi");
  let last: string | null = null;
  const places = new Places();
  for (const line of readLines(old.descriptor, 0, old.bytes)) {
    const entry = readable(line, counts);
    if (!isEntry(entry)) {
      const filled = counts.filled;
      await guardPlain(places.moved(entry), { entry, line, chain }, work);
      places.pass(line, counts.filled - filled);
      continue;
    }
    // The entry is on another branch, and calls that are open on the branch before are not answered here.
    if (entry.parentId !== last) chain = startChain("pi");
    last = entry.id;
    const taken = entry.type === "message" ? await chain.take(entry.message) : { before: [], message: entry.message };
    const [parent, lines] = fillers(taken.before, entry, ids);
    counts.filled += lines.length;
    for (const filler of lines) sink.write(filler);
    if (taken.message === entry.message && lines.length === 0) sink.copy(line.from, line.to);
    else {
      const changed = taken.message === entry.message ? entry : { ...entry, message: taken.message };
      if (changed === entry) writeLine(sink, { ...entry, parentId: parent }, line, null);
      else writeLine(sink, { ...changed, parentId: parent }, line, counts);
    }
  }
}

/** Where the lines of a plain list come to stand. The oldest sessions name entries by their place. */
class Places {
  /** For each old place that had new lines put before it: how many new lines stand before it in all. */
  readonly #shifts: { place: number; shift: number }[] = [];
  #place = 0;

  /** Goes on to the next line. */
  pass(line: Line, newLines: number): void {
    if (isBlank(line)) return;
    if (newLines > 0) this.#shifts.push({ place: this.#place, shift: (this.#shifts.at(-1)?.shift ?? 0) + newLines });
    this.#place++;
  }

  /** The entry with the place that it names moved as far as that entry was moved. */
  moved(entry: unknown): unknown {
    const { firstKeptEntryIndex: named } = (entry ?? {}) as { firstKeptEntryIndex?: unknown };
    const shift = typeof named === "number" ? this.#shifts.findLast(({ place }) => place <= named)?.shift : undefined;
    return shift === undefined ? entry : { ...(entry as object), firstKeptEntryIndex: (named as number) + shift };
  }
}

/** Guards the message of a line that is not part of a tree: the oldest sessions are plain lists. */
async function guardPlain(
  moved: unknown,
  { entry, line, chain }: { entry: unknown; line: Line; chain: Chain },
  { sink, counts }: Work,
): Promise<void> {
  if (!isPlainEntry(entry)) return moved === entry ? sink.copy(line.from, line.to) : writeLine(sink, moved, line, null);
  const { before, message } = await chain.take(entry.message);
  counts.filled += before.length;
  for (const lost of before) {
    sink.write(`${JSON.stringify({ type: "message", timestamp: entry.timestamp, message: lost })}\n`);
  }
  if (message === entry.message) sink.copy(line.from, line.to);
  else writeLine(sink, { ...entry, message }, line, counts);
}

/** The lines of new entries that have to stand before an entry, and the entry's new parent. */
function fillers(
  messages: readonly unknown[],
  entry: Entry,
  ids: Set<string>,
): [parent: string | null, lines: string[]] {
  let parent = entry.parentId;
  const lines = messages.map((message) => {
    const id = freeId(ids);
    const line = JSON.stringify({ type: "message", id, parentId: parent, timestamp: entry.timestamp, message });
    parent = id;
    return `${line}\n`;
  });
  return [parent, lines];
}

/** Yields an edit for each result of the branch that is over the limits. */
async function* editSteps(
  { descriptor, bytes }: Snapshot,
  { branch, edited }: Survey,
  chain: Chain,
  counts: Counts,
): AsyncGenerator<{ targetId: string; content: unknown }> {
  for (const line of readLines(descriptor, 0, bytes)) {
    const entry = readable(line, counts);
    if (!isEntry(entry) || entry.type !== "message" || !branch.has(entry.id) || edited.has(entry.id)) continue;
    const { message } = await chain.take(entry.message);
    const before = (entry.message ?? {}) as { content?: unknown; details?: unknown; output?: unknown };
    const { content, details, output } = (message ?? {}) as typeof before;
    if (details !== before.details || output !== before.output) counts.detailsLeft++;
    if (content === before.content) continue;
    counts.changed++;
    yield { targetId: entry.id, content };
  }
}

/** A line's value; undefined if the line is blank or cannot be read, and so is kept as it is. */
function readable(line: Line, counts: Counts): unknown {
  if (isBlank(line)) return undefined;
  const value = parseLine(line);
  if (value === undefined) counts.unread++;
  return value;
}

function writeLine(sink: Sink, value: unknown, line: Line, counts: Counts | null): void {
  if (counts !== null) counts.changed++;
  sink.write(`${JSON.stringify(value)}${breakOf(line)}`);
}
