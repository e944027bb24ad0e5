import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Ledger } from "../../contract/ledger.ts";
import type { Retention } from "../../contract/store.ts";
import { SpillwayError } from "../../errors.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { LOCAL_SCOPE, sqlLedger } from "../ledgers/sql.ts";
import { SECRET_BYTES, SECRET_FILE } from "../local/artifact-key.ts";
import { artifactRows, SECRET } from "../local/artifact-rows.ts";
import { type InTurn, isCollectDue, retained } from "../local/collect-when-due.ts";
import { LEDGER_DOWN } from "../local/data-folder.ts";
import { openDatabase } from "../local/open-database.ts";
import { PRIVATE_FILE } from "../local/store-folders.ts";
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
  scope?: string | undefined;
  firstSecret?: Uint8Array | undefined;
  tell?: ((news: string) => void) | undefined;
}

/** What many machines share: artifacts in a bucket, everything else in a PostgreSQL database. */
export interface Remote {
  dir: string;
  store: RemoteStore;
  ledger: Ledger;
  ledgerOf(scope: string): Ledger;
  database: Postgres;
  spool: Spool;
  collect(): Promise<boolean>;
  close(): Promise<void>;
}

/** Opens what many machines share. What waits for its upload is below this machine's folder. */
export async function openRemote(dir: string, options: RemoteOptions): Promise<Remote> {
  const { ledger: address, store: bucketAddress = "", retention = {}, collects = false, readsOnly = false } = options;
  if (address === undefined) {
    throw new SpillwayError(
      "missing-part",
      "a store in S3 needs a ledger in PostgreSQL beside it, which knows what is where: set SPILLWAY_LEDGER or --ledger",
    );
  }
  const bucket = await openBucket(bucketAddress);
  const database = await openPostgres(address, join(dir, LEDGER_DOWN), options.tell);
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
    const mark = join(spoolDir, EARLY_MARK);
    const wasMarked = existsSync(mark);
    const first = options.firstSecret && Buffer.from(options.firstSecret);
    const newSecret = () => sharedSecret(database, first).catch((error: unknown) => earlySecret(error, mark));
    const spool = await localStore({ dir: spoolDir, database: spoolDatabase, limits, newSecret, keepsAll: true });
    const own = { dir: spoolDir, secret: spool.secret, mark, isEarly: wasMarked || existsSync(mark) };
    let settling: Promise<void> | null = null;
    const settle = () => {
      settling ??= settleSecret(database, own).catch((error: unknown) => {
        settling = null;
        throw error;
      });
      return settling;
    };
    // While the database does not answer, the folder is believed.
    if (database.hasAnswered()) await settle().catch(unlessUnavailable);
    const store = remoteStore({
      shared: database,
      bucket,
      spool,
      spoolDatabase,
      settle,
      uploads: !readsOnly,
      tell: options.tell,
    });
    const ledgerOf = (scope: string) => sqlLedger(database, "postgres", scope);
    const { stop, ...kept } = retained({ dir, store, database, inTurn: sharedTurn(database) }, retention, collects);
    return {
      dir,
      ...kept,
      ledger: ledgerOf(options.scope ?? LOCAL_SCOPE),
      ledgerOf,
      database,
      spool: store.spool,
      async close() {
        await stop();
        await store.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Returns the secret of all machines. On first use the one that is handed in becomes it. */
async function sharedSecret({ kysely, commit }: Postgres, first = randomBytes(SECRET_BYTES)): Promise<Uint8Array> {
  const secret = { name: SECRET, value: first };
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

/** The file in the spool that says that its secret was made before that of all machines could be read. */
const EARLY_MARK = "early";

/** Makes a secret of this machine's own while the database does not answer, so that outputs can be saved. */
async function earlySecret(error: unknown, mark: string): Promise<Uint8Array> {
  unlessUnavailable(error);
  await writeFile(mark, "", { mode: PRIVATE_FILE });
  return randomBytes(SECRET_BYTES);
}

function unlessUnavailable(error: unknown): void {
  if (!SpillwayError.is(error) || error.code !== "store-unavailable") throw error;
}

/**
 * Compares this machine's secret with that of all. If it was made early and differs, it is told to the others, since ids were
 * made with it, and the next process uses that of all. Throws if the folder was used with another database.
 */
async function settleSecret(
  database: Postgres,
  { dir, secret, mark, isEarly }: { dir: string; secret: Uint8Array; mark: string; isEarly: boolean },
): Promise<void> {
  const shared = await sharedSecret(database, isEarly ? Buffer.from(secret) : undefined);
  if (Buffer.compare(shared, secret) !== 0) {
    if (!isEarly) {
      throw new SpillwayError(
        "store-damaged",
        `${dir} belongs to another database than ${database.place} is now: their secrets differ, so the ids of what waits ` +
          "there are unknown here. If that database was made anew, restore its table settings, or move the folder away.",
      );
    }
    await database.commit(() => artifactRows(database).learnSecret(Buffer.from(secret)));
    const part = join(dir, `${SECRET_FILE}.${randomBytes(6).toString("hex")}`);
    await writeFile(part, shared, { mode: PRIVATE_FILE, flush: true });
    await rename(part, join(dir, SECRET_FILE));
  }
  if (isEarly) await rm(mark, { force: true });
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
