import { createHash, randomBytes } from "node:crypto";
import type { Selectable } from "kysely";
import { badInput, messageOf, SpillwayError } from "../errors.ts";
import { type EventForm, eventForm, NO_TOTALS, readEventForm } from "./ledgers/event-form.ts";
import { eventWriter } from "./ledgers/sql.ts";
import { type ArtifactRow, seenSessions } from "./local/artifact-rows.ts";
import type { Local } from "./local/open-local.ts";
import type { EventTable, RollupTable } from "./local/schema.ts";
import { all, change, type Sql, type Steps } from "./sql.ts";

/** What a copy has done so far. Things that were there already are not counted as copied. */
export interface CopyReport {
  artifacts: number;
  bytes: number;
  /** Savings of artifacts that the target had already. */
  alreadyThere: number;
  events: number;
  sums: number;
  sessions: number;
  projections: number;
  /** Artifacts whose bytes could not be had. */
  left: { id: string; scope: string; reason: string }[];
}

/** How far a copy has come, as the target keeps it. */
interface Progress {
  /** Events up to this one are in the sums that were copied; later ones are added to them. */
  summed: number;
  /** The last event that was copied. */
  after: number;
  /** An event of the source, and what it says. A store that has the same one shares all events before it. */
  marked: number;
  mark: string;
  /** Events of the target up to this one may be the source's too, and are known by what they say. */
  sharedTo: number;
}

const PAGE = 500;
const AT_ONCE = 4;

/**
 * Copies everything of every scope to another store: artifacts with their ids, events, sums, sessions and frozen forms. A copy
 * that was ended may be repeated, and goes on where it was; so may a copy of a store that is still used. What the target has
 * already stays.
 */
export async function copyStore(from: Local, to: Local, tell: (report: CopyReport) => void): Promise<CopyReport> {
  const report: CopyReport = {
    artifacts: 0,
    bytes: 0,
    alreadyThere: 0,
    events: 0,
    sums: 0,
    sessions: 0,
    projections: 0,
    left: [],
  };
  await refuseSame(from.database, to.database);
  const secrets = await from.store.copying.secrets();
  const known = new Set((await to.store.copying.secrets()).map(hex));
  for (const secret of secrets) if (!known.has(hex(secret))) await to.store.copying.learn(secret);
  const name = await copyName(from, secrets);
  const isClone = name === (await copyName(to, await to.store.copying.secrets()));
  await copyArtifacts(from, to, report, tell);
  const progress = progressOf(to.database, name);
  const begun = await beginEvents(from.database, to.database, progress, isClone);
  report.sums = begun.sums;
  await copyEvents(from.database, to.database, { ...progress, at: begun.at }, (count) => {
    report.events += count;
    tell(report);
  });
  await copyRest(from, to, report);
  tell(report);
  return report;
}

const hex = (secret: Uint8Array) => Buffer.from(secret).toString("hex");

/** Asks the source for what was just written to the target, because one place can have many names. */
async function refuseSame(from: Sql, to: Sql): Promise<void> {
  const [name, value] = ["copying", randomBytes(16)];
  const settings = to.kysely.insertInto("settings").values({ name, value });
  await to.commit(() => change(settings.onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))));
  const [found] = await from.read(() =>
    all(from.kysely.selectFrom("settings").select("value").where("name", "=", name)),
  );
  await to.commit(() => change(to.kysely.deleteFrom("settings").where("name", "=", name)));
  if (found !== undefined && value.equals(found.value)) {
    throw badInput("--from and --to name the same store");
  }
}

/** The setting that says how far copies of a store have come. A folder that was copied by other means has the same name. */
async function copyName({ database }: Local, [own]: readonly Uint8Array[]): Promise<string> {
  const made = database.kysely.selectFrom("versions").select(({ fn }) => fn.min("applied_ms").as("at"));
  const [found] = await database.read(() => all(made));
  const hash = createHash("sha256").update(`${found?.at} ${own === undefined ? "" : hex(own)}`);
  return `copied ${hash.digest("hex").slice(0, 16)}`;
}

