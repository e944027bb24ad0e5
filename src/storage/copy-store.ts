import { createHash } from "node:crypto";
import type { Selectable } from "kysely";
import { messageOf, SpillwayError } from "../errors.ts";
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
  const secrets = await from.store.copying.secrets();
  const known = new Set((await to.store.copying.secrets()).map(hex));
  for (const secret of secrets) if (!known.has(hex(secret))) await to.store.copying.learn(secret);
  const name = await copyName(from, secrets);
  if (name === (await copyName(to, await to.store.copying.secrets()))) {
    throw new SpillwayError("bad-input", "--from and --to name the same store");
  }
  await copyArtifacts(from, to, report, tell);
  report.sums = await copySums(from.database, to.database, name);
  await copyEvents(from.database, to.database, name, (count) => {
    report.events += count;
    tell(report);
  });
  await copyRest(from, to, report);
  tell(report);
  return report;
}

const hex = (secret: Uint8Array) => Buffer.from(secret).toString("hex");

/** The setting that says how far the copy of a store has come: the same wherever its folder or its server is. */
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
      const open = () => {
        isRead = true;
        return source.open(row);
      };
      try {
        if (!(await target.take(row, open))) report.alreadyThere += 1;
      } catch (error) {
        // What the target refuses ends the copy. What the source cannot give is told at the end.
        if (!isSourceFault(error, row)) throw error;
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

function isSourceFault(error: unknown, { id }: ArtifactRow): boolean {
  return SpillwayError.is(error) && error.message.includes(`artifact ${id}`);
}

const progressOf = ({ kysely }: Sql, name: string) => ({
  *read(): Steps<Progress | null> {
    const [found] = yield* all(kysely.selectFrom("settings").select("value").where("name", "=", name));
    return found === undefined ? null : (JSON.parse(Buffer.from(found.value).toString()) as Progress);
  },
  write(progress: Progress): Steps<number> {
    const value = Buffer.from(JSON.stringify(progress));
    const insert = kysely.insertInto("settings").values({ name, value });
    return change(insert.onConflict((conflict) => conflict.column("name").doUpdateSet({ value })));
  },
});

/**
 * Adds the source's sums to the target's, once. They are older than the events, which go sooner; so they cannot be made of
 * these. The lock lets no event come between the sums and the number of the last event in them.
 */
async function copySums(from: Sql, to: Sql, name: string): Promise<number> {
  const progress = progressOf(to, name);
  if ((await to.read(progress.read)) !== null) return 0;
  const { sums, summed } = await from.commit(function* () {
    yield* from.takeTurn("events");
    const [last] = yield* all(from.kysely.selectFrom("events").select(({ fn }) => fn.max("id").as("id")));
    const rollups = from.kysely.selectFrom("rollups").selectAll();
    const inOrder = rollups.orderBy("scope").orderBy("session").orderBy("hour_ms").orderBy("tool");
    const sums: RollupTable[] = yield* all(inOrder);
    return { sums, summed: Number(last?.id ?? 0) };
  });
  return to.commit(function* () {
    yield* to.takeTurn("events");
    if ((yield* progress.read()) !== null) return 0;
    yield* eventWriter(to).addSums(sums);
    yield* progress.write({ summed, after: 0 });
    return sums.length;
  });
}

/** Copies events in their order. Each page is written with how far the copy has come, so that none is copied twice. */
async function copyEvents(from: Sql, to: Sql, name: string, tell: (count: number) => void): Promise<void> {
  const progress = progressOf(to, name);
  const writer = eventWriter(to);
  for (;;) {
    const { summed, after } = (await to.read(progress.read)) ?? { summed: 0, after: 0 };
    const select = from.kysely.selectFrom("events").selectAll().where("id", ">", after).orderBy("id").limit(PAGE);
    const page = await from.read(() => all(select));
    const last = page.at(-1);
    if (last === undefined) return;
    const written = await to.commit(function* () {
      yield* to.takeTurn("events");
      // Another copy may have come this far meanwhile.
      if ((yield* progress.read())?.after !== after) return 0;
      for (const [scope, rows] of groupBy(page, (row) => row.scope)) {
        const forms = rows.map((row) => formOf(row, Number(row.id) > summed));
        yield* writer.write(scope, forms);
      }
      yield* progress.write({ summed, after: Number(last.id) });
      return page.length;
    });
    tell(written);
  }
}

function formOf({ id, scope: _scope, at_ms, ...row }: Selectable<EventTable>, isSummed: boolean): EventForm {
  const form = { ...row, atMs: Number(at_ms) };
  return { ...form, sums: isSummed ? eventForm(readEventForm(Number(id), form)).sums : NO_TOTALS };
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
