import { createHash, createHmac, randomBytes } from "node:crypto";
import type { Artifact, ArtifactWriter, Store } from "../../contract/store.ts";

/** Bounds of a memory store. */
export interface MemoryStoreOptions {
  /** All artifacts together; the oldest make room for new ones. */
  maxBytes?: number;
  /** One artifact; the rest of a larger output is not kept, and its receipt says `partial`. */
  maxArtifactBytes?: number;
  scope?: string;
}

const MIB = 1024 * 1024;

/** Keeps artifacts in this process's memory, for tests and for agents that end with their process. */
export function memoryStore({
  maxBytes = 64 * MIB,
  maxArtifactBytes = 16 * MIB,
  scope = "local",
}: MemoryStoreOptions = {}): Store {
  const secret = randomBytes(32);
  const artifacts = new Map<string, Uint8Array>();
  let heldBytes = 0;

  function keep(id: string, bytes: Uint8Array): void {
    if (artifacts.has(id)) return;
    artifacts.set(id, bytes);
    heldBytes += bytes.length;
    for (const [oldest, old] of artifacts) {
      if (heldBytes <= maxBytes || oldest === id) return;
      artifacts.delete(oldest);
      heldBytes -= old.length;
    }
  }

  return {
    async create(): Promise<ArtifactWriter> {
      const most = Math.min(maxBytes, maxArtifactBytes);
      const hash = createHash("sha256");
      let held = Buffer.alloc(0);
      let length = 0;
      let isWhole = true;
      return {
        add(bytes) {
          const kept = bytes.subarray(0, most - length);
          if (kept.length < bytes.length) isWhole = false;
          if (kept.length === 0) return;
          if (length + kept.length > held.length) {
            const larger = Buffer.alloc(Math.min(most, Math.max(length + kept.length, held.length * 2)));
            held.copy(larger, 0, 0, length);
            held = larger;
          }
          held.set(kept, length);
          hash.update(kept);
          length += kept.length;
        },
        async end(): Promise<Artifact> {
          const sha256 = hash.digest("hex");
          const id = artifactId(secret, scope, sha256);
          keep(id, Buffer.from(held.subarray(0, length)));
          return { id, bytes: length, sha256, saved: isWhole ? "yes" : "partial" };
        },
      };
    },
    async read(id) {
      return artifacts.get(id)?.slice() ?? null;
    },
  };
}

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** 12 base32 characters: the same bytes in the same scope give the same id, and nobody without the secret can name it. */
function artifactId(secret: Uint8Array, scope: string, sha256: string): string {
  const digest = createHmac("sha256", secret).update(`${scope}\0${sha256}`).digest();
  return Array.from(digest.subarray(0, 12), (byte) => ALPHABET[byte & 31]).join("");
}
