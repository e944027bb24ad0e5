import { readSync } from "node:fs";
import type { MessageSource } from "../../../histories/histories.ts";
import { isEntry, isPlainEntry } from "./entries.ts";
import { readDocument, type Transcript } from "./open-transcript.ts";
import { isBlank, parseLine, readLines } from "./read-lines.ts";
import type { Snapshot } from "./rewrite-file.ts";

/** A transcript's messages, which are read when they are asked for, and the place of a message by its id. */
export interface FileMessages {
  messages: MessageSource;
  /** The place of the message with this id, or whose entry has it; null if there is none. */
  placeOf(id: string): number | null;
}

interface Place {
  from: number;
  to: number;
  id: string | null;
}

/** The roles with which a model gets entries that are not messages. */
const ROLES: Record<string, string> = { compaction: "compactionSummary", branch_summary: "branchSummary" };

/** Finds the messages of a transcript; for a session, those of its current branch. Holds their places, not their contents. */
export function messagesOf(transcript: Transcript, snapshot: Snapshot): FileMessages {
  if (transcript.kind === "document") {
    const { messages } = readDocument(transcript.path, snapshot, transcript.wire);
    return { messages, placeOf: () => null };
  }
  const places = transcript.kind === "entries" ? branchPlaces(snapshot) : linePlaces(snapshot);
  const read = (index: number): unknown => {
    const place = places[index];
    if (place === undefined) return undefined;
    const bytes = Buffer.allocUnsafe(place.to - place.from);
    readSync(snapshot.descriptor, bytes, 0, bytes.length, place.from);
    return messageIn(parseLine({ ...place, bytes, hasBreak: true }));
  };
  return {
    messages: { length: places.length, at: read },
    placeOf(id) {
      const at = places.findLastIndex((place) => place.id === id);
      return at < 0 ? null : at;
    },
  };
}

function messageIn(value: unknown): unknown {
  if (!isEntry(value)) return isPlainEntry(value) ? value.message : value;
  const role = ROLES[value.type];
  return role === undefined ? value.message : { role, summary: value.summary, timestamp: value.timestamp };
}

function linePlaces({ descriptor, bytes }: Snapshot): Place[] {
  const places: Place[] = [];
  for (const line of readLines(descriptor, 0, bytes)) {
    if (isBlank(line)) continue;
    const value = parseLine(line) as { id?: unknown } | null | undefined;
    if (typeof value !== "object" || value === null) continue;
    places.push({ from: line.from, to: line.to, id: typeof value.id === "string" ? value.id : null });
  }
  return places;
}

function branchPlaces({ descriptor, bytes }: Snapshot): Place[] {
  const entries = new Map<string, Place & { parentId: string | null; isMessage: boolean }>();
  const linear: Place[] = [];
  let leaf: string | null = null;
  for (const line of readLines(descriptor, 0, bytes)) {
    const entry = isBlank(line) ? undefined : parseLine(line);
    const { from, to } = line;
    if (isEntry(entry)) {
      const isMessage = entry.type === "message" || (entry.type in ROLES && typeof entry.summary === "string");
      entries.set(entry.id, { from, to, id: entry.id, parentId: entry.parentId, isMessage });
      leaf = entry.type !== "leaf" ? entry.id : typeof entry.targetId === "string" ? entry.targetId : null;
    } else if (isPlainEntry(entry)) linear.push({ from, to, id: null });
  }
  // The oldest sessions are plain lists.
  if (entries.size === 0) return linear;
  const places: Place[] = [];
  for (let at = leaf === null ? undefined : entries.get(leaf); at !== undefined && places.length <= entries.size; ) {
    if (at.isMessage) places.push({ from: at.from, to: at.to, id: at.id });
    at = at.parentId === null ? undefined : entries.get(at.parentId);
  }
  return places.reverse();
}
