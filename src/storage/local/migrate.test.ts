import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { localStore } from "../stores/local.ts";
import { MIGRATIONS, migrate } from "./migrations.ts";
import { openDatabase } from "./open-database.ts";
import { loadDriver, openConnection } from "./sqlite-connection.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-migrate-"));
});
afterAll(() => rm(folder, { recursive: true }));
const freshFolder = () => mkdtemp(join(folder, "db-"));
const file = (dir: string) => join(dir, "spillway.db");

describe("migrations", () => {
  it("run once each, in order, and what fails leaves the version before it", async () => {
    const dir = await freshFolder();
    const { kysely, close } = await openDatabase(dir);
    const connection = openConnection(await loadDriver(), file(dir));
    const done = MIGRATIONS.map(() => () => []);
    const second = ({ schema }: typeof kysely) => [schema.createTable("extra").addColumn("a", "text")];
    const broken = () => [kysely.schema.createTable("half").addColumn("a", "text"), kysely.schema.dropTable("nothing")];
    await expect(migrate(connection, kysely, [...done, second, broken])).rejects.toThrow(/nothing/);
    const tables = () =>
      connection
        .prepare<{ name: string }>("select name from sqlite_master")
        .all()
        .map(({ name }) => name);
    expect(tables()).toContain("extra");
    expect(tables()).not.toContain("half");
    await migrate(connection, kysely, [...done, second]);
    const versions = [...done, second].map((_step, at) => ({ version: at + 1 }));
    expect(connection.prepare("select version from versions order by version").all()).toEqual(versions);
    connection.close();
    await close();
  });

  it("bring a store of version 1 forward: its artifacts are listed for each of their sessions", async () => {
    const dir = await freshFolder();
    const connection = openConnection(await loadDriver(), file(dir));
    connection.exec(`
      create table versions (version integer primary key, applied_ms integer not null);
      insert into versions values (1, 5);
      create table artifacts (key text primary key not null, id text not null, scope text not null, session text,
        tool text not null, call text, bytes bigint not null, lines bigint not null, sha256 text not null,
        saved text not null, created_ms bigint not null, redaction_count bigint not null,
        redaction_bytes bigint not null, form text not null);
      create index artifacts_by_id on artifacts (scope, id);
      create index artifacts_by_age on artifacts (scope, created_ms);
      create table artifact_sessions (key text not null, session text not null,
        constraint artifact_sessions_key primary key (key, session)) without rowid;
      create index artifact_sessions_by_session on artifact_sessions (session);
      create table events (id integer primary key autoincrement, kind text not null, at_ms bigint not null, session text,
        tool text, call text, artifact text, receipt text, more text);
      create table rollups (session text not null, hour_ms bigint not null, tool text not null, calls bigint not null,
        primary key (session, hour_ms, tool)) without rowid;
      insert into artifacts values ('k', 'abcdefabcdef', 'local', 'b', 'bash', 'c1', 5, 1, 's', 'yes', 70, 0, 0, 'row');
      insert into artifact_sessions values ('k', 'a'), ('k', 'b'), ('k', '');
    `);
    connection.close();
    const database = await openDatabase(dir);
    const store = await localStore({ dir, database });
    const unknown = { command: null, folder: null, exitCode: null };
    for (const session of ["a", "b"]) {
      const listed = await store.list({ scope: "local", session });
      expect(listed).toMatchObject([
        { id: "abcdefabcdef", session, tool: "bash", call: "c1", createdAtMs: 70, ...unknown },
      ]);
    }
    expect((await store.list({ scope: "local" })).map(({ session }) => session).sort()).toEqual(["a", "b", null]);
    expect(await store.find("abcdefabcdef", "local")).toMatchObject({ tool: "bash", bytes: 5, saved: "yes" });
    await database.close();
  });

  it("give the tables that the schema says", async () => {
    const database = await openDatabase(await freshFolder());
    const tables = await database.kysely.introspection.getTables();
    expect(
      Object.fromEntries(tables.map(({ name, columns }) => [name, columns.map((column) => column.name).join(" ")])),
    ).toMatchInlineSnapshot(`
      {
        "artifact_sessions": "key session saved_ms tool call command folder exit_code",
        "artifacts": "key id scope bytes lines sha256 saved created_ms redaction_count redaction_bytes form place",
        "events": "id kind at_ms session tool call artifact receipt more",
        "line_indexes": "key data",
        "projections": "key session at_ms text step",
        "rollups": "session hour_ms tool calls cut_calls bytes_in bytes_shown tokens_in tokens_shown recalls recalled_bytes recalled_tokens requests input_tokens output_tokens cache_read_tokens cache_write_tokens refusals recoveries",
        "sessions": "session first_seen_ms last_seen_ms pinned",
        "settings": "name value",
        "small": "key data",
        "uploads": "place began_ms",
        "versions": "version applied_ms",
      }
    `);
    await database.close();
  });
});
