import type { Ledger } from "../../contract/ledger.ts";
import type { Store } from "../../contract/store.ts";
import type { Local } from "./open-local.ts";

/**
 * A folder that could not be opened: each call tries again, and fails with the reason until it can be. Whoever keeps or
 * records is ready for that, and asks less often after some failures.
 */
export function openLater(open: () => Promise<Local>): { store: Store; ledger: Ledger } {
  let opening: Promise<Local> | null = null;
  const local = (): Promise<Local> => {
    opening ??= open().catch((error: unknown) => {
      opening = null;
      throw error;
    });
    return opening;
  };
  const store = async () => (await local()).store;
  const ledger = async () => (await local()).ledger;
  return {
    store: {
      name: "local",
      begin: async (about) => (await store()).begin(about),
      find: async (id, scope) => (await store()).find(id, scope),
      read: async (id, scope, range) => (await store()).read(id, scope, range),
      locate: async (id, scope, lines) => (await store()).locate(id, scope, lines),
      file: async (id, scope) => (await store()).file(id, scope),
      list: async (query) => (await store()).list(query),
      remove: async (id, scope) => (await store()).remove(id, scope),
      close: async () => (await opening?.catch(() => null))?.store.close(),
    },
    ledger: {
      name: "sqlite",
      record: async (event) => (await ledger()).record(event),
      events: async (query) => (await ledger()).events(query),
      stats: async (query) => (await ledger()).stats(query),
      sessions: async (max) => (await ledger()).sessions(max),
      pin: async (session, pinned) => (await ledger()).pin(session, pinned),
      removeSession: async (session) => (await ledger()).removeSession(session),
      projection: async (key) => (await ledger()).projection(key),
      saveProjection: async (projection) => (await ledger()).saveProjection(projection),
      close: async () => (await opening?.catch(() => null))?.ledger.close(),
    },
  };
}
