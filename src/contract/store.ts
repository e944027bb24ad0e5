import type { Saved } from "./receipt.ts";

/** Keeps artifacts. Contract: ids cannot be guessed; the same bytes give the same id. */
export interface Store {
  /** Begins an artifact. The bytes handed to `add` are only valid until it resolves. */
  create(): Promise<ArtifactWriter>;
  /** The bytes of an artifact, or null if there is none of that id. */
  read(id: string): Promise<Uint8Array | null>;
}

/** An artifact on its way into a store. Nothing of it can be read before `end` resolves. */
export interface ArtifactWriter {
  add(bytes: Uint8Array): Promise<void> | void;
  end(): Promise<Artifact>;
}

/** A kept output. */
export interface Artifact {
  id: string;
  /** Of what is stored. */
  bytes: number;
  sha256: string;
  saved: Saved;
}
