import { expect, it } from "vitest";
import type { Store } from "../../contract/store.ts";
import { newBreaker } from "../../deadline.ts";
import { memoryStore } from "../../storage/stores/memory.ts";
import { lent } from "../../testing/arbitrary.ts";
import { type SpillPlace, type StartRedactor, spillNow } from "./spill.ts";

const about = { scope: "local", session: "s", tool: "x", call: null };
const chunks = () => ["one ", "two"].map((text) => new TextEncoder().encode(text));
const place = (store: Store | null, more: Partial<SpillPlace> = {}): SpillPlace => ({
  store,
  breaker: newBreaker(1, 1000, () => 0),
  deadlineMs: 1000,
  loadRedactor: null,
  ...more,
});

it("keeps the chunks as one artifact before it returns", async () => {
  const store = memoryStore();
  const { artifact, fault } = spillNow(place(store), about, chunks());
  expect(fault).toBeNull();
  expect(artifact).toMatchObject({ bytes: 7, session: "s", redactions: { count: 0, bytes: 0 } });
  const kept = await store.read(artifact?.id ?? "", "local", { from: 0, to: 9 });
  expect(new TextDecoder().decode(kept ?? undefined)).toBe("one two");
});

it("no store is no fault; a store that cannot, or fails, is one, and is not tried again at once", () => {
  expect(spillNow(place(null), about, chunks())).toEqual({ artifact: null, fault: null });
  const { keepNow: _, ...slow } = memoryStore();
  expect(spillNow(place(slow), about, chunks()).fault).toMatch(/cannot save without waiting/);
  let tries = 0;
  const broken = place({
    ...memoryStore(),
    keepNow() {
      tries += 1;
      throw new Error("disk full");
    },
  });
  expect(spillNow(broken, about, chunks()).fault).toBe("spill failed after 0 bytes: disk full");
  expect(spillNow(broken, about, chunks()).fault).toMatch(/not tried for a while/);
  expect(tries).toBe(1);
  const liar = place({ ...memoryStore(), keepNow: () => ({}) as never });
  expect(spillNow(liar, about, chunks()).fault).toMatch(/gave no artifact/);
});

it("keeps nothing while what takes secrets out is not loaded, and what it hands on once it is", async () => {
  const store = memoryStore();
  const loadRedactor = () => Promise.reject(new Error("not asked for"));
  expect(spillNow(place(store, { loadRedactor }), about, chunks()).fault).toMatch(/not loaded yet/);
  expect(await store.list({ scope: "local" })).toEqual([]);
  const loadedRedactor = () => (take: (bytes: Uint8Array) => void) => ({
    add: (bytes: Uint8Array) => take(bytes.subarray(0, 1)),
    end: () => ({ count: 2, bytes: 5 }),
  });
  const { artifact } = spillNow(place(store, { loadRedactor, loadedRedactor }), about, chunks());
  expect(artifact).toMatchObject({ bytes: 2, redactions: { count: 2, bytes: 5 } });
});

const texts = ["one\n", "two\n", "three\n"];
const asTheyAre: StartRedactor = (take) => ({ add: take, end: () => ({ count: 0, bytes: 0 }) });

it.each([
  ["as they are", null],
  ["through redaction", asTheyAre],
])("keeps chunks that are overwritten once the next is asked for, %s", async (_, redactor) => {
  const store = memoryStore();
  const lending = {
    store,
    breaker: newBreaker(1, 0, () => 0),
    deadlineMs: 1000,
    loadRedactor: redactor && (async () => redactor),
    loadedRedactor: () => redactor,
  };
  const { artifact, fault } = spillNow(lending, about, lent(texts.map((text) => Buffer.from(text))));
  expect(fault).toBeNull();
  const kept = await store.read(artifact?.id ?? "", "local", { from: 0, to: 100 });
  expect(new TextDecoder().decode(kept ?? undefined)).toBe(texts.join(""));
});
