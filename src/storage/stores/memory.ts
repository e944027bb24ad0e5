import { createHash, randomBytes } from "node:crypto";
import type { Artifact, ArtifactAbout, Store } from "../../contract/store.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { artifactId, artifactKey } from "../local/artifact-key.ts";
import { type LineIndex, locateLines, startLineIndex } from "../local/line-index.ts";
import { storedName, storedText } from "../stored-name.ts";

/** Sets the bounds of a memory store, and its secret. */
export interface MemoryStoreOptions {
  /** The most bytes of all artifacts together. If there are more, the oldest are removed. */
  maxBytes?: number;
  /** The most bytes of one artifact. The rest of a larger output is not saved, and its receipt says `partial`. */
  maxArtifactBytes?: number;
  /** The secret from which ids are made. By default it is random, so that nobody can guess ids. */
  secret?: Uint8Array;
}

const MAX_LISTED = 1000;

interface Kept {
  /** The artifact as each of its sessions saved it, the last one at the end. */
  savings: Map<string | null, Artifact>;
  data: Uint8Array;
  index: LineIndex;
}

/** Keeps artifacts in this process's memory. It is for tests and for agents that end with their process. */
export function memoryStore({
  maxBytes = NUMBERS.memoryStoreBytes.default,
  maxArtifactBytes = NUMBERS.memoryArtifactBytes.default,
  secret = randomBytes(32),
}: MemoryStoreOptions = {}): Store {
  // In the order in which they were last saved.
  const byId = new Map<string, Kept>();
  let heldBytes = 0;
  let lastMs = 0;

  const find = (id: string, scope: string): Kept | null => {
    const kept = byId.get(id);
    return kept !== undefined && lastOf(kept).scope === (storedName(scope) ?? "") ? kept : null;
  };
  const drop = (id: string): void => {
    heldBytes -= byId.get(id)?.data.length ?? 0;
    byId.delete(id);
  };
  const keep = (saved: Artifact, bytes: Omit<Kept, "savings">): Artifact => {
    const savings = new Map(byId.get(saved.id)?.savings);
    const artifact = { ...saved, ...madeBefore(saved, savings.get(saved.session)) };
    savings.delete(artifact.session);
    savings.set(artifact.session, artifact);
    drop(artifact.id);
    byId.set(artifact.id, { savings, ...bytes });
    heldBytes += bytes.data.length;
    for (const oldest of byId.keys()) {
      if (heldBytes <= maxBytes || oldest === artifact.id) break;
      drop(oldest);
    }
    return { ...artifact };
  };
  // Gives each artifact a different time, because lists page by time.
  const nextMs = (): number => {
    lastMs = Math.max(Date.now(), lastMs + 1);
    return lastMs;
  };

  const begin = ({ scope, session, tool, call, command, folder }: ArtifactAbout): MemoryWriter => {
    const about = {
      scope: storedName(scope) ?? "",
      session: storedName(session),
      tool: storedName(tool) ?? "",
      call: storedName(call),
      command: storedText(command),
      folder: storedText(folder),
    };
    return startWriter(Math.min(maxBytes, maxArtifactBytes), (facts, bytes) => {
      const id = artifactId(artifactKey(secret, about.scope, facts.sha256));
      return keep({ ...about, ...facts, id, createdAtMs: nextMs() }, bytes);
    });
  };

  return {
    name: "memory",
    async begin(about) {
      const { add, endNow } = begin(about);
      return { add, end: async (redactions, exitCode) => endNow(redactions, exitCode), abandon: async () => {} };
    },
    keepNow(about, bytes, redactions) {
      const writer = begin(about);
      writer.add(bytes);
      return writer.endNow(redactions);
    },
    async find(id, scope) {
      const kept = find(id, scope);
      return kept && { ...lastOf(kept) };
    },
    async read(id, scope, range) {
      const kept = find(id, scope);
      return kept && new Uint8Array(kept.data.subarray(Math.max(0, range.from), Math.max(0, range.to)));
    },
    async locate(id, scope, lines) {
      const kept = find(id, scope);
      if (kept === null) return null;
      const read = async (from: number, to: number) => kept.data.subarray(from, to);
      return locateLines({ index: kept.index, bytes: { read } }, lines);
    },
    async file() {
      return null;
    },
    async list({ scope, session, beforeMs = Infinity, max = MAX_LISTED }) {
      const isAsked = (artifact: Artifact): boolean =>
        artifact.scope === (storedName(scope) ?? "") &&
        artifact.createdAtMs < beforeMs &&
        (session === undefined || artifact.session === storedName(session));
      return [...byId.values()]
        .flatMap(({ savings }) => [...savings.values()].filter(isAsked))
        .sort((one, other) => other.createdAtMs - one.createdAtMs)
        .slice(0, Math.min(max, MAX_LISTED))
        .map((artifact) => ({ ...artifact }));
    },
    async remove(id, scope) {
      if (find(id, scope) === null) return false;
      drop(id);
      return true;
    },
    async close() {},
  };
}

/** What made an artifact. A tool that saves the same again and does not say it takes nothing away. */
function madeBefore({ tool, command, folder, exitCode }: Artifact, before: Artifact | undefined): Partial<Artifact> {
  if (before?.tool !== tool) return {};
  return {
    command: command ?? before.command,
    folder: folder ?? before.folder,
    exitCode: exitCode ?? before.exitCode,
  };
}

/** Returns the artifact as it was last saved. */
function lastOf({ savings }: Kept): Artifact {
  return [...savings.values()].at(-1) as Artifact;
}

type Facts = Pick<Artifact, "bytes" | "lines" | "sha256" | "saved" | "redactions" | "exitCode">;

interface MemoryWriter {
  add(bytes: Uint8Array): void;
  endNow(redactions?: Artifact["redactions"], exitCode?: number | null): Artifact;
}

function startWriter(maxBytes: number, keep: (facts: Facts, bytes: Omit<Kept, "savings">) => Artifact): MemoryWriter {
  const chunks: Uint8Array[] = [];
  const hash = createHash("sha256");
  const lines = startLineIndex();
  let bytes = 0;
  let isWhole = true;
  return {
    add(added) {
      const kept = new Uint8Array(added.subarray(0, maxBytes - bytes));
      if (kept.length < added.length) isWhole = false;
      hash.update(kept);
      lines.add(kept);
      chunks.push(kept);
      bytes += kept.length;
    },
    endNow(redactions = { count: 0, bytes: 0 }, exitCode = null) {
      const saved = isWhole ? "yes" : "partial";
      const index = lines.end();
      const facts: Facts = { bytes, lines: index.lines, sha256: hash.digest("hex"), saved, redactions, exitCode };
      return keep(facts, { data: Buffer.concat(chunks, bytes), index });
    },
  };
}
