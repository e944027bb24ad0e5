import type { Ledger } from "./contract/ledger.ts";
import type { PolicyInput, ProfileName } from "./contract/policy.ts";
import type { Store } from "./contract/store.ts";
import { SpillwayError } from "./errors.ts";
import type { Histories } from "./persist/histories.ts";
import { assembleSpillway, openRedaction, type Redact, type Spillway, type SpillwayParts } from "./spillway.ts";

/** Parts a caller may hand in; what is left out has a default. */
export interface SpillwayOptions
  extends Partial<Omit<SpillwayParts, "policy" | "searcher" | "histories" | "redaction" | "logs" | "copyOut">> {
  /** Where secrets are replaced; "on" by default: in what is stored and logged. */
  redact?: Redact | undefined;
  policy?: PolicyInput | ProfileName;
  /** A file to which every event is added as a line of JSON. */
  events?: string | undefined;
  /** A folder with a run for each session: its events, and each kept output as a plain file. */
  runs?: string | undefined;
  /** The folder for artifacts and events; the user's data folder, or SPILLWAY_DIR, by default. */
  dir?: string | undefined;
}

/** Guards and caps messages, where that is needed. */
type NewHistories = NonNullable<SpillwayParts["histories"]>;

/** A Spillway with its defaults filled in. Without `histories` it has no guard and no cap: commands that need neither start faster. */
export async function openSpillway(options: SpillwayOptions, histories: NewHistories): Promise<Spillway>;
export async function openSpillway(options: SpillwayOptions): Promise<Omit<Spillway, keyof Histories>>;
export async function openSpillway(options: SpillwayOptions, histories?: NewHistories): Promise<Spillway> {
  const { policy, dir, events, runs, redact, env = process.env, ...parts } = options;
  const unknown = Object.keys(options).find((key) => !OPTIONS.has(key));
  if (unknown !== undefined) {
    throw new SpillwayError(
      "bad-input",
      `createSpillway has no option "${unknown}"; known are ${[...OPTIONS].join(", ")}`,
    );
  }
  if (parts.reader?.by === "file" && runs === undefined) {
    throw new SpillwayError(
      "missing-part",
      'reader: { by: "file" } needs runs, the folder in which its copies are made',
    );
  }
  const [redaction, local] = await Promise.all([
    // Where outputs are saved by default, guardSync must not have to wait for it.
    openRedaction(redact, parts.store === undefined),
    parts.store === undefined
      ? openPlace(dir ?? (env.SPILLWAY_DIR || undefined))
      : { store: parts.store, ledger: null },
  ]);
  const kept = { ...local, ...(parts.ledger !== undefined && { ledger: parts.ledger }) };
  const files =
    (events ?? runs) === undefined
      ? {}
      : (await import("./storage/event-files/open-event-files.ts")).openEventFiles(
          { events, runs },
          kept.store,
          parts.scope,
        );
  const searcher = async () => (await import("./parts/searcher.ts")).loadSearcher();
  return assembleSpillway({
    ...parts,
    ...kept,
    ...files,
    searcher,
    histories,
    redaction,
    env,
    policy: [policy],
  });
}

const OPTIONS = new Set([
  "store",
  "ledger",
  "dir",
  "policy",
  "env",
  "counter",
  "strategies",
  "scope",
  "reader",
  "redact",
  "events",
  "runs",
  "logger",
  "hostLimits",
  "onReceipt",
  "onEvent",
  "now",
]);

/** This machine's folder; memory where it cannot be had, since an agent must go on. */
async function openPlace(dir: string | undefined): Promise<{ store: Store; ledger: Ledger }> {
  try {
    const { openLocal } = await import("./storage/local/open-local.ts");
    return await openLocal(dir);
  } catch (error) {
    if (dir !== undefined) throw error; // somebody named it: they should know
    const { memoryStore } = await import("./storage/stores/memory.ts");
    const { memoryLedger } = await import("./storage/ledgers/memory.ts");
    return { store: memoryStore(), ledger: memoryLedger() };
  }
}
