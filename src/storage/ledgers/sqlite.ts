import type { Ledger, Projection } from "../../contract/ledger.ts";
import type { Database } from "../local/open-database.ts";
import { storedName } from "../stored-name.ts";
import { type EventForm, eventForm } from "./event-form.ts";
import { hourOf } from "./hours-and-pages.ts";
import { SUM_COLUMNS, selectEvents, selectProjection, selectSessions, selectStats } from "./ledger-queries.ts";

const SUM_NAMES = Object.keys(SUM_COLUMNS) as (keyof typeof SUM_COLUMNS)[];
const COLUMNS = SUM_NAMES.map((name) => SUM_COLUMNS[name]);

const ADD_EVENT =
  "insert into events (kind, at_ms, session, tool, call, artifact, receipt, more) values (?, ?, ?, ?, ?, ?, ?, ?)";
const ADD_SUMS =
  `insert into rollups (hour_ms, tool, session, ${COLUMNS.join(", ")}) values (?, ?, ?${", ?".repeat(COLUMNS.length)}) ` +
  `on conflict (session, hour_ms, tool) do update set ` +
  COLUMNS.map((column) => `${column} = ${column} + excluded.${column}`).join(", ");
// Clocks jump: a session was first seen at the earliest time and last seen at the latest, in whatever order they come.
const SEE_SESSION =
  "insert into sessions (session, first_seen_ms, last_seen_ms, pinned) values (?, ?, ?, 0) on conflict (session) do " +
  "update set first_seen_ms = min(first_seen_ms, excluded.first_seen_ms), " +
  "last_seen_ms = max(last_seen_ms, excluded.last_seen_ms)";
const PIN_SESSION =
  "insert into sessions (session, first_seen_ms, last_seen_ms, pinned) values (?, ?, ?, ?) on conflict (session) do " +
  "update set pinned = excluded.pinned";
const SAVE_PROJECTION =
  "insert into projections (key, session, at_ms, text, step) values (?, ?, ?, ?, ?) on conflict (key) do " +
  "update set text = excluded.text, step = excluded.step, at_ms = excluded.at_ms, " +
  "session = coalesce(projections.session, excluded.session) where excluded.step > projections.step";
// Not artifact_sessions: that is how the store finds what belonged to the session.
const OF_SESSION = ["events", "rollups", "sessions", "projections"] as const;

/** A ledger in the local database. It does not own the database: closing the ledger closes neither it nor the store on it. */
export function sqliteLedger(database: Database): Ledger {
  const { kysely, raw } = database;
  const addEvent = raw.prepare(ADD_EVENT);
  const addSums = raw.prepare(ADD_SUMS);
  const seeSession = raw.prepare(SEE_SESSION);

  const write = (form: EventForm): void => {
    const { kind, atMs, session, tool, call, artifact, receipt, more, sums } = form;
    addEvent.run(kind, atMs, session, tool, call, artifact, receipt, more);
    const values = SUM_NAMES.map((name) => sums[name]);
    if (values.some((value) => value !== 0)) addSums.run(hourOf(atMs), tool ?? "", session ?? "", ...values);
    if (session !== null) seeSession.run(session, atMs, atMs);
  };

  // What is recorded without waiting in between is one transaction: an output's events cost as much as one.
  let waiting: EventForm[] = [];
  let written: Promise<void> = Promise.resolve();
  const flush = async (): Promise<void> => {
    await Promise.resolve();
    const forms = waiting;
    waiting = [];
    await database.write(() => {
      for (const form of forms) write(form);
    });
  };

  return {
    name: "sqlite",
    async record(event) {
      waiting.push(eventForm(event));
      if (waiting.length === 1) written = flush();
      return written;
    },
    events: (query = {}) => selectEvents(kysely, query),
    stats: (query) => selectStats(kysely, query),
    sessions: (max) => selectSessions(kysely, max),
    async pin(session, pinned) {
      const nowMs = Date.now();
      const name = storedName(session);
      if (name !== null) await database.write(() => raw.prepare(PIN_SESSION).run(name, nowMs, nowMs, pinned ? 1 : 0));
    },
    async removeSession(session) {
      if (session === "") return 0;
      const name = storedName(session);
      return database.write(() => {
        const [events = 0] = OF_SESSION.map(
          // Sums of no session have an empty name, which no session has.
          (table) =>
            raw.prepare(`delete from ${table} where session is ?`).run(table === "rollups" ? (name ?? "") : name)
              .changes,
        );
        return events;
      });
    },
    projection: (key) => selectProjection(kysely, key),
    async saveProjection({ key, text, step, session }: Projection) {
      const name = storedName(session);
      const values = [storedName(key) ?? "", name, Date.now(), JSON.stringify(text), step] as const;
      await database.write(() => raw.prepare(SAVE_PROJECTION).run(...values));
    },
    async close() {},
  };
}
