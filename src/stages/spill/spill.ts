import type { Artifact, ArtifactWriter, Store } from "../../contract/store.ts";

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
export function startSpill(store: Store | null): Spill {
  let writer: ArtifactWriter | null = null;
  let fault: string | null = null;
  let added = 0;
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    if (store === null || fault !== null) return;
    try {
      await act();
    } catch (error) {
      fault = `spill failed after ${added} bytes: ${error instanceof Error ? error.message : String(error)}`;
    }
  };
  return {
    add: (bytes) =>
      attempt(async () => {
        writer ??= (await store?.create()) ?? null;
        await writer?.add(bytes);
        added += bytes.length;
      }),
    async end() {
      let artifact: Artifact | null = null;
      const failed = fault;
      fault = null;
      // After a fault the writer still holds what came before it.
      await attempt(async () => {
        if (writer === null || (failed !== null && added === 0)) return;
        const kept = await writer.end();
        artifact = failed === null ? kept : { ...kept, saved: "partial" };
      });
      return { artifact, fault: failed ?? fault };
    },
  };
}
