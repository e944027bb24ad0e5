import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migrate } from "./migrations.ts";
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
    const first = () => [];
    const second = ({ createTable }: typeof kysely.schema) => [
      createTable.call(kysely.schema, "extra").addColumn("a", "text"),
    ];
    const broken = () => [kysely.schema.createTable("half").addColumn("a", "text"), kysely.schema.dropTable("nothing")];
    await expect(migrate(connection, kysely, [first, second, broken])).rejects.toThrow(/nothing/);
    const tables = () =>
      connection
        .prepare<{ name: string }>("select name from sqlite_master")
        .all()
        .map(({ name }) => name);
    expect(tables()).toContain("extra");
    expect(tables()).not.toContain("half");
    await migrate(connection, kysely, [first, second]);
    expect(connection.prepare("select version from versions order by version").all()).toEqual([
      { version: 1 },
      { version: 2 },
    ]);
    connection.close();
    await close();
  });

  it("give the tables that the schema says", async () => {
    const database = await openDatabase(await freshFolder());
    const tables = await database.kysely.introspection.getTables();
    expect(
      Object.fromEntries(tables.map(({ name, columns }) => [name, columns.map((column) => column.name).join(" ")])),
    ).toMatchInlineSnapshot(`
      {
        "artifact_sessions": "key session",
        "artifacts": "key id scope session tool call bytes lines sha256 saved created_ms redaction_count redaction_bytes form",
        "events": "id kind at_ms session tool call artifact receipt more",
        "projections": "key session at_ms text step",
        "rollups": "session hour_ms tool calls cut_calls bytes_in bytes_shown tokens_in tokens_shown recalls recalled_bytes recalled_tokens",
        "sessions": "session first_seen_ms last_seen_ms pinned",
        "small": "key data",
        "versions": "version applied_ms",
      }
    `);
    await database.close();
  });
});
