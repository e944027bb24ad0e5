import { resolve } from "node:path";
import type { Ledger } from "../../contract/ledger.ts";
import type { Artifact, Retention, Scope, Store } from "../../contract/store.ts";
import { badInput } from "../../errors.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { type EventListener, fileEvents } from "./file-events.ts";
import { copyOutput, runDirectory } from "./run-directory.ts";

/** Says where events are written besides the ledger. */
export interface EventPlaces {
  /** The path of a log that gets all events. */
  events?: string | undefined;
  /** The path of a folder that gets one run for each session. */
  runs?: string | undefined;
}

/** Writes to the places that `EventPlaces` names. */
export interface EventFiles {
  logs: EventListener[];
  /** Returns the path of the artifact's plain copy in its session's run, or null if no copy can be made. */
  copyOut?: (artifact: Pick<Artifact, "id" | "session" | "tool">) => Promise<string | null>;
}

/** Whose outputs are copied, and how long runs are kept; the ledger knows which sessions are pinned. */
export interface KeptFor {
  scope?: Scope | undefined;
  retention?: Retention | "off" | undefined;
  ledger?: Ledger | null | undefined;
}

/** Opens the log and the folder of runs, each only if it is named. */
export function openEventFiles(places: EventPlaces, store: Store | null, kept: KeptFor = {}): EventFiles {
  const { scope = "local", retention, ledger } = kept;
  const isPinned = async (session: string) =>
    (await ledger?.sessions({ session, max: 1 }))?.some(({ pinned }) => pinned) ?? false;
  const maxAgeMs = retention === "off" ? undefined : (retention?.maxAgeMs ?? NUMBERS.retainAgeMs.default);
  const logs: EventListener[] = [];
  const events = checked(places.events, "events");
  if (events !== undefined) logs.push(fileEvents(events));
  const runs = checked(places.runs, "runs");
  if (runs === undefined) return { logs };
  logs.push(runDirectory(runs, store, { scope, maxAgeMs, isPinned }));
  if (store === null) return { logs };
  return {
    logs,
    async copyOut({ id, session, tool }) {
      const path = await copyOutput(runs, store, { id, scope, session, tool });
      // A marker is one line. If a control character in the path would break the line, no path is given.
      return path === null || CONTROL.test(path) ? null : path;
    },
  };
}

const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;

function checked(path: unknown, name: string): string | undefined {
  if (path === undefined) return undefined;
  if (typeof path === "string" && path.trim() !== "") return resolve(path);
  throw badInput(`${name} must be a path; got ${JSON.stringify(path) ?? String(path)}`);
}
