import type { Wire, WireMessage } from "../../contract/wire.ts";
import { pairResults } from "../../wire/pair-results.ts";

/** Messages by their index, read when they are needed. A list is one. */
export type MessageSource = Pick<readonly unknown[], "length" | "at">;

/** A stretch of messages, from `from` to before `to`. */
export interface Stretch {
  from: number;
  to: number;
}

/** How far a call and its result can be apart. They are closer in every conversation that we know. */
const MAX_LOOK = 200;

/**
 * Returns the stretch without results whose call is left out, and without calls whose results are left out. The borders
 * move inwards past them, but not past `keep`. A result that never had a call stays.
 */
export function settlePairs(
  source: MessageSource,
  wire: Wire | null,
  { from, to }: Stretch,
  keep: number | null,
): Stretch {
  if (wire === null) return { from, to };
  const views = new Map<number, WireMessage>();
  const view = (index: number): WireMessage => {
    const known = views.get(index) ?? wire.read(source.at(index));
    views.set(index, known);
    return known;
  };
  let first = from;
  let last = to;
  for (;;) {
    const stretch = Array.from({ length: last - first }, (_, index) => view(first + index));
    const nextFirst = Math.min(keep ?? last, afterOrphans(stretch, first, view));
    // The calls of the newest messages may not have been answered yet.
    const nextLast = keep === null ? last : Math.max(keep + 1, beforeUnanswered(stretch, first, source.length, view));
    if (nextFirst === first && nextLast === last) return { from: first, to: last };
    first = nextFirst;
    last = nextLast;
  }
}

/** Returns where the stretch begins without the results whose calls are before it. */
function afterOrphans(stretch: readonly WireMessage[], first: number, view: (index: number) => WireMessage): number {
  const orphans = new Map<string, number>();
  for (const { message, result, call } of pairResults(stretch)) {
    if (call === null) orphans.set(keyOf(result.id, result.tool), first + message);
  }
  let begin = first;
  for (let index = first - 1; orphans.size > 0 && index >= Math.max(0, first - MAX_LOOK); index--) {
    for (const { id, tool } of view(index).calls) {
      for (const key of [keyOf(id, tool), keyOf(null, tool)]) {
        begin = Math.max(begin, (orphans.get(key) ?? -1) + 1);
        orphans.delete(key);
      }
    }
  }
  return begin;
}

/** Returns where the stretch ends without the calls whose results are after it. */
function beforeUnanswered(
  stretch: readonly WireMessage[],
  first: number,
  total: number,
  view: (index: number) => WireMessage,
): number {
  const last = first + stretch.length;
  const answered = new Set(pairResults(stretch).map(({ call }) => call));
  const open = new Map<string, number>();
  for (const [index, { calls }] of stretch.entries()) {
    for (const call of calls) if (!answered.has(call)) open.set(keyOf(call.id, call.tool), first + index);
  }
  let end = last;
  for (let index = last; open.size > 0 && index < Math.min(total, last + MAX_LOOK); index++) {
    for (const { id, tool } of view(index).results) {
      const key = keyOf(id, tool);
      end = Math.min(end, open.get(key) ?? end);
      open.delete(key);
    }
  }
  return end;
}

function keyOf(id: string | null, tool: string | null): string {
  return id === null ? `tool ${tool}` : `id ${id}`;
}
