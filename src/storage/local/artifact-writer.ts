import { createHash } from "node:crypto";
import { unlink } from "node:fs/promises";
import type { Artifact, ArtifactAbout, ArtifactWriter } from "../../contract/store.ts";
import { SpillwayError } from "../../errors.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import type { FileKind } from "./artifact-files.ts";
import type { ArtifactRows } from "./artifact-rows.ts";
import { encodeLineIndex, startLineIndex } from "./line-index.ts";
import type { Quota } from "./quota.ts";
import { artifactSave, type Facts, type SavePlace } from "./save-artifact.ts";
import { SpoolPart } from "./spool-part.ts";

/** What a writer works with. */
export interface WriterPlace extends SavePlace {
  quota: Quota;
  /** Makes what was committed survive a power cut. */
  syncLog: () => Promise<void>;
  /** A transaction that artifacts share which are small and end side by side. */
  writeSmall: ArtifactRows["write"];
}

const SMALL_BYTES = NUMBERS.smallArtifactBytes.default;
const NOT_REDACTED: Artifact["redactions"] = { count: 0, bytes: 0 };

/** One artifact on its way: held in memory while it is small, then in the spool. */
export class LocalWriter implements ArtifactWriter {
  readonly #place: WriterPlace;
  readonly #about: ArtifactAbout;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #part: SpoolPart | null = null;
  #isPartial = false;
  /** What add is still doing when its caller has given up waiting. */
  #adding: Promise<void> | null = null;
  #ending: Promise<Artifact> | null = null;
  #isAbandoned = false;

  constructor(place: WriterPlace, about: ArtifactAbout) {
    this.#place = place;
    this.#about = about;
  }

  add(bytes: Uint8Array): Promise<void> | void {
    if (this.#ending !== null || this.#isAbandoned) throw new SpillwayError("bad-input", "add() after end or abandon");
    if (this.#part === null && this.#heldBytes + bytes.length <= SMALL_BYTES && !this.#isPartial) {
      // Not slice(): of a Buffer that is no copy.
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

  end(redactions: Artifact["redactions"] = NOT_REDACTED): Promise<Artifact> {
    if (this.#isAbandoned) return Promise.reject(new SpillwayError("bad-input", "end() after abandon()"));
    this.#ending ??= this.#end(redactions);
    return this.#ending;
  }

  async #end(redactions: Artifact["redactions"]): Promise<Artifact> {
    await this.#adding;
    const kept = this.#part === null ? await this.#keepRow(redactions) : await this.#keepFile(this.#part, redactions);
    await this.#place.syncLog();
    return kept;
  }

  #keepRow(redactions: Artifact["redactions"]): Promise<Artifact> {
    const data = Buffer.concat(this.#held, this.#heldBytes);
    const index = startLineIndex();
    index.add(data);
    const { bytes, lines } = index.end();
    const sha256 = createHash("sha256").update(data).digest("hex");
    const facts: Facts = { bytes, lines, sha256, saved: this.#isPartial ? "partial" : "yes" };
    return this.#save(facts, redactions, data, {});
  }

  async #save(
    facts: Facts,
    redactions: Artifact["redactions"],
    data: Uint8Array | null,
    parts: Partial<Record<FileKind, string>>,
  ): Promise<Artifact> {
    const { rows, files, writeSmall } = this.#place;
    const save = artifactSave(this.#place, this.#about, facts, redactions, data, parts);
    const kept = save.kept(await (data === null ? rows.write : writeSmall)(save.act));
    const key = save.tidyKey();
    // It is kept; a file too many is collected later.
    if (key !== null) await files.tidy(key).catch(() => {});
    return kept;
  }

  async #keepFile(part: SpoolPart, redactions: Artifact["redactions"]): Promise<Artifact> {
    const { path, sha256, index, isPartial } = await part.end();
    const facts: Facts = { bytes: index.bytes, lines: index.lines, sha256, saved: isPartial ? "partial" : "yes" };
    // Without room for the index it is made anew by the first who needs it.
    const indexPart = await this.#place.files.writeSpool(encodeLineIndex(index)).catch(() => null);
    const parts = { plain: path, ...(indexPart !== null && { index: indexPart }) };
    try {
      return await this.#save(facts, redactions, null, parts);
    } catch (error) {
      for (const part of Object.values(parts)) await unlink(part).catch(() => {});
      throw error;
    }
  }

  async abandon(): Promise<void> {
    // Too late to forget it once it is being kept.
    if (this.#ending !== null) return void (await this.#ending.catch(() => {}));
    this.#isAbandoned = true;
    await this.#adding;
    this.#held = [];
    await this.#part?.abandon();
  }
}
