import type { Store } from "../../contract/store.ts";
import { memoryLedger } from "../ledgers/memory.ts";
import type { LocalStore } from "../stores/local.ts";
import { memoryStore } from "../stores/memory.ts";
import { dataFolder } from "./data-folder.ts";
import type { Local } from "./open-local.ts";

/** What a reader needs of a local folder. */
export interface ReadableLocal extends Pick<Local, "dir" | "ledger" | "close"> {
  store: Store & Pick<LocalStore, "resolvePrefix" | "verify">;
}

/** A folder in which nothing was kept yet, for readers: it is not made for them. */
export function emptyLocal(dir: string = dataFolder()): ReadableLocal {
  return {
    dir,
    store: {
      ...memoryStore(),
      resolvePrefix: async () => [],
      verify: async () => ({ checked: 0, checkedBytes: 0, damaged: [], missing: [], orphaned: [] }),
    },
    ledger: memoryLedger(),
    close: async () => {},
  };
}
