import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import pg from "pg";
import { S3mini } from "s3mini";
import { afterAll, describe, expect, it } from "vitest";
import { createSpillway } from "../src/index.ts";
import { pruneEvents } from "../src/storage/ledgers/prune-events.ts";
import { openLocal } from "../src/storage/local/open-local.ts";
import { startFaultyProxy } from "./faulty-proxy.ts";
import { startPostgres } from "./postgres.ts";
import { findS3 } from "./s3.ts";

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "spillway-copy-"));
const [postgres, s3] = await Promise.all([startPostgres(), findS3()]);
for (const [what, missing] of [
  ["copies to PostgreSQL", postgres],
  ["copies to a bucket", s3],
])
  if (typeof missing === "string") process.stderr.write(`not run: ${what}: ${missing}\n`);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  if (typeof postgres !== "string") await postgres.end();
});

const freshFolder = () => join(mkdtempSync(join(folder, "place-")), "data");
const env = () => ({
  PATH: process.env["PATH"],
  HOME: folder,
  SPILLWAY_DIR: join(folder, "usual"),
  ...(typeof s3 !== "string" && s3.env),
});
const run = (words: string[], more = {}) =>
  spawnSync(process.execPath, [CLI, ...words], { cwd: folder, encoding: "utf8", env: { ...env(), ...more } });

const textOf = (name: string, lines: number) =>
  Array.from({ length: lines }, (_, at) => `${name}: line ${at + 1}\n`).join("");

/** Puts some of everything into a folder: two scopes, rows and files, the same bytes in two sessions, sums without events. */
async function fill(dir: string, name: string, outputs = 12, isOld = true): Promise<void> {
  const local = await openLocal(dir);
  for (const scope of ["local", "team"]) {
    const ledger = local.ledgerOf(scope);
    const spillway = await createSpillway({
      store: local.store,
      ledger,
      scope,
      env: {},
      policy: { profile: "frugal" },
    });
    for (let at = 0; at < outputs; at += 1) {
      const about = { tool: `tool${at % 3}`, session: `s${at % 4}`, call: `${name}${at}` };
      await spillway.admit({ ...about, output: textOf(`${name} ${at}`, at % 3 === 0 ? 9000 : 900) });
      if (at % 5 === 0) await spillway.admit({ ...about, session: "again", output: textOf(`${name} ${at}`, 9000) });
    }
    await ledger.saveProjection({ key: `${name} p`, text: `\0 ${name}`, step: 2, session: "s1" });
    await ledger.pin("s1", true);
  }
  if (isOld) await pruneEvents(local.database, { olderThanMs: 0, retainMs: 0, nowMs: Date.now() + 60_000 });
  const spillway = await createSpillway({ store: local.store, ledger: local.ledger, env: {} });
  await spillway.admit({ tool: "later", session: "s2", output: textOf(`${name} later`, 5000) });
  await local.close();
}

type Row = Record<string, unknown>;

/** Everything that a store has, read with no code of ours. */
async function everything(words: string[], without: unknown = null): Promise<Record<string, unknown[]>> {
  const address = words.find((word) => word.startsWith("postgres:"));
  const bucket = words.find((word) => word.startsWith("s3:"));
  const dir = words.find((word) => !word.includes("://"));
  const client = address === undefined ? null : new pg.Client({ connectionString: address });
  await client?.connect();
  const sqlite = dir === undefined ? null : new DatabaseSync(join(dir, "spillway.db"), { readOnly: true });
  const ofFolder = (sql: string) => (sqlite?.prepare(sql).all() ?? []) as Row[];
  const ask = async (sql: string) => (client === null ? ofFolder(sql) : (await client.query(sql)).rows) as Row[];
  const askStore = async (sql: string) => (bucket === undefined ? ofFolder(sql) : ask(sql));
  const objects = bucket === undefined ? null : bucketOf(bucket);
  const hash = async ({ form, key, place }: Row) => {
    const small = async () =>
      (await askStore(`select data from small where key = '${key}'`))[0]?.["data"] as Uint8Array;
    const file = () => readFileSync(join(dir ?? "", "artifacts", String(key).slice(0, 2), String(key)));
    const bytes = form === "row" ? await small() : form === "plain" ? file() : await objects?.(String(place));
    return createHash("sha256")
      .update(bytes ?? "")
      .digest("hex");
  };
  const artifacts = await askStore(
    "select a.key, id, scope, session, tool, call, command, exit_code, bytes, lines, sha256, saved, form, place, saved_ms, created_ms " +
      "from artifacts a join artifact_sessions s on a.key = s.key order by a.key, session",
  );
  const read: Row[] = [];
  for (const { place, form, ...row } of artifacts) {
    if (row["key"] !== without) read.push({ ...row, really: await hash({ ...row, form, place }) });
  }
  const found = {
    artifacts: read,
    // Within a scope they are in their order.
    events: await ask(
      "select scope, kind, at_ms, session, tool, call, artifact, receipt, more from events order by scope, id",
    ),
    rollups: await ask("select * from rollups order by scope, session, hour_ms, tool"),
    sessions: await ask("select * from sessions order by scope, session"),
    projections: await ask("select scope, key, session, text, step from projections order by scope, key"),
  };
  await client?.end();
  sqlite?.close();
  // Numbers come as text from one engine.
  return JSON.parse(JSON.stringify(found), (_name, value) =>
    typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value,
  );
}

