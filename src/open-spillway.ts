import { hostname, userInfo } from "node:os";
import { resolve } from "node:path";
import type { Reader } from "./admit/reader.ts";
import type { RecordedBy } from "./admit/recorder.ts";
import { openRedaction } from "./admit/redaction.ts";
import type { Ledger } from "./contract/ledger.ts";
import type { ModelSource } from "./contract/model-client.ts";
import type { Searcher } from "./contract/searcher.ts";
import { messageOf } from "./errors.ts";
import type { Histories } from "./histories/histories.ts";
import { checkOptions } from "./spillway/check-options.ts";
import { assembleSpillway, type Spillway, type SpillwayOptions, type SpillwayPorts } from "./spillway.ts";
import { type Logger, logFault } from "./stages/record/events.ts";
import { isTraced, tried } from "./values.ts";

/** What commands hand in beside. */
type OpenOptions = SpillwayOptions & Pick<SpillwayPorts, "placeFaults">;

/** Guards and caps messages, where that is needed. */
type NewHistories = NonNullable<SpillwayPorts["histories"]>;

/** A Spillway with its defaults filled in. Without `histories` it has no guard and no cap: commands that need neither start faster. */
export async function openSpillway(options: OpenOptions, histories: NewHistories): Promise<Spillway>;
export async function openSpillway(options: OpenOptions): Promise<Omit<Spillway, keyof Histories>>;
export async function openSpillway(
  { placeFaults, ...options }: OpenOptions,
  histories?: NewHistories,
): Promise<Spillway> {
  const { policy, dir, events, runs, redact, retention, overflow, env = process.env, ...rest } = options;
  const given = { ...rest, scope: rest.scope ?? (env.SPILLWAY_SCOPE || undefined) };
  checkOptions(options);
  const [rules, redaction, local] = await Promise.all([
    overflow === undefined
      ? []
      : import("./stages/recover/compile-signatures.ts").then(({ openRules }) => openRules(overflow)),
    // Where outputs are saved by default, guardSync must not have to wait for it.
    openRedaction(redact, given.store === undefined),
    given.store === undefined || typeof given.store === "string"
      ? openPlace(dir, env, { ...given, retention })
      : {
          store: given.store,
          ledger: typeof given.ledger === "string" ? await openLedger(given.ledger, given.scope) : null,
        },
  ]);
  const kept: OpenedPlace = {
    ...local,
    ...(given.ledger !== undefined && typeof given.ledger !== "string" && { ledger: given.ledger }),
  };
  const files =
    (events ?? runs) === undefined
      ? {}
      : (await import("./storage/event-files/open-event-files.ts")).openEventFiles({ events, runs }, kept.store, {
          scope: given.scope,
          retention,
          ledger: kept.ledger,
        });
  const openModel = async (source: ModelSource) =>
    (await import("./drivers/model-client/model-client.ts")).modelClient(source, given.now);
  // A wrong endpoint should show here, not with the first output.
  if (given.summarizer !== undefined) await openModel(given.summarizer);
  const exactCounter = async () => (await import("./drivers/exact-token-counter.ts")).loadExactCounter();
  let searching: Promise<Searcher> | undefined;
  const searcher = () => (searching ??= openSearcher(given.logger));
  const { htmlReader = async () => (await import("./drivers/html-reader.ts")).loadHtmlReader() } = given;
  const telemetry = isTraced() ? await (await import("./drivers/telemetry.ts")).loadTelemetry() : null;
  return assembleSpillway({
    ...given,
    onEvent: (event) => {
      telemetry?.tell(event);
      return given.onEvent?.(event);
    },
    ...(placeFaults !== undefined && { placeFaults }),
    ...kept,
    ...files,
    by: recordedBy(),
    openModel,
    // A counter of one's own is not passed over.
    ...(given.counter === undefined && { exactCounter }),
    searcher,
    htmlReader,
    histories,
    redaction,
    rules,
    env,
    policy: [policy],
    reader: namedReader(given.reader, dir ?? (env === process.env ? undefined : env.SPILLWAY_DIR)),
  });
}

