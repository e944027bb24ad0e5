import type { Wire, WireMessage } from "../../../contract/wire.ts";
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
  /** Entries whose parent or other reference was set to another entry. */
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

/** The index from which on all of `total` lines are kept, and whether the header is kept too. */
function borderOf(total: number, maxLines: number, hasHeader: boolean): { from: number; hasHeader: boolean } {
  const header = hasHeader && maxLines > 0 ? 1 : 0;
  return { from: total <= maxLines ? 0 : total - (maxLines - header), hasHeader: header === 1 };
}

/** The indexes of messages after the border that have a result whose call stands before it. */
function crossed(views: readonly WireMessage[], border: number): number[] {
  return pairResults(views)
    .filter(({ message, callMessage }) => message >= border && callMessage !== null && callMessage < border)
    .map(({ message }) => message);
}

function compactLines(transcript: Transcript, old: Snapshot, sink: Sink, maxLines: number): Counts {
  const { kind, wire } = transcript;
  const { bytes } = old;
  const { total: before, hasHeader } = countLines(transcript, old);
  const border = borderOf(before, maxLines, hasHeader);
  const counts = { before, after: before, droppedResults: 0, repaired: 0, bytesBefore: bytes, bytesAfter: bytes };
  if (border.from === 0) return counts;

  // A result whose call goes is dropped with it.
  const orphans = orphansFrom(border.from, wire, old);
  const called = callsBefore(border.from, wire, old, new Set([...orphans.values()].flat()));
  const compact = startCompact(border.from - (border.hasHeader ? 1 : 0));
  counts.after = 0;
  counts.bytesAfter = 0;
  for (const [index, line] of filledLines(old)) {
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

/** The lines that are not blank, counted from 0. */
function* filledLines({ descriptor, bytes }: Snapshot): Generator<[index: number, line: Line]> {
  let index = 0;
  for (const line of readLines(descriptor, 0, bytes)) if (!isBlank(line)) yield [index++, line];
}

function countLines({ kind, wire }: Transcript, old: Snapshot): { total: number; hasHeader: boolean } {
  let total = 0;
  let hasHeader = false;
  for (const [index, line] of filledLines(old)) {
    total = index + 1;
    if (index > 0) continue;
    const first = parseLine(line);
    hasHeader = kind === "entries" ? isHeader(first) : wire.read(first).role === "system";
  }
  return { total, hasHeader };
}

/** The ids of results from the border on that have no call there before them, by the index of their line. */
function orphansFrom(border: number, wire: Wire, old: Snapshot): Map<number, string[]> {
  const open = new Map<string, number>();
  const orphans = new Map<number, string[]>();
  for (const [index, line] of filledLines(old)) {
    if (index < border) continue;
    const view = wire.read(parseLine(line));
    for (const { id } of view.calls) if (id !== null) open.set(id, (open.get(id) ?? 0) + 1);
    for (const { id } of view.results) {
      if (id === null) continue;
      if ((open.get(id) ?? 0) > 0) open.set(id, (open.get(id) ?? 0) - 1);
      else orphans.set(index, [...(orphans.get(index) ?? []), id]);
    }
  }
  return orphans;
}

/** Which of the wanted ids a call before the border has. A line is parsed only if its bytes have one of them. */
function callsBefore(border: number, wire: Wire, old: Snapshot, wanted: ReadonlySet<string>): Set<string> {
  const called = new Set<string>();
  for (const [index, line] of filledLines(old)) {
    if (index >= border || wanted.size === 0) break;
    if (line.bytes === null || ![...wanted].some((id) => Buffer.from(line.bytes as Uint8Array).includes(id))) continue;
    for (const { id } of wire.read(parseLine(line)).calls) if (id !== null && wanted.has(id)) called.add(id);
  }
  return called;
}

/** Takes entries one after another and sets their references to entries that are still there. */
interface EntryCompact {
  /** The changed entry, or "same"; "dropped" if the entry was only about an entry that is gone. */
  keep(value: unknown): object | "same" | "dropped";
  /** Notes an entry that is dropped: its children get its parent. */
  drop(value: unknown): void;
}

/** What pi writes as `fromId` in the summary of a branch that begins at the root. */
const ROOT = "root";

/**
 * Starts with no entry kept. An entry whose parent was not seen becomes a root. `gone` is how many lines were dropped before
 * the first entry: the oldest sessions are plain lists and name entries by their place.
 */
function startCompact(gone: number): EntryCompact {
  let shift = gone;
  /** Kept entries and their parents. */
  const kept = new Map<string, string | null>();
  const redirects = new Map<string, string | null>();

  /** The nearest kept entry from this one upwards; null if there is none. */
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

  /** The fields that name other entries and have to change; null if the entry is of no use without the one it names. */
  function references(entry: Entry, parentId: string | null): Record<string, unknown> | null {
    const { type, targetId, fromId, firstKeptEntryId } = entry;
    const isGone = (id: unknown): id is string => typeof id === "string" && !kept.has(id) && id !== entry.id;
    const changed: Record<string, unknown> = {};
    if (isGone(targetId)) {
      if (type !== "leaf") return null;
      changed.targetId = nearest(targetId);
    }
    if (isGone(fromId) && fromId !== ROOT) changed.fromId = nearest(fromId) ?? ROOT;
    // Everything that is left above was kept. If nothing is left, the entry names itself, which means that nothing was kept.
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

/** The entry with its place moved down, but not below 1, since place 0 is the header. */
function withPlace(value: unknown, shift: number): object | "same" {
  const { firstKeptEntryIndex: place } = (value ?? {}) as { firstKeptEntryIndex?: unknown };
  if (typeof value !== "object" || typeof place !== "number") return "same";
  return { ...value, firstKeptEntryIndex: Math.max(1, place - shift) };
}
