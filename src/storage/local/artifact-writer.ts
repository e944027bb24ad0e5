import { createHash, randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, rmSync, writeFileSync } from "node:fs";
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Artifact, ArtifactAbout, ArtifactWriter } from "../../contract/store.ts";
import { badInput, codeOf } from "../../errors.ts";
import { newScan, scanBytes, scannedLines } from "../../stages/measure/scan.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import type { Steps } from "../sql.ts";
import { storedName, storedText } from "../stored-name.ts";
import type { ArtifactFiles } from "./artifact-files.ts";
import { artifactId, artifactKey } from "./artifact-key.ts";
import { type ArtifactRow, type ArtifactRows, type NewRow, toArtifact } from "./artifact-rows.ts";
import { type LineIndex, startLineIndex } from "./line-index.ts";
import type { Database } from "./open-database.ts";
import type { ArtifactTable } from "./schema.ts";
import type { Quota } from "./spool-part.ts";
import { SpoolPart, writeFault } from "./spool-part.ts";
import { PRIVATE_FILE, syncFile } from "./store-folders.ts";

/** What a writer needs of its store. */
export interface WriterPlace extends SavePlace {
  quota: Quota;
  /** Makes commits survive a power cut. */
  syncLog: () => Promise<void>;
}

const SMALL_BYTES = NUMBERS.smallArtifactBytes.default;
const NOT_REDACTED: Artifact["redactions"] = { count: 0, bytes: 0 };

/** Writes one artifact. Holds it in memory while it is small, then in the spool. */
export class LocalWriter implements ArtifactWriter {
  readonly #place: WriterPlace;
  readonly #about: ArtifactAbout;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #part: SpoolPart | null = null;
  #isPartial = false;
  /** An add that is still running although its caller no longer waits for it. */
  #adding: Promise<void> | null = null;
  #ending: Promise<Artifact> | null = null;
  #isAbandoned = false;

  constructor(place: WriterPlace, about: ArtifactAbout) {
    this.#place = place;
    this.#about = about;
  }

