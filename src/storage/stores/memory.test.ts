import { describe, expect, it } from "vitest";
import { testStore } from "../../testing/index.ts";
import { memoryStore } from "./memory.ts";

const about = { scope: "local", session: null, tool: "x", call: null };

async function keep(store: ReturnType<typeof memoryStore>, bytes: Uint8Array) {
  const writer = await store.begin(about);
  await writer.add(bytes);
  return writer.end();
}

describe("memoryStore", () => {
  testStore(() => memoryStore(), { describe, it });

  it("keeps the start of an artifact that is too large, and says so", async () => {
    const store = memoryStore({ maxArtifactBytes: 10 });
    const artifact = await keep(store, Buffer.from("0123456789abc"));
    expect(artifact).toMatchObject({ bytes: 10, saved: "partial" });
    expect(Buffer.from((await store.read(artifact.id, "local", { from: 0, to: 99 })) ?? []).toString()).toBe(
      "0123456789",
    );
  });

  it("drops the oldest to make room", async () => {
    const store = memoryStore({ maxBytes: 20 });
    const kept = [];
    for (const name of ["aaaaaaaa", "bbbbbbbb", "cccccccc"]) kept.push((await keep(store, Buffer.from(name))).id);
    expect((await store.list({ scope: "local" })).map(({ id }) => id)).toEqual([kept[2], kept[1]]);
  });
});
