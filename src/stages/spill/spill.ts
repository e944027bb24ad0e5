import type { Artifact, ArtifactAbout, ArtifactWriter, Store } from "../../contract/store.ts";
import { type Breaker, newTurns, within } from "../../deadline.ts";
import { messageOf } from "../../errors.ts";
import { isPromise, joinBytes } from "../../values.ts";

/** Saves one output while it passes. Never throws: `fault` says what went wrong, and the clamp goes on. */
export interface Spill {
  /** The bytes are only read until this resolves. */
  add(bytes: Uint8Array): Promise<void>;
  /** Takes the exit code of the command whose output it was. */
  end(exitCode?: number | null): Promise<Spilled>;
}

/** What became of one output. */
export interface Spilled {
  artifact: Artifact | null;
  fault: string | null;
}

/** Replaces secrets in bytes on their way into a store. Passes on, through `take`, the bytes that are certain. */
export interface Redactor {
  /** The bytes are only read during the call, and so are those that `take` gets. */
  add(bytes: Uint8Array): void;
  end(): Artifact["redactions"];
}

/** Says where and how outputs are saved. */
export interface SpillPlace {
  /** Null saves nothing. */
  store: Store | null;
  breaker: Breaker;
  /** The longest wait for each call of the store. */
  deadlineMs: number;
  /** Loads the redactor when the first output is saved. Null saves outputs as they are. */
  loadRedactor: (() => Promise<StartRedactor>) | null;
  /** Returns what `loadRedactor` loaded, or null if it has not finished. It is for callers that cannot wait. */
  loadedRedactor?: () => StartRedactor | null;
}

/** Starts to replace secrets in one output. `take` gets the bytes that are certain. */
export type StartRedactor = (take: (bytes: Uint8Array) => void) => Redactor;

/** Says that no secret was replaced. */
const NOT_REDACTED: Artifact["redactions"] = { count: 0, bytes: 0 };

/** How many bytes are redacted at a time. It bounds what is copied of an output that comes in one piece. */
const REDACTED_BYTES = 1024 * 1024;

/**
 * How many calls a store gets at a time. With thousands of outputs at once the others wait for their turn, and so do the
 * tools that write them. Without this each would open a file, and most would not be saved.
 */
const CALLS_AT_ONCE = 32;
const turns = newTurns(CALLS_AT_ONCE);

/** Starts to save one output. */
export function startSpill(place: SpillPlace, about: ArtifactAbout): Spill {
  const { store, breaker, deadlineMs } = place;
  if (store === null) return { add: async () => {}, end: async () => ({ artifact: null, fault: null }) };
  if (!breaker.allows()) {
    const fault = "spill failed: the store failed several times in a row and is not tried for a while";
    return { add: async () => {}, end: async () => ({ artifact: null, fault }) };
  }
  return new RunningSpill(store, breaker, deadlineMs, place.loadRedactor, about);
}

class RunningSpill implements Spill {
  readonly #store: Store;
  readonly #breaker: Breaker;
  readonly #deadlineMs: number;
  readonly #about: ArtifactAbout;
  readonly #loadRedactor: SpillPlace["loadRedactor"];
  #redactor: Redactor | null = null;
  #writer: ArtifactWriter | null = null;
  /** Bytes that redaction released and that the store has not got yet. */
  readonly #certain = new CertainBytes();
  #addedBytes = 0;
  #fault: string | null = null;

  constructor(
    store: Store,
    breaker: Breaker,
    deadlineMs: number,
    loadRedactor: SpillPlace["loadRedactor"],
    about: ArtifactAbout,
  ) {
    this.#store = store;
    this.#breaker = breaker;
    this.#deadlineMs = deadlineMs;
    this.#about = about;
    this.#loadRedactor = loadRedactor;
  }

  async add(bytes: Uint8Array): Promise<void> {
    await this.#attempt(async () => {
      if (this.#loadRedactor === null) return this.#write(bytes);
      this.#redactor ??= (await this.#loadRedactor())((certain) => this.#certain.add(certain));
      for (let from = 0; from < bytes.length; from += REDACTED_BYTES) {
        const piece = bytes.length <= REDACTED_BYTES ? bytes : bytes.subarray(from, from + REDACTED_BYTES);
        this.#certain.begin(piece);
        this.#redactor.add(piece);
        await this.#write(this.#certain.take());
      }
    });
  }

  async end(exitCode: number | null = null): Promise<Spilled> {
    let redactions = NOT_REDACTED;
    await this.#attempt(async () => {
      redactions = this.#redactor?.end() ?? NOT_REDACTED;
      await this.#write(this.#certain.take());
    });
    const failed = this.#fault;
    let artifact: Artifact | null = null;
    this.#fault = null;
    // After a fault, the writer still has what came before it.
    await this.#attempt(async () => {
      if (failed !== null && this.#addedBytes === 0) return;
      const writer = (this.#writer ??= await this.#begin());
      const kept = await this.#call(() => writer.end(redactions, exitCode), "saving");
      if (!isArtifact(kept)) throw new Error("the store gave no artifact");
      artifact = failed === null ? kept : { ...kept, saved: "partial" };
    });
    const fault = failed ?? this.#fault;
    if (fault === null) this.#breaker.succeeded();
    else this.#breaker.failed();
    if (artifact === null) void (async () => this.#writer?.abandon())().catch(() => {});
    return { artifact, fault };
  }

  async #write(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    const writer = (this.#writer ??= await this.#begin());
    await this.#call(() => writer.add(bytes), "writing");
    this.#addedBytes += bytes.length;
  }

  async #begin(): Promise<ArtifactWriter> {
    const about = this.#loadRedactor === null ? this.#about : withSafeName(this.#about, await this.#loadRedactor());
    return this.#call(() => this.#store.begin(about), "opening the store");
  }

  /** Calls the store when it is our turn. The deadline begins then. */
  async #call<T>(act: () => Promise<T> | T, what: string): Promise<T> {
    const hasWaited = await turns.take();
    try {
      // A store that has failed others must not make each of those that wait fail in its turn.
      if (hasWaited && !this.#breaker.allows()) throw new Error("the store failed several times in a row");
      const called = act();
      return isPromise(called) ? await within(called, this.#deadlineMs, what) : called;
    } finally {
      turns.give();
    }
  }

  async #attempt(act: () => Promise<void>): Promise<void> {
    if (this.#fault !== null) return;
    try {
      await act();
    } catch (error) {
      this.#fault = `spill failed after ${this.#addedBytes} bytes: ${messageOf(error)}`;
    }
  }
}