  add(bytes: Uint8Array): Promise<void> | void {
    if (this.#ending !== null || this.#isAbandoned) throw badInput("add() after end or abandon");
    if (this.#part === null && this.#heldBytes + bytes.length <= SMALL_BYTES && !this.#isPartial) {
      // Buffer's slice() does not copy, so this does not use it.
      this.#held.push(new Uint8Array(bytes));
      this.#heldBytes += bytes.length;
      return;
    }
    const added = this.#part === null ? this.#toSpool(new Uint8Array(bytes)) : this.#part.add(bytes);
    if (added === undefined) return;
    this.#adding = added.catch(() => {});
    return added;
  }

  async #toSpool(bytes: Uint8Array): Promise<void> {
    try {
      const part = await SpoolPart.open(this.#place.files.folders.spool, this.#place.quota);
      for (const held of this.#held) await part.add(held);
      this.#part = part;
      this.#held = [];
    } catch (error) {
      this.#isPartial = true;
      throw error;
    }
    await this.#part.add(bytes);
  }

  end(redactions: Artifact["redactions"] = NOT_REDACTED, exitCode: number | null = null): Promise<Artifact> {
    if (this.#isAbandoned) return Promise.reject(badInput("end() after abandon()"));
    this.#ending ??= this.#end({ redactions, exitCode });
    return this.#ending;
  }

  async #end(ending: Ending): Promise<Artifact> {
    await this.#adding;
    const kept = this.#part === null ? await this.#keepRow(ending) : await this.#keepFile(this.#part, ending);
    await this.#place.syncLog();
    return kept;
  }

  #keepRow(ending: Ending): Promise<Artifact> {
    const data = Buffer.concat(this.#held, this.#heldBytes);
    return this.#save({ ...ending, facts: { ...factsOf(data), saved: this.#isPartial ? "partial" : "yes" }, data });
  }

  async #save(saving: Omit<Saving, "about">): Promise<Artifact> {
    const { database, files } = this.#place;
    const save = artifactSave(this.#place, { ...saving, about: this.#about });
    const kept = toArtifact(await database.commit(save.act));
    const key = save.tidyKey();
    // The artifact is saved. If the other file cannot be removed now, it is collected later.
    if (key !== null) await files.tidy(key).catch(() => {});
    return kept;
  }

  async #keepFile(part: SpoolPart, ending: Ending): Promise<Artifact> {
    const { path, sha256, index, isPartial } = await part.end();
    const facts: Facts = { bytes: index.bytes, lines: index.lines, sha256, saved: isPartial ? "partial" : "yes" };
    try {
      return await this.#save({ ...ending, facts, file: { part: path, index } });
    } catch (error) {
      await unlink(path).catch(() => {});
      throw error;
    }
  }

  async abandon(): Promise<void> {
    // Once it is being saved, it is too late to forget it.
    if (this.#ending !== null) return void (await this.#ending.catch(() => {}));
    this.#isAbandoned = true;
    await this.#adding;
    this.#held = [];
    await this.#part?.abandon();
  }
}

/** What saving an artifact needs of its store. */
export interface SavePlace {
  secret: Uint8Array;
  database: Database;
  rows: ArtifactRows;
  files: ArtifactFiles;
  now: () => number;
}

/** What is known about the artifact's bytes. */
export type Facts = Pick<Artifact, "bytes" | "lines" | "sha256" | "saved">;

/** What is known when an output has ended. */
type Ending = Pick<Artifact, "redactions" | "exitCode">;

/** One artifact that is to be saved. */
interface Saving extends Ending {
  about: ArtifactAbout;
  facts: Facts;
  /** The bytes of a small artifact. */
  data?: Uint8Array;
  /** The spooled file of a larger one. */
  file?: { part: string; index: LineIndex };
}

function factsOf(data: Uint8Array): Omit<Facts, "saved"> {
  const scan = newScan();
  scanBytes(scan, data);
  const sha256 = createHash("sha256").update(data).digest("hex");
  return { bytes: data.length, lines: scannedLines(scan), sha256 };
}

/** Prepares the saving of an artifact. Nothing is written before `act` is called. */
function artifactSave(
  { rows, files, secret, now }: SavePlace,
  { about, facts, redactions, exitCode, data, file }: Saving,
) {
  const scope = storedName(about.scope) ?? "";
  const key = artifactKey(secret, scope, facts.sha256);
  let isPlaced = false;
  let had: ArtifactTable["form"] | null = null;
  const row: NewRow = {
    ...facts,
    key,
    id: artifactId(key),
    scope,
    session: storedName(about.session) ?? "",
    tool: storedName(about.tool) ?? "",
    call: storedName(about.call),
    command: storedText(about.command),
    folder: storedText(about.folder),
    exit_code: exitCode,
    redaction_count: redactions.count,
    redaction_bytes: redactions.bytes,
    form: file === undefined ? "row" : "plain",
    place: null,
  };
  const place = () => {
    // The transaction may run again after the file was moved.
    if (file !== undefined && !isPlaced) files.place(key, file.part);
    isPlaced = true;
  };
  return {
    /** Saves the row and places the files. Call it in one transaction. */
    *act(): Steps<ArtifactRow> {
      had = (yield* rows.findByKey(key))?.form ?? null;
      return yield* rows.save(row, now(), { data: data ?? null, index: file?.index.data ?? null, place });
    },
    /** Call it after `act`. If the same bytes were saved before in another form, returns the key whose old file may be removed. */
    tidyKey: () => (had !== null && had !== row.form ? key : null),
  };
}

/** Saves a whole output without a promise. It is durable when the function returns. */
export function keepNow(
  place: SavePlace & { quota: Quota; logPath: string },
  about: ArtifactAbout,
  data: Uint8Array,
  redactions: Artifact["redactions"],
): Artifact {
  place.quota.requireNow(data.length);
  const saving = { about, redactions, exitCode: null, facts: { ...factsOf(data), saved: "yes" as const } };
  const part = join(place.files.folders.spool, `${randomBytes(12).toString("hex")}.part`);
  const isSmall = data.length <= NUMBERS.smallArtifactBytes.default;
  try {
    const index = startLineIndex();
    if (!isSmall) {
      writeSynced(part, data);
      index.add(data);
    }
    const save = artifactSave(place, isSmall ? { ...saving, data } : { ...saving, file: { part, index: index.end() } });
    const kept = toArtifact(place.database.transaction(() => place.database.now(save.act())));
    syncLog(place.logPath);
    const key = save.tidyKey();
    if (key !== null) void place.files.tidy(key).catch(() => {});
    return kept;
  } catch (error) {
    rmSync(part, { force: true });
    throw writeFault(error);
  }
}

function writeSynced(path: string, bytes: Uint8Array): void {
  const descriptor = openSync(path, "wx", PRIVATE_FILE);
  try {
    writeFileSync(descriptor, bytes);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Flushes the database's log, as `logSyncer` in stores/local.ts does. */
function syncLog(path: string): void {
  try {
    syncFile(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}
