import type { Artifact, ArtifactWriter, Store } from "../../contract/store.ts";
import { messageOf } from "../../errors.ts";
import { within } from "./within.ts";

/** One output on its way into a store. Never throws: what goes wrong is in `fault`, and the clamp holds all the same. */
export interface Spill {
  add(bytes: Uint8Array): Promise<void>;
  end(): Promise<Spilled>;
}

/** What became of it. */
export interface Spilled {
  artifact: Artifact | null;
  fault: string | null;
}

/** Starts keeping one output. Without a store nothing is kept. */
export function startSpill(store: Store | null, deadlineMs: number): Spill {
  let writer: ArtifactWriter | null = null;
  let fault: string | null = null;
  let added = 0;
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    if (store === null || fault !== null) return;
    try {
      await act();
    } catch (error) {
      fault = `spill failed after ${added} bytes: ${messageOf(error)}`;
    }
  };
  return {
    add: (bytes) =>
      attempt(async () => {
        writer ??= (await within(Promise.resolve(store?.create()), deadlineMs, "opening the store")) ?? null;
        await within(Promise.resolve(writer?.add(bytes)), deadlineMs, "writing");
        added += bytes.length;
      }),
    async end() {
      let artifact: Artifact | null = null;
      const failed = fault;
      fault = null;
      // After a fault the writer still holds what came before it.
      await attempt(async () => {
        if (writer === null || (failed !== null && added === 0)) return;
        const kept = await within(Promise.resolve(writer.end()), deadlineMs, "saving");
        if (!isArtifact(kept)) throw new Error("the store gave no artifact");
        artifact = failed === null ? kept : { ...kept, saved: "partial" };
      });
      return { artifact, fault: failed ?? fault };
    },
  };
}

/** A store may be anybody's: what it says goes into a marker. */
function isArtifact(value: unknown): value is Artifact {
  const { id, bytes, sha256 } = (value ?? {}) as Partial<Artifact>;
  return (
    typeof id === "string" && /^[\w.-]{1,128}$/.test(id) && typeof bytes === "number" && typeof sha256 === "string"
  );
}
