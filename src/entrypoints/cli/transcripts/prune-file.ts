import { badInput } from "../../../errors.ts";
import type { PrepareOptions, PruneReport, Spillway } from "../../../index.ts";
import { loaded } from "../../../wire/stored-message.ts";
import { appendEdits } from "./append-edits.ts";
import { isEntry, isPlainEntry, knowsEdits } from "./entries.ts";
import { readDocument, readSnapshot, type Transcript, tryOut } from "./open-transcript.ts";
import { type Pruned, pruneInParts } from "./prune-parts.ts";
import { readContext, StoredLine, StoredLines } from "./read-context.ts";
import { breakOf, parseLine, readLines } from "./read-lines.ts";
import { rewriteFile, type Sink, type Snapshot } from "./rewrite-file.ts";

/** What pruning a transcript did, or would do. */
export interface PruneFileReport {
  by: "edits" | "rewrite";
  changed: number;
  report: PruneReport;
  backup: string | null;
  appendedBytes: number;
}

/** One request of a transcript as it would be sent: the messages before its n-th assistant message. */
export async function pruneRequest(
  transcript: Transcript,
  spillway: Spillway,
  options: PrepareOptions,
  request: number,
): Promise<{ messages: unknown[]; report: PruneReport }> {
  const messages = readSnapshot(transcript.path, (old) => readContext(transcript, old).messages.slice().map(loaded));
  const ends = messages.flatMap((message, index) =>
    transcript.wire.read(message).role === "assistant" ? [index] : [],
  );
  // The request after the last answer has not been sent yet.
  const end = request === ends.length + 1 ? messages.length : ends[request - 1];
  if (end === undefined) {
    throw badInput(`--request takes 1 to ${ends.length + 1} here; got ${request}`);
  }
  return spillway.prepare(messages.slice(0, end), { ...options, wire: transcript.wire.name });
}

/** Lightens the old results of a transcript as its next request would show them. */
export async function pruneFile(
  transcript: Transcript,
  spillway: Spillway,
  options: PrepareOptions & {
    by?: "edits" | "rewrite" | undefined;
    dryRun: boolean;
    partMessages?: number | undefined;
  },
): Promise<PruneFileReport> {
  const { by, dryRun, partMessages, ...prepare } = options;
  const { path, kind, wire } = transcript;
  let report: PruneReport | null = null;
  let changed = 0;
  const prune = async function* (old: Snapshot): AsyncGenerator<Pruned> {
    changed = 0;
    const { messages } = readContext(transcript, old);
    // What is not in the file's order cannot be written as it comes.
    const isWhole = !(messages instanceof StoredLines && messages.isInOrder);
    const parts = { ...prepare, partMessages: isWhole ? messages.length : partMessages };
    report = yield* pruneInParts(messages, wire, spillway, parts);
  };
  const usesEdits = kind === "entries" && (by ?? (readSnapshot(path, knowsEdits) ? "edits" : "rewrite")) === "edits";
  let done: { backup: string | null; appendedBytes: number } = { backup: null, appendedBytes: 0 };
  if (usesEdits) {
    await appendEdits(path, dryRun, async function* (old) {
      for await (const part of prune(old)) {
        for (const { line, message } of changesOf(part)) {
          changed++;
          yield { targetId: String(line.id), content: (loaded(message) as { content?: unknown }).content };
        }
      }
    });
  } else {
    const make = async (old: Snapshot, sink: Sink): Promise<boolean> => {
      let at = 0;
      for await (const part of prune(old)) {
        if (kind === "document") {
          changed = part.after.filter((message, index) => message !== part.before[index]).length;
          sink.write(readDocument(path, old, wire).text(part.after));
          continue;
        }
        const changes = [...changesOf(part)].sort((a, b) => a.line.place.from - b.line.place.from);
        for (const change of changes) {
          const text = textOf(old, change);
          if (text === null) continue;
          const { from, to } = change.line.place;
          // Lines that do not change are copied unread.
          sink.copy(at, from);
          sink.write(text);
          at = to;
          changed++;
        }
      }
      if (kind !== "document") sink.copy(at, old.bytes);
      return changed > 0;
    };
    done = dryRun ? await tryOut(path, make) : await rewriteFile(path, make);
  }
  if (report === null) throw new Error("the transcript was not read");
  return { by: usesEdits ? "edits" : "rewrite", changed, report, ...done };
}

/** A message in its new form, and the line that it comes from. */
interface Change {
  line: StoredLine;
  message: unknown;
}

function* changesOf({ before, after }: Pruned): Generator<Change> {
  for (const [index, line] of before.entries()) {
    const message = after[index];
    if (message !== line && line instanceof StoredLine) yield { line, message };
  }
}

/** A changed line. Null if it holds bytes that JSON cannot write: what is shown of them is not what they are. */
function textOf({ descriptor }: Snapshot, { line: { place }, message }: Change): string | null {
  for (const line of readLines(descriptor, place.from, place.to)) {
    const value = parseLine(line);
    if (value === undefined) return null;
    const now = loaded(message);
    const isWrapped = isEntry(value) || isPlainEntry(value);
    return `${JSON.stringify(isWrapped ? { ...(value as object), message: now } : now)}${breakOf(line)}`;
  }
  return null;
}
