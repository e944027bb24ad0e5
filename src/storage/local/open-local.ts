import type { Ledger } from "../../contract/ledger.ts";
import type { Retention } from "../../contract/store.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { sqliteLedger } from "../ledgers/sqlite.ts";
import { type LocalStore, localStore } from "../stores/local.ts";
import { collectWhenDue, startCollector } from "./collect-when-due.ts";
import { dataFolder } from "./data-folder.ts";
import { type Database, openDatabase } from "./open-database.ts";
import { ownerFault } from "./owner-fault.ts";

/** Everything that is kept on this machine. */
export interface Local {
  dir: string;
  store: LocalStore;
  ledger: Ledger;
  database: Database;
  /** Applies retention if it is due, for half a second: for a process that ends. */
  collect(): Promise<void>;
  close(): Promise<void>;
}

/** How a folder is opened. */
export interface OpenLocalOptions {
  /** What may stay; "off" for everything. */
  retention?: Retention | "off" | undefined;
  /** The process stays: retention is applied in its background, once an hour. */
  collects?: boolean;
  /** Nothing is going to be kept. */
  readsOnly?: boolean;
}

/** Opens the folder in which a user's artifacts and events are kept, and makes it if it is not there. */
export async function openLocal(
  dir: string = dataFolder(),
  { retention = {}, collects = false, readsOnly = false }: OpenLocalOptions = {},
): Promise<Local> {
  const saidWhose = (error: unknown): never => {
    throw ownerFault(error, dir);
  };
  const database = await openDatabase(dir, { readsOnly }).catch(saidWhose);
  const isOff = retention === "off";
  const maxBytes = isOff ? Infinity : retention.maxBytes;
  const limits = maxBytes === undefined ? {} : { maxBytes };
  const store = await localStore({ dir, database, limits }).catch((error: unknown) => {
    void database.close();
    return saidWhose(error);
  });
  const ledger = sqliteLedger(database);
  const collector = collects && !isOff ? startCollector({ dir, store, database }, retention) : null;
  return {
    dir,
    store: collector === null ? store : { ...store, begin: (about) => (collector.kept(), store.begin(about)) },
    ledger,
    database,
    async collect() {
      if (!isOff)
        await collectWhenDue({ dir, store, database }, retention, AbortSignal.timeout(NUMBERS.collectQuickMs.default));
    },
    async close() {
      await collector?.stop();
      await ledger.close();
      await store.close();
      await database.close();
    },
  };
}
