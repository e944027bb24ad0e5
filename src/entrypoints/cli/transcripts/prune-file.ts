import { badInput } from "../../../errors.ts";
import type { PrepareOptions, PruneReport, Spillway } from "../../../index.ts";
import { loaded } from "../../../wire/stored-message.ts";
import { appendEdits } from "./append-edits.ts";
import { isEntry, isPlainEntry, knowsEdits } from "./entries.ts";
import { readDocument, readSnapshot, type Transcript, tryOut } from "./open-transcript.ts";
import { readContext, StoredLine } from "./read-context.ts";
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
  let report: PruneReport | null = null;
  let changed = 0;
  const prune = async (old: Snapshot): Promise<Pruned> => {
    const { messages } = readContext(transcript, old);
    const prepared = await spillway.prepare(messages, { ...prepare, wire: wire.name });
    report = prepared.report;
    changed = 0;
    return { before: messages, after: prepared.messages };
  };
  const usesEdits = kind === "entries" && (by ?? (readSnapshot(path, knowsEdits) ? "edits" : "rewrite")) === "edits";
  let done: { backup: string | null; appendedBytes: number } = { backup: null, appendedBytes: 0 };
  if (usesEdits) {
    await appendEdits(path, dryRun, async function* (old) {
      for (const { line, message } of changesOf(await prune(old))) {
        changed++;
        yield { targetId: String(line.id), content: (loaded(message) as { content?: unknown }).content };
      }
    });
  } else {
    const make = async (old: Snapshot, sink: Sink): Promise<boolean> => {
      const pruned = await prune(old);
      if (kind !== "document") changed = writeLines(old, sink, [...changesOf(pruned)]);
      else {
        changed = pruned.after.filter((message, index) => message !== pruned.before[index]).length;
        sink.write(readDocument(path, old, wire).text(pruned.after));
      }
      return changed > 0;
    };
    done = dryRun ? await tryOut(path, make) : await rewriteFile(path, make);
  }
  if (report === null) throw new Error("the transcript was not read");
  return { by: usesEdits ? "edits" : "rewrite", changed, report, ...done };
}

/** Messages as they were, and as they are now. */
interface Pruned {
  before: readonly unknown[];
  after: readonly unknown[];
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

/** Writes the file with these changes, and says how many. Lines that do not change are copied unread. */
function writeLines({ descriptor, bytes }: Snapshot, sink: Sink, changes: Change[]): number {
  let at = 0;
  let changed = 0;
  for (const { line: stored, message } of changes.sort((a, b) => a.line.place.from - b.line.place.from)) {
    const { from, to } = stored.place;
    for (const line of readLines(descriptor, from, to)) {
      const value = parseLine(line);
      // It holds bytes that JSON cannot write: what is shown of them is not what they are.
      if (value === undefined) continue;
      sink.copy(at, from);
      const now = loaded(message);
      const isWrapped = isEntry(value) || isPlainEntry(value);
      sink.write(`${JSON.stringify(isWrapped ? { ...(value as object), message: now } : now)}${breakOf(line)}`);
      at = to;
      changed++;
    }
  }
  sink.copy(at, bytes);
  return changed;
}
