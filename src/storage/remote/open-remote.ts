import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Ledger } from "../../contract/ledger.ts";
import type { Retention } from "../../contract/store.ts";
import { SpillwayError } from "../../errors.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { sqlLedger } from "../ledgers/sql.ts";
import { SECRET_BYTES } from "../local/artifact-key.ts";
import { collectWhenDue, type InTurn, isCollectDue, startCollector } from "../local/collect-when-due.ts";
import { openDatabase } from "../local/open-database.ts";
import { all, change } from "../sql.ts";
import { localStore } from "../stores/local.ts";
import { openBucket } from "./bucket.ts";
import { openPostgres, type Postgres } from "./postgres.ts";
import { type RemoteStore, remoteStore, type Spool } from "./remote-store.ts";

/** How it is opened, as `openLocal` is told. */
interface RemoteOptions {
  ledger?: string | undefined;
  store?: string | undefined;
  retention?: Retention | "off" | undefined;
  collects?: boolean;
  readsOnly?: boolean;
}

/** What many machines share: artifacts in a bucket, everything else in a PostgreSQL database. */
export interface Remote {
  dir: string;
  store: RemoteStore;
  ledger: Ledger;
  database: Postgres;
  spool: Spool;
  collect(): Promise<boolean>;
  close(): Promise<void>;
}

/** Opens what many machines share. What waits for its upload is below this machine's folder. */
export async function openRemote(
  dir: string,
  { ledger: address, store: bucketAddress = "", retention = {}, collects = false, readsOnly = false }: RemoteOptions,
): Promise<Remote> {
  if (address === undefined) {
    throw new SpillwayError(
      "missing-part",
      "a store in S3 needs a ledger in PostgreSQL beside it, which knows what is where: set SPILLWAY_LEDGER or --ledger",
    );
  }
  const bucket = await openBucket(bucketAddress);
  const database = await openPostgres(address);
  const spoolDir = join(dir, "uploads", hashOf(`${database.place}\n${bucket.place}`));
  const spoolDatabase = await openDatabase(spoolDir).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  const close = async () => {
    await database.close();
    await spoolDatabase.close();
  };
  try {
    const limits = { maxBytes: NUMBERS.spoolBytes.default };
    const newSecret = () => sharedSecret(database);
    const spool = await localStore({ dir: spoolDir, database: spoolDatabase, limits, newSecret, keepsAll: true });
    await checkSecret(database, spool.secret, spoolDir);
    const store = remoteStore({ shared: database, bucket, spool, spoolDatabase, uploads: !readsOnly });
    const ledger = sqlLedger(database, "postgres");
    const isOff = retention === "off";
    const place = { dir, store, database, inTurn: sharedTurn(database) };
    const collector = collects && !isOff ? startCollector(place, retention) : null;
    return {
      dir,
      store: collector === null ? store : { ...store, begin: (about) => (collector.kept(), store.begin(about)) },
      ledger,
      database,
      spool: store.spool,
      async collect() {
        if (isOff) return false;
        return collectWhenDue(place, retention, AbortSignal.timeout(NUMBERS.collectQuickMs.default));
      },
      async close() {
        await collector?.stop();
        await store.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Returns the secret of all machines, and makes it on first use. */
async function sharedSecret({ kysely, commit }: Postgres): Promise<Uint8Array> {
  const secret = { name: "secret", value: randomBytes(SECRET_BYTES) };
  return commit(function* () {
    yield* change(
      kysely
        .insertInto("settings")
        .values(secret)
        .onConflict((conflict) => conflict.doNothing()),
    );
    const [found] = yield* all(kysely.selectFrom("settings").select("value").where("name", "=", secret.name));
    return found?.value ?? secret.value;
  });
}

/** Throws if the folder was used with another database. While the database does not answer, the folder is believed. */
async function checkSecret(database: Postgres, own: Uint8Array, dir: string): Promise<void> {
  const shared = await sharedSecret(database).catch(() => own);
  if (Buffer.compare(shared, own) === 0) return;
  throw new SpillwayError(
    "store-damaged",
    `${dir} belongs to another database than ${database.place} is now: their secrets differ, so the ids of what waits ` +
      "there are unknown here. If that database was made anew, restore its table settings, or move the folder away.",
  );
}

/** Retention runs on one machine at a time, and at most once an hour on all of them together. */
function sharedTurn({ kysely, read, commit, alone }: Postgres): InTurn {
  const name = "collected";
  const last = kysely.selectFrom("settings").select("value").where("name", "=", name);
  return async (nowMs, act) => {
    const done = await alone("retention", async () => {
      const [found] = await read(() => all(last));
      if (found !== undefined && !isCollectDue(Number(Buffer.from(found.value).toString()), nowMs)) return false;
      const value = Buffer.from(String(nowMs));
      const stamp = kysely
        .insertInto("settings")
        .values({ name, value })
        .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }));
      await commit(() => change(stamp));
      if (!(await act())) await commit(() => change(kysely.deleteFrom("settings").where("name", "=", name)));
      return true;
    });
    return done ?? false;
  };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
