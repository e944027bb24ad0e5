import type { WireMessage } from "../../../contract/wire.ts";
import { pairResults } from "../../../wire/pair-results.ts";
import { type Entry, isEntry, isHeader } from "./entries.ts";
import { readDocument, type Transcript, tryOut } from "./open-transcript.ts";
import { breakOf, isBlank, type Line, parseLine, readLines } from "./read-lines.ts";
import { rewriteFile, type Sink, type Snapshot } from "./rewrite-file.ts";

/** What shortening a transcript did, or would do. */
export interface CompactReport {
  /** Lines, or messages of a JSON file, before and after. */
  before: number;
  after: number;
  /** Results that went because their call did. */
  droppedResults: number;
  /** Entries whose parent or other reference had to be set anew. */
  repaired: number;
  bytesBefore: number;
  bytesAfter: number;
  backup: string | null;
  appendedBytes: number;
}

type Counts = Omit<CompactReport, "backup" | "appendedBytes">;

/** Shortens a transcript to its header and its last lines. */
export async function compactFile(
  transcript: Transcript,
  { maxLines, dryRun }: { maxLines: number; dryRun: boolean },
): Promise<CompactReport> {
  let counts: Counts | null = null;
  const make = async (old: Snapshot, sink: Sink): Promise<boolean> => {
    counts =
      transcript.kind === "document"
        ? compactDocument(transcript, old, sink, maxLines)
        : compactLines(transcript, old, sink, maxLines);
    return counts.after < counts.before;
  };
  const done = dryRun ? await tryOut(transcript.path, make) : await rewriteFile(transcript.path, make);
  const made = counts as Counts | null;
  if (made === null) throw new Error("the transcript was not read");
  return { ...made, ...done, bytesAfter: made.bytesAfter + done.appendedBytes };
}

function compactDocument({ path, wire }: Transcript, old: Snapshot, sink: Sink, maxLines: number): Counts {
  const document = readDocument(path, old, wire);
  const views = document.messages.map((message) => wire.read(message));
  const border = borderOf(views.length, maxLines, views[0]?.role === "system");
  const isKept = (index: number) => (border.hasHeader && index === 0) || index >= border.from;
  const crossing = new Set(crossed(views, border.from));
  const kept = document.messages.filter((_, index) => isKept(index) && !crossing.has(index));
  const text = document.text(kept);
  sink.write(text);
  return {
    before: views.length,
    after: kept.length,
    droppedResults: crossing.size,
    repaired: 0,
    bytesBefore: old.bytes,
    bytesAfter: Buffer.byteLength(text),
  };
}

/** From which one of `total` on everything is kept. */
function borderOf(total: number, maxLines: number, hasHeader: boolean): { from: number; hasHeader: boolean } {
  const header = hasHeader && maxLines > 0 ? 1 : 0;
  return { from: total <= maxLines ? 0 : total - (maxLines - header), hasHeader: header === 1 };
}

/** Messages behind the border whose calls stand before it. */
function crossed(views: readonly WireMessage[], border: number): number[] {
  return pairResults(views)
    .filter(({ message, callMessage }) => message >= border && callMessage !== null && callMessage < border)
    .map(({ message }) => message);
}

