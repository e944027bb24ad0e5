import { type Entry, isEntry } from "./entries.ts";

/** Entries that are kept one after another, their references set to what is still there. */
export interface EntryCompact {
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
export function startCompact(gone: number): EntryCompact {
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