async function copyArtifacts(
  { store: { copying: source } }: Local,
  { store: { copying: target } }: Local,
  report: CopyReport,
  tell: (report: CopyReport) => void,
): Promise<void> {
  const copy = async (savings: ArtifactRow[]) => {
    for (const row of savings) {
      let isRead = false;
      let isFaulty = false;
      const ofSource = (error: unknown): never => {
        isFaulty = true;
        throw error;
      };
      const open = async () => {
        isRead = true;
        const { bytes, index } = await source.open(row).catch(ofSource);
        const read: typeof bytes.read = (...range) => bytes.read(...range).catch(ofSource);
        return { bytes: { bytes: bytes.bytes, read, close: () => bytes.close() }, index };
      };
      try {
        if (!(await target.take(row, open))) report.alreadyThere += 1;
      } catch (error) {
        // What the target refuses ends the copy. What the source cannot give is told at the end.
        const areOthers = isRead && SpillwayError.is(error) && error.code === "store-damaged";
        if (!isFaulty && !areOthers) throw error;
        report.left.push({ id: row.id, scope: row.scope, reason: messageOf(error) });
        return;
      }
      if (!isRead) continue;
      report.artifacts += 1;
      report.bytes += row.bytes;
    }
    tell(report);
  };
  for (let last: Pick<ArtifactRow, "key" | "saved_ms"> = { key: "", saved_ms: 0 }; ; ) {
    const page = await source.after(last, PAGE);
    const end = page.at(-1);
    if (end === undefined) return;
    last = end;
    const byKey = [...groupBy(page, ({ key }) => key).values()];
    for (let at = 0; at < byKey.length; at += AT_ONCE) await Promise.all(byKey.slice(at, at + AT_ONCE).map(copy));
  }
}

function groupBy<Value>(values: readonly Value[], name: (value: Value) => string): Map<string, Value[]> {
  const groups = new Map<string, Value[]>();
  for (const value of values) {
    const group = groups.get(name(value));
    if (group === undefined) groups.set(name(value), [value]);
    else group.push(value);
  }
  return groups;
}

const progressOf = ({ kysely }: Sql, name: string) => ({
  /** One for each store of that name. */
  *read(): Steps<Progress[]> {
    const [found] = yield* all(kysely.selectFrom("settings").select("value").where("name", "=", name));
    return found === undefined ? [] : (JSON.parse(Buffer.from(found.value).toString()) as Progress[]);
  },
  write(progress: Progress[]): Steps<number> {
    const value = Buffer.from(JSON.stringify(progress));
    const insert = kysely.insertInto("settings").values({ name, value });
    return change(insert.onConflict((conflict) => conflict.column("name").doUpdateSet({ value })));
  },
});

type EventRow = Selectable<EventTable>;

/** Names an event by all that it says, since its number is another one in each store. */
function saidBy({ scope, kind, at_ms, session, tool, call, artifact, receipt, more }: EventRow): string {
  const said = JSON.stringify([scope, kind, Number(at_ms), session, tool, call, artifact, receipt, more]);
  return createHash("sha256").update(said).digest("base64").slice(0, 22);
}

function* lastEvent({ kysely }: Sql): Steps<{ id: number; said: string }> {
  const [last] = yield* all(kysely.selectFrom("events").selectAll().orderBy("id", "desc").limit(1));
  return last === undefined ? { id: 0, said: "" } : { id: Number(last.id), said: saidBy(last) };
}

/**
 * Finds the copy that goes on, or begins one. The first of a name adds the source's sums to the target's. They are older than
 * the events, which go sooner; so they cannot be made of these. The lock lets no event come between the sums and the number of
 * the last event in them. A clone's sums have a part that is in the target already; so only its own events are added.
 */
async function beginEvents(
  from: Sql,
  to: Sql,
  progress: ReturnType<typeof progressOf>,
  isClone: boolean,
): Promise<{ at: number; sums: number }> {
  for (;;) {
    const begun = await to.read(progress.read);
    const at = await goingOn(from, begun);
    if (at !== -1) return { at, sums: 0 };
    const isFirst = !isClone && begun.length === 0;
    const { sums, last } = await from.commit(function* () {
      yield* from.takeTurn("events");
      const last = yield* lastEvent(from);
      const rollups = from.kysely.selectFrom("rollups").selectAll();
      const inOrder = rollups.orderBy("scope").orderBy("session").orderBy("hour_ms").orderBy("tool");
      const sums: RollupTable[] = isFirst ? yield* all(inOrder) : [];
      return { sums, last };
    });
    const isBegun = await to.commit(function* () {
      yield* to.takeTurn("events");
      // Another copy may have begun meanwhile.
      if ((yield* progress.read()).length !== begun.length) return false;
      yield* eventWriter(to).addSums(sums);
      const sharedTo = isFirst ? 0 : (yield* lastEvent(to)).id;
      const summed = isFirst ? last.id : 0;
      yield* progress.write([...begun, { summed, after: 0, marked: last.id, mark: last.said, sharedTo }]);
      return true;
    });
    if (isBegun) return { at: begun.length, sums: sums.length };
  }
}

