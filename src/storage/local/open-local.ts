import type { Ledger } from "../../contract/ledger.ts";
import { sqliteLedger } from "../ledgers/sqlite.ts";
import { type LocalStore, localStore } from "../stores/local.ts";
import { dataFolder } from "./data-folder.ts";
import { type Database, openDatabase } from "./open-database.ts";

/** Everything that is kept on this machine. */
export interface Local {
  dir: string;
  store: LocalStore;
  ledger: Ledger;
  database: Database;
  close(): Promise<void>;
}

/** Opens the folder in which a user's artifacts and events are kept, and makes it if it is not there. */
export async function openLocal(dir: string = dataFolder()): Promise<Local> {
  const database = await openDatabase(dir);
  const store = await localStore({ dir, database });
  const ledger = sqliteLedger(database);
  return {
    dir,
    store,
    ledger,
    database,
    async close() {
      await ledger.close();
      await store.close();
      database.close();
    },
  };
}