function bucketOf(address: string) {
  if (typeof s3 === "string") throw new Error(s3);
  const { hostname, pathname } = new URL(address);
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = s3.env;
  const endpoint = `${s3.endpoint}/${hostname}`;
  const client = new S3mini({ accessKeyId, secretAccessKey, endpoint, region: "us-east-1" });
  return async (place: string) =>
    Buffer.from((await client.getObjectArrayBuffer(`${pathname.slice(1)}/${place}`)) ?? new ArrayBuffer(0));
}

const freshLedger = async () => (typeof postgres === "string" ? Promise.reject(new Error(postgres)) : postgres.fresh());
const freshBucket = () => (typeof s3 === "string" ? "" : s3.fresh());

describe("spillway copy", () => {
  it("copies a folder to another, with every id, and says what it did", async () => {
    const [from, to] = [freshFolder(), freshFolder()];
    await fill(from, "a");
    const copied = run(["copy", "--from", from, "--to", to, "--json"]);
    expect(copied.stderr).toBe("");
    const report = JSON.parse(copied.stdout);
    expect(report).toMatchObject({ left: [], alreadyThere: 0 });
    expect(await everything([to])).toEqual(await everything([from]));
    const { artifacts, events } = await everything([from]);
    expect(report.artifacts).toBe(new Set(artifacts?.map((row) => (row as Row)["key"])).size);
    expect(report.events).toBe(events?.length);
    // Again: nothing is copied, nothing changes.
    const again = run(["copy", "--from", from, "--to", to]);
    expect(again.stdout).toMatch(/^0 artifacts \(0 B\), 0 events, .* there already\n$/);
    expect(await everything([to])).toEqual(await everything([from]));
    // The same output has the same id there, and every byte is as it was saved.
    expect(run(["verify", "--dir", to]).status).toBe(0);
    expect(run(["stats", "--dir", to, "--json"]).stdout).toBe(run(["stats", "--dir", from, "--json"]).stdout);
  });

  it("goes on with a source that got more, and adds to what the target has of its own", async () => {
    const [from, to] = [freshFolder(), freshFolder()];
    await fill(from, "a", 4);
    await fill(to, "b", 4);
    const [ofFrom, ofTo] = [await everything([from]), await everything([to])];
    expect(run(["copy", "--from", from, "--to", to]).status).toBe(0);
    await fill(from, "c", 4, false);
    expect(run(["copy", "--from", from], { SPILLWAY_DIR: to }).status).toBe(0);
    const after = await everything([to]);
    const grown = await everything([from]);
    for (const what of ["artifacts", "projections"]) {
      expect(after[what]).toHaveLength((ofTo[what]?.length ?? 0) + (grown[what]?.length ?? 0));
    }
    const calls = (all: Record<string, unknown[]>) =>
      (all["rollups"] as Row[]).reduce((sum, row) => sum + Number(row["calls"]), 0);
    expect(calls(after)).toBe(calls(ofTo) + calls(grown));
    expect(calls(grown)).toBeGreaterThan(calls(ofFrom));
    // Ids were made with two secrets, and all are known.
    const verified = run(["verify", "--dir", to]);
    expect([verified.status, verified.stdout]).toEqual([0, expect.stringMatching(/all as they were saved/)]);
  });

  it("counts each event once, though there are more than are written at one time", async () => {
    const [from, to] = [freshFolder(), freshFolder()];
    const local = await openLocal(from);
    const event = { kind: "artifact-recalled", tool: "t", call: null, artifact: null, receipt: null } as const;
    await Promise.all(
      Array.from({ length: 1300 }, (_, at) =>
        local
          .ledgerOf(at % 2 === 0 ? "local" : "team")
          .record({ ...event, atMs: at, session: "s", more: { bytes: at } }),
      ),
    );
    await local.close();
    expect(run(["copy", "--from", from, "--to", to]).stdout).toMatch(/, 1,?300 events/);
    expect(await everything([to])).toEqual(await everything([from]));
  });

  it("refuses a source that is none, a place that is named twice, and a copy onto itself", async () => {
    const from = freshFolder();
    await fill(from, "a", 1);
    expect(run(["copy"]).stderr).toMatch(/say what to copy/);
    expect(run(["copy", "--from", join(folder, "none"), "--to", from]).stderr).toMatch(/there is no store in/);
    expect(run(["copy", "--from", from, from]).stderr).toMatch(/--from takes at most a folder/);
    const itself = run(["copy", "--from", from, "--to", from]);
    expect([itself.status, itself.stderr]).toEqual([2, expect.stringMatching(/the same store/)]);
  });

  it("refuses --scope, since it copies every scope", () => {
    const to = freshFolder();
    const { status, stderr } = run(["copy", "--scope", "team", "--to", to]);
    expect([status, stderr]).toEqual([2, expect.stringMatching(/copies every scope/)]);
    expect(existsSync(to)).toBe(false);
    expect(run(["copy", "--help"]).stdout).not.toContain("--scope");
  });

  it("refuses a target among the outputs of the source, and makes nothing there", async () => {
    const [from, link] = [freshFolder(), join(folder, "link")];
    await fill(from, "a", 1);
    symlinkSync(join(from, "artifacts"), link);
    for (const to of [join(from, "artifacts"), join(link, "new", "store")]) {
      for (const refused of [
        run(["copy", "--from", from, "--to", to]),
        run(["copy", "--from", from], { SPILLWAY_DIR: to }),
      ]) {
        expect([refused.status, refused.stderr]).toEqual([2, expect.stringMatching(/among the outputs of the store/)]);
      }
    }
    expect(existsSync(join(from, "artifacts", "spillway.db"))).toBe(false);
    expect(existsSync(join(from, "artifacts", "new"))).toBe(false);
  });

  it("brings the own events of each folder that began as a copy of another, and counts those of both once", async () => {
    const first = freshFolder();
    await fill(first, "a", 2);
    const [one, other, to, link] = [freshFolder(), freshFolder(), freshFolder(), freshFolder()];
    for (const clone of [one, other]) cpSync(first, clone, { recursive: true });
    await fill(one, "b", 3, false);
    await fill(other, "c", 2, false);
    const sorted = (all: Record<string, unknown[]>) =>
      all["events"]?.map((row) => JSON.stringify(row)).toSorted() ?? [];
    const union = async () =>
      [...new Set([...sorted(await everything([one])), ...sorted(await everything([other]))])].toSorted();
    const sums = (all: Record<string, unknown[]>) => (all["rollups"] as Row[]).map(({ calls }) => Number(calls));
    const calls = async (dir: string) => sums(await everything([dir])).reduce((sum, each) => sum + each, 0);
    const expected = async () => (await calls(one)) + (await calls(other)) - (await calls(first));
    const copyTo = (from: string, target = to) =>
      JSON.parse(run(["copy", "--from", from, "--to", target, "--json"]).stdout);
    for (const from of [one, other]) expect(copyTo(from).events).toBeGreaterThan(0);
    expect([sorted(await everything([to])), await calls(to)]).toEqual([await union(), await expected()]);
    // Another path to the same place, and the folder at another place, are the same store.
    symlinkSync(one, link);
    const moved = freshFolder();
    cpSync(other, moved, { recursive: true });
    for (const from of [one, link, other, moved]) expect(copyTo(from).events).toBe(0);
    const itself = run(["copy", "--from", one, "--to", link]);
    expect([itself.status, itself.stderr]).toEqual([2, expect.stringMatching(/the same store/)]);
    // Both go on, each from where it was.
    await fill(one, "d", 1, false);
    await fill(other, "e", 2, false);
    for (const from of [other, one, other, one]) copyTo(from);
    expect([sorted(await everything([to])), await calls(to)]).toEqual([await union(), await expected()]);
    // From one clone to the other.
    const [all, made] = [await union(), await expected()];
    expect(copyTo(one, other).events).toBeGreaterThan(0);
    expect(copyTo(one, other).events).toBe(0);
    expect([sorted(await everything([other])), await calls(other)]).toEqual([all, made]);
  });

  it.each([
    ["removed", (path: string) => rmSync(path)],
    ["emptied", (path: string) => truncateSync(path)],
    [
      "hidden by a file in place of its folder",
      (path: string) => {
        rmSync(dirname(path), { recursive: true });
        writeFileSync(dirname(path), "");
      },
    ],
    [
      "changed",
      (path: string) => {
        const bytes = readFileSync(path);
        bytes.write("XXXX", 100);
        writeFileSync(path, bytes);
      },
    ],
  ])("tells which output of the source was %s, copies the rest, and ends with 1", async (_how, damage) => {
    const [from, to] = [freshFolder(), freshFolder()];
    await fill(from, "a", 4);
    const lost = (await everything([from]))["artifacts"]?.find((row) => Number((row as Row)["bytes"]) > 70_000) as Row;
    damage(join(from, "artifacts", String(lost["key"]).slice(0, 2), String(lost["key"])));
    const { status, stderr } = run(["copy", "--from", from, "--to", to]);
    expect([status, stderr]).toEqual([1, expect.stringContaining(`${lost["id"]} is left`)]);
    const rest = (all: Record<string, unknown[]>) =>
      all["artifacts"]?.filter((row) => (row as Row)["key"] !== lost["key"]);
    const copied = await everything([to]);
    expect(copied["artifacts"]).toEqual(rest(copied));
    expect(copied["artifacts"]).toHaveLength((rest(await everything([from], lost["key"])) ?? []).length);
  });

  it.skipIf(typeof postgres === "string")(
    "copies a folder to a ledger in PostgreSQL and a folder, and back",
    async () => {
      const from = freshFolder();
      await fill(from, "a");
      const shared = [await freshLedger(), freshFolder()];
      expect(run(["copy", "--from", from, "--to", ...shared]).status).toBe(0);
      expect(await everything(shared)).toEqual(await everything([from]));
      const back = freshFolder();
      expect(run(["copy", "--from", ...shared, "--to", back]).status).toBe(0);
      expect(await everything([back])).toEqual(await everything([from]));
    },
  );

  it.skipIf(typeof postgres === "string" || typeof s3 === "string")(
    "names what waits on another machine for its upload, and copies the rest",
    async () => {
      const shared = { SPILLWAY_LEDGER: await freshLedger(), SPILLWAY_STORE: freshBucket() };
      const keep = (name: string, more = {}) => {
        const words = ["clamp", "--save", "--max-lines", "9", "--json", "--session", name];
        const { stdout } = spawnSync(process.execPath, [CLI, ...words], {
          input: textOf(name, 9000),
          encoding: "utf8",
          env: { ...env(), ...shared, SPILLWAY_DIR: freshFolder(), ...more },
        });
        return JSON.parse(stdout).receipt;
      };
      const [there, waiting] = [keep("there"), keep("waiting", { AWS_SECRET_ACCESS_KEY: "not-the-secret" })];
      expect([there.saved, waiting.saved]).toEqual(["yes", "local"]);
      const to = freshFolder();
      const copied = run(["copy", "--to", to], shared);
      expect([copied.status, copied.stderr]).toEqual([
        1,
        expect.stringMatching(new RegExp(`${waiting.artifact} is left: .*is still on the machine`)),
      ]);
      expect((await everything([to]))["artifacts"]).toMatchObject([{ id: there.artifact }]);
    },
  );

  it.skipIf(typeof postgres === "string" || typeof s3 === "string")(
    "copies a folder to PostgreSQL and a bucket, though it is killed again and again, and back",
    async () => {
      const from = freshFolder();
      await fill(from, "a", 30);
      const proxy = await startFaultyProxy(typeof s3 === "string" ? "" : s3.endpoint);
      // Lets all of them pass.
      proxy.fault = { delayMs: 0 };
      const [ledger, bucket] = [await freshLedger(), freshBucket()];
      const through = new URL(bucket);
      through.searchParams.set("endpoint", proxy.url);
      const shared = [ledger, bucket];
      const before = await everything([from]);
      // First with one of the objects under way, and then at any moment.
      const objects = [1, 3, 6, 8];
      let kills = 0;
      for (;;) {
        const child = spawn(process.execPath, [CLI, "copy", "--from", from, "--to", ledger, through.href], {
          env: env(),
        });
        const killsAt = objects[kills];
        let puts = 0;
        proxy.filter = (method) => {
          if (method === "PUT" && ++puts === killsAt) child.kill("SIGKILL");
          return true;
        };
        // Twice as long each time, so that it comes to its end on a slow machine too.
        const delayMs = 250 * 2 ** (kills - objects.length);
        const timer = killsAt === undefined ? setTimeout(() => child.kill("SIGKILL"), delayMs) : undefined;
        const [code] = await once(child, "exit");
        clearTimeout(timer);
        if (code === 0) break;
        expect(code).toBeNull();
        kills += 1;
      }
      expect(kills).toBeGreaterThanOrEqual(objects.length);
      expect(await everything(shared)).toEqual(before);
      const environment = { SPILLWAY_LEDGER: ledger, SPILLWAY_STORE: bucket };
      expect(run(["verify", "--json"], environment).status).toBe(0);
      const back = freshFolder();
      expect(run(["copy", "--to", back], environment).status).toBe(0);
      expect(await everything([back])).toEqual(before);
      await proxy.close();
    },
  );
});