/** Returns the facts of an artifact with the secrets in its tool's name replaced, because anybody may name a tool. */
function withSafeName(about: ArtifactAbout, start: StartRedactor): ArtifactAbout {
  const decoder = new TextDecoder();
  let tool = "";
  const redactor = start((bytes) => void (tool += decoder.decode(bytes, { stream: true })));
  redactor.add(new TextEncoder().encode(about.tool));
  redactor.end();
  return { ...about, tool };
}

/** Checks what a store returned. Anybody may write a store, and the artifact's id goes into a marker. */
function isArtifact(value: unknown): value is Artifact {
  const { id, bytes, sha256 } = (value ?? {}) as Partial<Artifact>;
  return (
    typeof id === "string" && /^[\w.-]{1,128}$/.test(id) && typeof bytes === "number" && typeof sha256 === "string"
  );
}

/** Collects in one piece what redaction released of one chunk. The same memory is used for every chunk. */
export class CertainBytes {
  #buffer = new Uint8Array(0);
  #length = 0;
  #chunk: Uint8Array | null = null;
  #isWhole = false;

  /** Sets the chunk that is read next. If all of it is released unchanged, it is not copied. */
  begin(chunk: Uint8Array): void {
    this.#chunk = chunk;
  }

  /** Adds bytes that are valid only during the call, unless they are the chunk itself. */
  add(bytes: Uint8Array): void {
    if (bytes === this.#chunk && this.#length === 0) this.#isWhole = true;
    else this.#append(bytes);
  }

  #append(bytes: Uint8Array): void {
    if (this.#isWhole && this.#chunk !== null) {
      this.#isWhole = false;
      this.#append(this.#chunk);
    }
    const length = this.#length + bytes.length;
    if (length > this.#buffer.length) {
      const grown = new Uint8Array(length * 2);
      grown.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = grown;
    }
    this.#buffer.set(bytes, this.#length);
    this.#length = length;
  }

  /** Returns everything that was released. It is valid until the next chunk begins. */
  take(): Uint8Array {
    const taken = this.#isWhole && this.#chunk !== null ? this.#chunk : this.#buffer.subarray(0, this.#length);
    this.#length = 0;
    this.#chunk = null;
    this.#isWhole = false;
    return taken;
  }
}

/** Saves one whole output before it returns. Never throws: `fault` says what went wrong. */
export function spillNow(place: SpillPlace, about: ArtifactAbout, chunks: Iterable<Uint8Array>): Spilled {
  const { store, breaker } = place;
  if (store === null) return { artifact: null, fault: null };
  if (store.keepNow === undefined) return notSaved("this store cannot save without waiting");
  if (!breaker.allows()) return notSaved("the store failed several times in a row and is not tried for a while");
  try {
    const pieces: Uint8Array[] = [];
    const redactions = redact(place, chunks, pieces);
    if (redactions === null) return notSaved("what takes secrets out is not loaded yet");
    const start = place.loadedRedactor?.() ?? null;
    const artifact = store.keepNow(start === null ? about : withSafeName(about, start), joinBytes(pieces), redactions);
    if (!isArtifact(artifact)) throw new Error("the store gave no artifact");
    breaker.succeeded();
    return { artifact, fault: null };
  } catch (error) {
    breaker.failed();
    return notSaved(messageOf(error));
  }
}

/** Returns null if the redactor is not loaded yet. */
function redact(
  { loadRedactor, loadedRedactor }: SpillPlace,
  chunks: Iterable<Uint8Array>,
  pieces: Uint8Array[],
): Artifact["redactions"] | null {
  if (loadRedactor === null) {
    for (const chunk of chunks) pieces.push(new Uint8Array(chunk));
    return NOT_REDACTED;
  }
  // The bytes are valid only during the call.
  const redactor = loadedRedactor?.()?.((bytes) => void pieces.push(new Uint8Array(bytes)));
  if (redactor === undefined) return null;
  for (const chunk of chunks) redactor.add(chunk);
  return redactor.end();
}

function notSaved(reason: string): Spilled {
  return { artifact: null, fault: `spill failed after 0 bytes: ${reason}` };
}

/** The most characters and outputs that are in memory while they are saved. */
const BATCH_CHARS = 8_000_000;
const BATCH_COUNT = 256;

/**
 * Yields outputs in batches that are saved at the same time. A store can then write many small ones together, and
 * memory stays bounded.
 */
export function* spillBatches<Item>(items: readonly Item[], charsOf: (item: Item) => number): Generator<Item[]> {
  let batch: Item[] = [];
  let chars = 0;
  for (const item of items) {
    batch.push(item);
    chars += charsOf(item);
    if (chars < BATCH_CHARS && batch.length < BATCH_COUNT) continue;
    yield batch;
    batch = [];
    chars = 0;
  }
  if (batch.length > 0) yield batch;
}
