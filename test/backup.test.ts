import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { S3mini } from "s3mini";
import { afterAll, describe, expect, it } from "vitest";
import { findS3, type S3Server } from "./s3.ts";

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "spillway-backup-"));
const stops: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const stop of stops) await stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The folder of a PostgreSQL with its server and the programs for backups, or why there is none. */
function findPrograms(): { bin: string } | string {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).toSorted((a, b) => Number(b) - Number(a)) : [];
  const bins = [...versions.map((version) => join(root, version, "bin")), ...(process.env["PATH"] ?? "").split(":")];
  const bin = bins.find((dir) => ["initdb", "postgres", "pg_dump"].every((name) => existsSync(join(dir, name))));
  return bin === undefined ? "no PostgreSQL with initdb, postgres and pg_dump is installed" : { bin };
}

const programs = findPrograms();
const s3 = await findS3();
const missing = [programs, s3].find((each) => typeof each === "string") ?? null;
if (missing !== null) process.stderr.write(`not run: backup and restore: ${String(missing)}\n`);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** A server of the system's own programs. It refuses to run as root. */
async function startServer(bin: string) {
  const data = join(folder, "postgres");
  const isRoot = process.getuid?.() === 0;
  const idOf = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  const as = isRoot ? { uid: idOf("-u"), gid: idOf("-g") } : {};
  mkdirSync(data);
  if (as.uid !== undefined) {
    execFileSync("chmod", ["755", folder]);
    chownSync(data, as.uid, as.gid);
  }
  const options = { ...as, cwd: data, encoding: "utf8" } as const;
  execFileSync(
    join(bin, "initdb"),
    ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale"],
    options,
  );
  const port = await freePort();
  const server = spawn(join(bin, "postgres"), ["-D", data, "-h", "127.0.0.1", "-k", "", "-p", String(port)], {
    ...as,
    cwd: data,
    stdio: "ignore",
  });
  stops.push(async () => {
    if (server.exitCode === null && server.kill("SIGINT")) await once(server, "exit");
  });
  const addressOf = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`;
  for (let tries = 0; ; tries += 1) {
    const client = new pg.Client({ connectionString: addressOf("postgres") });
    try {
      await client.connect();
      stops.unshift(() => client.end());
      return { addressOf, query: (sql: string) => client.query(sql) };
    } catch (error) {
      if (tries === 1200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** The objects below a prefix, as any tool that copies a bucket sees them. */
function objectsBelow(store: string, { endpoint, env }: S3Server) {
  const { hostname, pathname } = new URL(store);
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  const client = new S3mini({ accessKeyId, secretAccessKey, endpoint: `${endpoint}/${hostname}`, region: "us-east-1" });
  return {
    async take(): Promise<Map<string, Uint8Array>> {
      const copy = new Map<string, Uint8Array>();
      for (const { Key } of (await client.listObjects("/", pathname.slice(1))) ?? []) {
        copy.set(Key, new Uint8Array((await client.getObjectArrayBuffer(Key)) ?? new ArrayBuffer(0)));
      }
      return copy;
    },
    async remove(names: Iterable<string>) {
      for (const name of names) await client.deleteObject(name);
    },
    async put(copy: Map<string, Uint8Array>) {
      for (const [name, bytes] of copy) await client.putObject(name, bytes);
    },
  };
}

const textOf = (name: string, lines: number) =>
  Array.from({ length: lines }, (_, at) => `${name}: line ${at + 1}\n`).join("");

describe.skipIf(missing !== null)("a shared store that is lost", () => {
  it("comes back from pg_dump and a copy of the bucket, with every id, event and byte", async () => {
    if (typeof programs === "string" || typeof s3 === "string") return;
    const { bin } = programs;
    const { addressOf, query } = await startServer(bin);
    await query("create database spillway");
    const store = s3.fresh();
    const place = { SPILLWAY_LEDGER: addressOf("spillway"), SPILLWAY_STORE: store, ...s3.env };
    const spillway = (machine: string, words: string[], input = "") =>
      spawnSync(process.execPath, [CLI, ...words], {
        input,
        cwd: folder,
        encoding: "utf8",
        env: { PATH: process.env["PATH"], HOME: folder, SPILLWAY_DIR: join(folder, machine), ...place },
      });
    const clamp = ["clamp", "--save", "--max-lines", "9", "--json", "--session", "s1"];
    const keep = (machine: string, text: string) => JSON.parse(spillway(machine, clamp, text).stdout).receipt.artifact;
    const [small, large] = [textOf("small", 100), textOf("large", 90_000)];
    const ids = [keep("a", small), keep("b", large)];
    spillway("a", ["pin", "s1", "-q"]);
    const events = spillway("a", ["events", "--json"]).stdout;
    expect(events.match(/"kind":"output-clamped"/g)).toHaveLength(2);

    // The backup: the database first. What comes between it and the bucket's copy has an object and no row.
    const dump = join(folder, "spillway.dump");
    execFileSync(join(bin, "pg_dump"), ["-Fc", "-f", dump, place.SPILLWAY_LEDGER]);
    const later = keep("a", textOf("later", 90_000));
    const objects = objectsBelow(store, s3);
    const copy = await objects.take();
    expect(copy.size).toBe(4);

    // Everything is lost; the bucket comes back first.
    await query("drop database spillway with (force)");
    await objects.remove(copy.keys());
    await objects.put(copy);
    await query("create database spillway");
    execFileSync(join(bin, "pg_restore"), ["--no-owner", "-d", place.SPILLWAY_LEDGER, dump]);

    for (const machine of ["a", "new"]) {
      for (const [at, text] of [small, large].entries()) {
        expect(spillway(machine, ["recall", ids[at], "--lines", "98-99"]).stdout).toContain(
          text.split("\n").slice(97, 99).join("\n"),
        );
      }
    }
    expect(spillway("new", ["events", "--json"]).stdout.startsWith(events)).toBe(true);
    expect(JSON.parse(spillway("new", ["pin", "--json"]).stdout)).toMatchObject({ pinned: [{ session: "s1" }] });
    const verified = JSON.parse(spillway("new", ["verify", "--json"]).stdout);
    expect(verified).toMatchObject({ checked: 2, damaged: [], missing: [] });
    expect(verified.orphaned).toHaveLength(1);
    // The secret came back too: the same output has the id that running conversations know, and so has the one that was lost.
    expect(keep("new", large)).toBe(ids[1]);
    expect(keep("new", textOf("later", 90_000))).toBe(later);
  });
});