/** The place of the copy whose mark the source has, or -1. The one that came furthest wins. */
async function goingOn({ kysely, read }: Sql, begun: readonly Progress[]): Promise<number> {
  let best = -1;
  for (const [at, { marked, mark, sharedTo }] of begun.entries()) {
    const select = kysely.selectFrom("events").selectAll().where("id", "=", marked);
    const [found] = await read(() => all(select));
    const isSame = marked === 0 ? sharedTo === 0 : found !== undefined && saidBy(found) === mark;
    if (isSame && marked >= (begun[best]?.marked ?? 0)) best = at;
  }
  return best;
}

/** Copies events in their order. Each page is written with how far the copy has come, so that none is copied twice. */
async function copyEvents(
  from: Sql,
  to: Sql,
  { at, ...progress }: ReturnType<typeof progressOf> & { at: number },
  tell: (count: number) => void,
): Promise<void> {
  const writer = eventWriter(to);
  let shared: Set<string> | null = null;
  for (;;) {
    const own = (await to.read(progress.read))[at];
    if (own === undefined) return;
    const { summed, after, marked, mark, sharedTo } = own;
    const page = await eventsAfter(from, after);
    const last = page.at(-1);
    if (last === undefined) return;
    shared ??= await saidUpTo(to, sharedTo);
    const known = shared;
    const fresh = page.filter((row) => known.size === 0 || !known.has(saidBy(row)));
    const id = Number(last.id);
    const isPast = id >= marked;
    const next = { summed, after: id, marked: isPast ? id : marked, mark: isPast ? saidBy(last) : mark, sharedTo };
    const written = await to.commit(function* () {
      yield* to.takeTurn("events");
      const begun = yield* progress.read();
      // Another copy may have come this far meanwhile.
      if (begun[at]?.after !== after) return 0;
      for (const [scope, rows] of groupBy(fresh, (row) => row.scope)) {
        const forms = rows.map((row) => formOf(row, Number(row.id) > summed));
        yield* writer.write(scope, forms);
      }
      yield* progress.write(begun.with(at, next));
      return fresh.length;
    });
    tell(written);
  }
}

function eventsAfter({ kysely, read }: Sql, after: number): Promise<EventRow[]> {
  return read(() => all(kysely.selectFrom("events").selectAll().where("id", ">", after).orderBy("id").limit(PAGE)));
}

async function saidUpTo(database: Sql, last: number): Promise<Set<string>> {
  const said = new Set<string>();
  for (let after = 0; after < last; ) {
    const page = await eventsAfter(database, after);
    for (const row of page) if (Number(row.id) <= last) said.add(saidBy(row));
    after = Number(page.at(-1)?.id ?? last);
  }
  return said;
}

function formOf({ id, scope: _scope, at_ms, ...row }: EventRow, isSummed: boolean): EventForm {
  const form = { ...row, atMs: Number(at_ms) };
  // Sessions are copied by themselves.
  return { ...form, usesSession: false, sums: isSummed ? eventForm(readEventForm(Number(id), form)).sums : NO_TOTALS };
}

/** Copies sessions and frozen forms, which may be copied again without harm. */
async function copyRest(from: Local, to: Local, report: CopyReport): Promise<void> {
  const { kysely, read } = from.database;
  for (let last = { scope: "", key: "" }; ; ) {
    const { scope, key } = last;
    const next = kysely
      .selectFrom("projections")
      .selectAll()
      .where(({ eb, or, and }) => or([eb("scope", ">", scope), and([eb("scope", "=", scope), eb("key", ">", key)])]))
      .orderBy("scope")
      .orderBy("key")
      .limit(PAGE);
    const page = await read(() => all(next));
    const end = page.at(-1);
    if (end === undefined) break;
    last = end;
    for (const { text, step, ...row } of page) {
      const projection = { ...row, text: JSON.parse(text) as string, step: Number(step) };
      await to.ledgerOf(row.scope).saveProjection(projection);
    }
    report.projections += page.length;
  }
  for (const row of await read(() => all(kysely.selectFrom("sessions").selectAll()))) {
    await to.database.commit(() => change(seenSessions(to.database.kysely, [{ ...row, pinned: 0 }])));
    if (Number(row.pinned) !== 0) await to.ledgerOf(row.scope).pin(row.session, true);
    report.sessions += 1;
  }
}