function compactLines({ kind, wire }: Transcript, old: Snapshot, sink: Sink, maxLines: number): Counts {
  const { descriptor, bytes } = old;
  const lines = function* (): Generator<[index: number, line: Line]> {
    let index = 0;
    for (const line of readLines(descriptor, 0, bytes)) if (!isBlank(line)) yield [index++, line];
  };
  let before = 0;
  let hasHeader = false;
  for (const [index, line] of lines()) {
    before = index + 1;
    if (index > 0) continue;
    const first = parseLine(line);
    hasHeader = kind === "entries" ? isHeader(first) : wire.read(first).role === "system";
  }
  const border = borderOf(before, maxLines, hasHeader);
  const counts: Counts = {
    before,
    after: before,
    droppedResults: 0,
    repaired: 0,
    bytesBefore: bytes,
    bytesAfter: bytes,
  };
  if (border.from === 0) return counts;

  // Results behind the border without a call there: those whose call stands before it go with it.
  const open = new Map<string, number>();
  const orphans = new Map<number, string[]>();
  for (const [index, line] of lines()) {
    if (index < border.from) continue;
    const view = wire.read(parseLine(line));
    for (const { id } of view.calls) if (id !== null) open.set(id, (open.get(id) ?? 0) + 1);
    for (const { id } of view.results) {
      if (id === null) continue;
      if ((open.get(id) ?? 0) > 0) open.set(id, (open.get(id) ?? 0) - 1);
      else orphans.set(index, [...(orphans.get(index) ?? []), id]);
    }
  }
  const called = new Set<string>();
  const wanted = new Set([...orphans.values()].flat());
  for (const [index, line] of lines()) {
    if (index >= border.from || wanted.size === 0) break;
    if (line.bytes === null || ![...wanted].some((id) => Buffer.from(line.bytes as Uint8Array).includes(id))) continue;
    for (const { id } of wire.read(parseLine(line)).calls) if (id !== null && wanted.has(id)) called.add(id);
  }

  const compact = startCompact(border.from - (border.hasHeader ? 1 : 0));
  counts.after = 0;
  counts.bytesAfter = 0;
  for (const [index, line] of lines()) {
    const isTop = border.hasHeader && index === 0;
    if (!isTop && index < border.from) continue;
    const value = isTop ? undefined : parseLine(line);
    if (orphans.get(index)?.some((id) => called.has(id))) {
      counts.droppedResults++;
      compact.drop(value);
      continue;
    }
    const made = kind === "entries" ? compact.keep(value) : "same";
    if (made === "dropped") continue;
    counts.after++;
    if (made === "same") {
      sink.copy(line.from, line.to);
      counts.bytesAfter += line.to - line.from;
    } else {
      const text = `${JSON.stringify(made)}${breakOf(line)}`;
      sink.write(text);
      counts.repaired++;
      counts.bytesAfter += Buffer.byteLength(text);
    }
  }
  return counts;
}

/** Entries that are kept one after another, their references set to what is still there. */
interface EntryCompact {
  /** The entry changed, or "same"; "dropped" for one that only spoke of an entry that is gone. */
  keep(value: unknown): object | "same" | "dropped";
  /** Takes note of an entry that goes: its children get its parent. */
  drop(value: unknown): void;
}

/** What pi writes for a summary of a branch from the root. */
const ROOT = "root";

/**
 * Starts with no entry kept: parents that are not met are gone, and their children begin anew. `gone` is how many lines went
 * before the first: the oldest sessions are plain lists, and name entries by their place.
 */
function startCompact(gone: number): EntryCompact {
  let shift = gone;
  /** Kept entries and their parents. */
  const kept = new Map<string, string | null>();
  const redirects = new Map<string, string | null>();

  /** The nearest entry from there up that is kept; null for none. */
  function nearest(id: string | null): string | null {
    let at = id;
    while (at !== null && !kept.has(at)) at = redirects.get(at) ?? null;
    return at;
  }

  /** The oldest kept entry above one. */
  function oldest(parentId: string | null): string | null {
    let top: string | null = null;
    for (let at = parentId; at !== null; at = kept.get(at) ?? null) top = at;
    return top;
  }

  function drop(value: unknown): void {
    shift++;
    if (isEntry(value)) redirects.set(value.id, nearest(value.parentId));
  }

  /** Fields that name other entries, where they have to change; null if the entry is of no use without them. */
  function references(entry: Entry, parentId: string | null): Record<string, unknown> | null {
    const { type, targetId, fromId, firstKeptEntryId } = entry;
    const isGone = (id: unknown): id is string => typeof id === "string" && !kept.has(id) && id !== entry.id;
    const changed: Record<string, unknown> = {};
    if (isGone(targetId)) {
      if (type !== "leaf") return null;
      changed.targetId = nearest(targetId);
    }
    if (isGone(fromId) && fromId !== ROOT) changed.fromId = nearest(fromId) ?? ROOT;
    // What was kept from there on is what is left above; the entry itself means nothing.
    if (isGone(firstKeptEntryId)) changed.firstKeptEntryId = oldest(parentId) ?? entry.id;
    return changed;
  }

  return {
    drop,
    keep(value) {
      if (!isEntry(value)) return withPlace(value, shift);
      const parentId = nearest(value.parentId);
      const changed = references(value, parentId);
      if (changed === null) {
        drop(value);
        return "dropped";
      }
      kept.set(value.id, parentId);
      const isSame = parentId === value.parentId && Object.keys(changed).length === 0;
      return isSame ? "same" : { ...value, parentId, ...changed };
    },
  };
}

/** The first entry is the header. */
function withPlace(value: unknown, shift: number): object | "same" {
  const { firstKeptEntryIndex: place } = (value ?? {}) as { firstKeptEntryIndex?: unknown };
  if (typeof value !== "object" || typeof place !== "number") return "same";
  return { ...value, firstKeptEntryIndex: Math.max(1, place - shift) };
}
