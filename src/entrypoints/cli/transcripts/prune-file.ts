import { badInput } from "../../../errors.ts";
import type { PrepareOptions, PruneReport, Spillway } from "../../../index.ts";
import { loaded } from "../../../wire/stored-message.ts";
import { appendEdits } from "./append-edits.ts";
import { isEntry, isPlainEntry, surveyEntries } from "./entries.ts";
import { readDocument, readSnapshot, type Transcript, tryOut } from "./open-transcript.ts";
import { type Context, readContext, type Source } from "./read-context.ts";
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
  const messages = readSnapshot(transcript.path, (old) => readContext(transcript, old).messages.map(loaded));
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
  options: PrepareOptions & { by?: "edits" | "rewrite" | undefined; dryRun: boolean },
): Promise<PruneFileReport> {
  const { by, dryRun, ...prepare } = options;
  const { path, kind, wire } = transcript;
  let made: Pruned | null = null;
  const prune = async (old: Snapshot): Promise<Pruned> => {
    const context = readContext(transcript, old);
    const { messages, report } = await spillway.prepare(context.messages, { ...prepare, wire: wire.name });
    made = { messages, report, changes: changesOf(context, messages) };
    return made;
  };
  const usesEdits =
    kind === "entries" && (by ?? (readSnapshot(path, surveyEntries).hasEdits ? "edits" : "rewrite")) === "edits";
  let done: { backup: string | null; appendedBytes: number } = { backup: null, appendedBytes: 0 };
  if (usesEdits) {
    await appendEdits(path, dryRun, async function* (old) {
      for (const { source, message } of (await prune(old)).changes) {
        yield { targetId: String(source.id), content: (loaded(message) as { content?: unknown }).content };
      }
    });
  } else {
    const make = async (old: Snapshot, sink: Sink): Promise<boolean> => {
      const pruned = await prune(old);
      if (kind === "document") sink.write(readDocument(path, old, wire).text(pruned.messages));
      else writeLines(old, sink, pruned.changes);
      return pruned.changes.length > 0;
    };
    done = dryRun ? await tryOut(path, make) : await rewriteFile(path, make);
  }
  const pruned = made as Pruned | null;
  if (pruned === null) throw new Error("the transcript was not read");
  return { by: usesEdits ? "edits" : "rewrite", changed: pruned.changes.length, report: pruned.report, ...done };
}

interface Pruned {
  messages: unknown[];
  report: PruneReport;
  changes: Change[];
}

/** A message in its new form, and where it comes from. */
interface Change {
  source: Source;
  message: unknown;
}

function changesOf({ messages, sources }: Context, prepared: readonly unknown[]): Change[] {
  return sources.flatMap((source, index) => {
    const message = prepared[index];
    return source !== null && message !== messages[index] ? [{ source, message }] : [];
  });
}

/** Writes the file with these changes. Lines that do not change are copied unread. */
function writeLines({ descriptor, bytes }: Snapshot, sink: Sink, changes: readonly Change[]): void {
  let at = 0;
  for (const { source, message } of changes.toSorted((a, b) => a.source.from - b.source.from)) {
    sink.copy(at, source.from);
    for (const line of readLines(descriptor, source.from, source.to)) {
      const value = parseLine(line);
      const now = loaded(message);
      const isWrapped = isEntry(value) || isPlainEntry(value);
      sink.write(`${JSON.stringify(isWrapped ? { ...(value as object), message: now } : now)}${breakOf(line)}`);
    }
    at = source.to;
  }
  sink.copy(at, bytes);
}
