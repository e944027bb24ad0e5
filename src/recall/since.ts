import type { Ledger } from "../contract/ledger.ts";
import type { RunChanges } from "../contract/run-changes.ts";
import type { Artifact, ArtifactAbout, Scope, Store } from "../contract/store.ts";
import { SpillwayError } from "../errors.ts";
import { compareRuns, RunLines } from "../stages/clamp/since.ts";
import { binaryRun, changesText, noEarlierRun } from "../stages/mark/changes-text.ts";
import { describeBinary, SAMPLE_BYTES } from "../stages/measure/scan.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { setNewest } from "../values.ts";
import { openArtifact } from "./open-artifact.ts";
import type { ReadBy } from "./recall.ts";

/** What to compare an output with: an artifact's id, the last good run of its command, or the last run of any sort. */
export interface SinceOptions extends ReadBy {
  /** By default the last good run; if there is none, the last one. */
  against?: string | undefined;
  /** The most that the text may have. */
  maxChars?: number | undefined;
}

/** What changed since another run, and the text that a model reads of it. */
export interface SincePage extends RunChanges {
  before: Artifact;
  after: Artifact;
  text: string;
}

/** An earlier run is looked for among so many outputs, and an artifact is read up to so many bytes from each end. */
const MOST_LISTED = 500;
const MOST_BYTES = 32 * 1024 * 1024;

/** Where runs are kept, and where each is recorded. */
interface RunPlaces {
  store: Store;
  ledger: Ledger | null;
}

/** Says what is new in an output, what is gone and which counts moved since another run. */
export async function since(
  places: RunPlaces,
  id: string,
  scope: Scope,
  options: SinceOptions = {},
): Promise<SincePage> {
  const { store } = places;
  const { against, maxChars = NUMBERS.recallChars.default } = options;
  const { artifact: after } = await openArtifact(store, id, scope);
  const before = await beforeOf(places, after, scope, against);
  for (const run of before.id === after.id ? [] : [after, before]) {
    const kind = await binaryKind(store, run);
    if (kind === null) continue;
    const nothing = compareRuns(new RunLines(), new RunLines());
    return { ...nothing, before, after, text: binaryRun(run.id, kind, run.bytes).slice(0, Math.max(0, maxChars)) };
  }
  const [old, now] = [await readRun(store, before, MOST_BYTES), await readRun(store, after, MOST_BYTES)];
  const changes = compareRuns(old, now);
  return { ...changes, before, after, text: changesText(changes, before, after, maxChars) };
}

/** The format of a run that is no text, else null. */
async function binaryKind(store: Store, { id, scope, bytes }: Artifact): Promise<string | null> {
  const { read, close } = await openArtifact(store, id, scope);
  try {
    return describeBinary(await read({ from: 0, to: Math.min(SAMPLE_BYTES, bytes) }));
  } finally {
    await close();
  }
}

async function beforeOf(
  { store, ledger }: RunPlaces,
  after: Artifact,
  scope: Scope,
  against: string | undefined,
): Promise<Artifact> {
  if (against !== undefined && against !== "good" && against !== "last")
    return (await openArtifact(store, against, scope)).artifact;
  const others = await earlierRuns(store, scope, after, after);
  const againMs = ledger === null ? null : await printedBeforeMs(ledger, after);
  const isBetween = ({ createdAtMs }: Artifact) => createdAtMs > (againMs ?? 0) && createdAtMs <= after.createdAtMs;
  const runs = againMs === null ? others : [...others.filter(isBetween), after, ...others];
  const good = against === "last" ? undefined : runs.find(({ exitCode }) => exitCode === 0);
  const before = good ?? (against === "good" ? undefined : runs[0]);
  if (before === undefined)
    throw new SpillwayError("unknown-artifact", noEarlierRun(after.id, after.command, against === "good"));
  return before;
}

/** Runs of an output that are looked through for the one before the last. */
const MOST_RECORDED = 50;

/** When the command printed the same the time before. The same bytes are one artifact, so that only the ledger knows. */
async function printedBeforeMs(ledger: Ledger, { id, command, folder, session }: Artifact): Promise<number | null> {
  const query = { artifact: id, kinds: ["output-clamped" as const], order: "newest" as const, max: MOST_RECORDED };
  const recorded = await ledger.events(query).catch(() => []);
  const [last, ...earlier] = recorded.filter(
    (event) =>
      command !== null &&
      event.more?.["command"] === command &&
      (folder === null ? session !== null && event.session === session : event.more["folder"] === folder),
  );
  return earlier.find(({ call }) => call === null || call !== last?.call)?.atMs ?? null;
}

type Made = Pick<ArtifactAbout, "command" | "folder" | "session">;

/** A store keeps so much of a command. */
const COMMAND_CHARS = 1000;

/** The saved outputs of the same command, in the same folder or, if that is not known, the same session; newest first. */
async function earlierRuns(store: Store, scope: Scope, made: Made, than?: Artifact): Promise<Artifact[]> {
  const command = made.command?.slice(0, COMMAND_CHARS) ?? null;
  const { folder = null, session } = made;
  if (command === null || (folder === null && session === null)) return [];
  const query =
    folder === null && session !== null ? { scope, session, max: MOST_LISTED } : { scope, max: MOST_LISTED };
  const listed = await store.list(query);
  const runs = listed.filter((one) => one.command === command && one.folder === folder && one.id !== than?.id);
  // The same bytes may have been saved again since: their time is that of the last run.
  const earlier = than === undefined ? runs : runs.filter(({ createdAtMs }) => createdAtMs <= than.createdAtMs);
  return earlier.length > 0 ? earlier : runs;
}

async function readRun(store: Store, { id, scope, bytes }: Artifact, most: number): Promise<RunLines> {
  const run = new RunLines();
  const { read, close } = await openArtifact(store, id, scope);
  const PIECE = 1024 * 1024;
  try {
    for (let from = 0; from < bytes; from += PIECE) {
      // The middle of a very large output is left out.
      if (from >= most && from < bytes - most) from = bytes - most;
      run.add(await read({ from, to: Math.min(from + PIECE, bytes) }));
    }
  } finally {
    await close();
  }
  return run.end();
}

/** So much of each end of a good run is read for weighing the lines of the next. */
const WEIGHED_BYTES = 1024 * 1024;
/** The good runs that were read last. */
const MOST_RUNS = 8;

/** Finds the last good run of a command, for weighing the lines of its next run. Null if there is none. */
export function newLastGood(store: Store, scope: Scope): (made: Made) => Promise<RunLines | null> {
  const runs = new Map<string, RunLines>();
  return async (made) => {
    const good = (await earlierRuns(store, scope, made)).find(({ exitCode }) => exitCode === 0);
    if (good === undefined) return null;
    const run = runs.get(good.id) ?? (await readRun(store, good, WEIGHED_BYTES));
    setNewest(runs, good.id, run, MOST_RUNS);
    return run;
  };
}
