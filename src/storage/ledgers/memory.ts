import type { RecordedEvent } from "../../contract/event.ts";
import type {
  EventQuery,
  Ledger,
  Projection,
  SessionQuery,
  SessionRow,
  StatQuery,
  StatRow,
  Totals,
} from "../../contract/ledger.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { storedName } from "../stored-name.ts";
import { addTotals, type EventForm, eventForm, hourOf, NO_TOTALS, pageSize, readEventForm } from "./event-form.ts";

/** Sets the bounds of a ledger in memory. */
export interface MemoryLedgerOptions {
  /**
   * The most events it holds, and also the most sums, sessions and projections. If there are more, the oldest are
   * removed.
   */
  maxEvents?: number;
}

interface Rollup {
  hourMs: number;
  tool: string | null;
  session: string | null;
  totals: Totals;
}
type Seen = Pick<SessionRow, "session" | "firstSeenMs" | "lastSeenMs" | "pinned">;

/** Keeps events in this process's memory. It is for tests and for agents that end with their process. */
export function memoryLedger({ maxEvents = NUMBERS.memoryLedgerEvents.default }: MemoryLedgerOptions = {}): Ledger {
  const events = new Map<number, EventForm>();
  const rollups = new Map<string, Rollup>();
  const sessions = new Map<string, Seen>();
  const projections = new Map<string, Projection>();
  let lastId = 0;

  function addSums({ atMs, tool, session, sums }: EventForm): void {
    const hourMs = hourOf(atMs);
    const key = JSON.stringify([hourMs, tool, session]);
    const before = rollups.get(key)?.totals ?? NO_TOTALS;
    rollups.set(key, { hourMs, tool, session, totals: addTotals(before, sums) });
    bound(rollups, maxEvents);
  }

  function see(session: string, atMs: number): void {
    const { firstSeenMs = atMs, lastSeenMs = atMs, pinned = false } = sessions.get(session) ?? {};
    // Inserts the session again at the end, so that the first one in the map is the one that was not seen for longest.
    sessions.delete(session);
    sessions.set(session, {
      session,
      firstSeenMs: Math.min(firstSeenMs, atMs),
      lastSeenMs: Math.max(lastSeenMs, atMs),
      pinned,
    });
    bound(sessions, maxEvents, ({ pinned }) => !pinned);
  }

  function statsBy(query: StatQuery): StatRow[] {
    const { by } = query;
    const about = {
      tool: query.tool === undefined ? null : storedName(query.tool),
      session: query.session === undefined ? null : storedName(query.session),
    };
    const rows = new Map<string | number | null, StatRow>(by === "all" ? [[null, { ...about, ...NO_TOTALS }]] : []);
    for (const rollup of rollups.values()) {
      if (!isCounted(rollup, query)) continue;
      const { hourMs, totals } = rollup;
      const name = by === "all" ? null : by === "hour" ? hourMs : rollup[by];
      const own = by === "all" ? {} : by === "hour" ? { hourMs } : { [by]: rollup[by] };
      rows.set(name, { ...about, ...own, ...addTotals(rows.get(name) ?? NO_TOTALS, totals) });
    }
    const most = NUMBERS.ledgerPage.ceiling;
    if (by === "hour") return [...rows.values()].sort((a, b) => (a.hourMs ?? 0) - (b.hourMs ?? 0)).slice(-most);
    return [...rows.values()]
      .sort(
        (a, b) =>
          b.calls - a.calls ||
          compare(a[by === "tool" ? by : "session"] ?? "", b[by === "tool" ? by : "session"] ?? ""),
      )
      .slice(0, most);
  }

  function sessionsBy({ session, after, max }: SessionQuery): SessionRow[] {
    const sums = new Map(statsBy({ by: "session" }).map(({ tool: _tool, session, ...totals }) => [session, totals]));
    const order = (a: Pick<SessionRow, "session" | "lastSeenMs">, b: typeof a) =>
      b.lastSeenMs - a.lastSeenMs || compare(a.session, b.session);
    const name = session === undefined ? undefined : storedName(session);
    return [...sessions.values()]
      .filter((seen) => name === undefined || seen.session === name)
      .filter((seen) => after === undefined || order(seen, after) > 0)
      .sort(order)
      .slice(0, pageSize(max))
      .map((seen) => ({ ...NO_TOTALS, ...sums.get(seen.session), ...seen }));
  }

  return {
    name: "memory",
    async record(event) {
      const form = eventForm(event);
      lastId += 1;
      events.set(lastId, form);
      bound(events, maxEvents);
      if (Object.values(form.sums).some((sum) => sum !== 0)) addSums(form);
      if (form.session !== null && form.usesSession) see(form.session, form.atMs);
    },
    async events(query = {}) {
      const max = pageSize(query.max);
      const page: RecordedEvent[] = [];
      for (const [id, form] of query.order === "newest" ? [...events].reverse() : events) {
        if (page.length >= max) break;
        if (matches(id, form, query)) page.push(readEventForm(id, form));
      }
      return page;
    },
    stats: async (query) => statsBy(query),
    sessions: async (query = {}) => sessionsBy(query),
    async pin(session, pinned) {
      const name = storedName(session);
      if (name === null) return;
      if (!sessions.has(name)) see(name, Date.now());
      const seen = sessions.get(name);
      if (seen) sessions.set(name, { ...seen, pinned });
    },
    async removeSession(session) {
      if (session === "") return 0;
      const name = storedName(session);
      const before = events.size;
      for (const map of [events, rollups, sessions, projections] as Map<unknown, { session?: string | null }>[]) {
        for (const [key, value] of map) if ((value.session ?? null) === name) map.delete(key);
      }
      return before - events.size;
    },
    async projection(key) {
      const found = projections.get(key);
      return found === undefined ? null : { ...found };
    },
    async saveProjection({ key, text, step, session }) {
      const before = projections.get(key);
      if (before !== undefined && before.step >= step) return;
      projections.set(key, { key, text, step, session: before?.session ?? storedName(session) });
      bound(projections, maxEvents);
    },
    async close() {},
  };
}

function matches(id: number, form: EventForm, query: EventQuery): boolean {
  const { afterId = 0, beforeId = Infinity, kinds, sinceMs = -Infinity } = query;
  if (id <= afterId || id >= beforeId || form.atMs < sinceMs) return false;
  for (const name of ["session", "tool", "call", "artifact"] as const) {
    if (query[name] !== undefined && form[name] !== storedName(query[name])) return false;
  }
  return kinds === undefined || (kinds as string[]).includes(form.kind);
}

function isCounted(rollup: Rollup, { session, tool, sinceMs, untilMs }: StatQuery): boolean {
  if (sinceMs !== undefined && rollup.hourMs < hourOf(sinceMs)) return false;
  if (untilMs !== undefined && rollup.hourMs >= untilMs) return false;
  if (tool !== undefined && rollup.tool !== storedName(tool)) return false;
  return session === undefined || rollup.session === storedName(session);
}

function bound<Key, Value>(map: Map<Key, Value>, max: number, mayGo: (value: Value) => boolean = () => true): void {
  if (map.size <= max) return;
  for (const [key, value] of map) {
    if (mayGo(value)) {
      map.delete(key);
      return;
    }
  }
}

// Compares by code units. For most names this is SQLite's binary order.
function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