/** Who records events here. A user may have a number only, as in a container. */
export function recordedBy(): RecordedBy {
  const user = tried(() => userInfo().username) ?? String(process.getuid?.() ?? "unknown");
  return { user, host: hostname(), process: process.pid };
}

type OpenedPlace = Pick<SpillwayPorts, "store" | "ledger" | "placeFaults" | "onReadBack">;

/** Opens this machine's folder. If it cannot be opened, an agent goes on without it, unless its own code named the folder. */
async function openPlace(
  named: string | undefined,
  env: NonNullable<SpillwayOptions["env"]>,
  given: Pick<SpillwayOptions, "reader" | "logger" | "retention" | "ledger" | "store" | "scope">,
): Promise<OpenedPlace> {
  const { reader, logger, retention, scope } = given;
  const ledger = addressOf(given.ledger, env.SPILLWAY_LEDGER);
  const store = addressOf(given.store, env.SPILLWAY_STORE);
  const dir = named ?? (env.SPILLWAY_DIR || undefined);
  const open = async () =>
    (await import("./storage/local/open-local.ts")).openLocal(dir, { collects: true, retention, ledger, store, scope });
  try {
    return await open();
  } catch (error) {
    if ([named, given.ledger, given.store].some((place) => typeof place === "string")) throw error;
    const inMemory = async (reason: unknown) => {
      const [{ memoryStore }, { memoryLedger }] = await Promise.all([
        import("./storage/stores/memory.ts"),
        import("./storage/ledgers/memory.ts"),
      ]);
      const fault = `outputs are kept in this process's memory only: ${messageOf(reason)}`;
      warn(logger, "memory", fault);
      return { store: memoryStore(), ledger: memoryLedger(), placeFaults: [fault] };
    };
    // Only a reader whose tools run in this process can read back what is kept in its memory.
    if (reader?.by === "tool") return inMemory(error);
    warn(logger, "store", `outputs cannot be saved: ${messageOf(error)}`);
    const placeFaults: string[] = [];
    let isReadHere = false;
    const openOrKeepHere = () =>
      open().catch(async (again: unknown) => {
        if (!isReadHere) throw again;
        const { store, ledger, placeFaults: faults } = await inMemory(again);
        placeFaults.push(...faults);
        return { store, ledger, ledgerOf: () => ledger, close: async () => {} };
      });
    const { openLater } = await import("./storage/local/open-local.ts");
    const onReadBack = () => {
      isReadHere = true;
    };
    return { ...openLater(openOrKeepHere), placeFaults, onReadBack };
  }
}

/** The address that code names, or that the environment names where code says nothing. */
function addressOf(given: unknown, variable: string | undefined): string | undefined {
  if (typeof given === "string") return given;
  return given === undefined && variable ? variable : undefined;
}

async function openLedger(address: string, scope: string | undefined): Promise<Ledger> {
  const [{ openPostgres }, { sqlLedger }] = await Promise.all([
    import("./storage/remote/postgres.ts"),
    import("./storage/ledgers/sql.ts"),
  ]);
  const database = await openPostgres(address);
  return { ...sqlLedger(database, "postgres", scope), close: () => database.close() };
}

async function openSearcher(logger: Logger | undefined): Promise<Searcher> {
  const { loadSearcher } = await import("./drivers/searcher.ts");
  return loadSearcher({ onMissing: (fault) => warn(logger, "search", `searches take longer: ${fault}`) });
}

type Missing = "store" | "memory" | "search";

/** What this process was warned of. */
const warned = new Set<Missing>();

/** Warns that something is missing. If there is no logger, the process is warned, once for each kind. */
function warn(logger: Logger | undefined, kind: Missing, fault: string): void {
  if (logger !== undefined) return logFault(logger, fault);
  if (warned.has(kind)) return;
  warned.add(kind);
  process.emitWarning(fault, "SpillwayWarning");
}

/** A shell finds the folder by itself, unless it was named here only. */
function namedReader(reader: Reader | undefined, dir: string | undefined): Reader | undefined {
  if (reader?.by !== "shell" || reader.dir !== undefined || !dir) return reader;
  return { ...reader, dir: resolve(dir) };
}
