import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteAdapter, SqliteQueryCompiler } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sqlLedger } from "../ledgers/sql.ts";
import { queriesOf } from "../sql.ts";
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
  it("are all on the page of the format", async () => {
    const page = await readFile(new URL("../../../docs/reference/on-disk-format.md", import.meta.url), "utf8");
    expect(page).toContain(`This page describes version ${MIGRATIONS.length}.`);
  });

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

  it("bring a store of version 1 forward: its artifacts are listed for each of their sessions, and nothing recorded is lost", async () => {
    const dir = await freshFolder();
    const connection = openConnection(await loadDriver(), file(dir));
    const kysely = queriesOf(new SqliteAdapter(), new SqliteQueryCompiler());
    await migrate(connection, kysely, MIGRATIONS.slice(0, 1));
    connection.exec(`
      insert into artifacts values ('k', 'abcdefabcdef', 'local', 'b', 'bash', 'c1', 5, 1, 's', 'yes', 70, 0, 0, 'row');
      insert into artifact_sessions values ('k', 'a'), ('k', 'b'), ('k', '');
      insert into events values (7, 'output-passed', 70, 'a', 'bash', 'c1', null, null, '{"n":1}');
      insert into rollups values ('a', 0, 'bash', 1, 0, 5, 5, 2, 2, 0, 0, 0);
      insert into sessions values ('a', 60, 70, 1);
      insert into projections values ('p', 'a', 70, '"shown"', 3);
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
    // What was recorded before there were scopes is the local user's.
    const ledger = sqlLedger(database, "sqlite");
    expect(await ledger.events()).toMatchObject([{ id: 7, session: "a", call: "c1", more: { n: 1 } }]);
    expect(await ledger.sessions()).toMatchObject([
      { session: "a", firstSeenMs: 60, lastSeenMs: 70, pinned: true, calls: 1, bytesIn: 5, tokensIn: 2 },
    ]);
    expect(await ledger.projection("p")).toEqual({ key: "p", text: "shown", step: 3, session: "a" });
    expect(await sqlLedger(database, "sqlite", "other").sessions()).toEqual([]);
    await database.close();
  });

  it("give the tables that the schema says", async () => {
    const database = await openDatabase(await freshFolder());
    const tables = database.raw
      .prepare<{ name: string; columns: string }>(
        `select tables.name, (select group_concat(name, ' ') from pragma_table_info(tables.name)) as columns
         from sqlite_master as tables where type = 'table' and name not like 'sqlite_%' order by name`,
      )
      .all();
    expect(Object.fromEntries(tables.map(({ name, columns }) => [name, columns]))).toMatchInlineSnapshot(`
      {
        "artifact_sessions": "key session saved_ms tool call command folder exit_code",
        "artifacts": "key id scope bytes lines sha256 saved created_ms redaction_count redaction_bytes form place",
        "events": "id kind at_ms session tool call artifact receipt more scope",
        "line_indexes": "key data",
        "projections": "scope key session at_ms text step",
        "rollups": "scope session hour_ms tool calls cut_calls bytes_in bytes_shown tokens_in tokens_shown recalls recalled_bytes recalled_tokens requests input_tokens output_tokens cache_read_tokens cache_write_tokens refusals recoveries",
        "sessions": "scope session first_seen_ms last_seen_ms pinned",
        "settings": "name value",
        "small": "key data",
        "uploads": "place began_ms",
        "versions": "version applied_ms",
      }
    `);
    await database.close();
  });
});
