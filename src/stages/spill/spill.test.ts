import { afterEach, expect, it, vi } from "vitest";
import type { ArtifactWriter, Store } from "../../contract/store.ts";
import { newBreaker } from "../../deadline.ts";
import { memoryStore } from "../../storage/stores/memory.ts";
import { startSpill } from "./spill.ts";

const about = { scope: "local", session: null, tool: "x", call: null };
const encode = (text: string) => new TextEncoder().encode(text);

afterEach(() => {
  vi.useRealTimers();
});

/** Makes a place whose writer `change` has changed, with a record of what was done to it. */
function placeWith(change: (writer: ArtifactWriter) => Partial<ArtifactWriter>) {
  const inner = memoryStore();
  const log: string[] = [];
  const breaker = newBreaker(1, 1000, () => 0);
  const store: Store = {
    ...inner,
    async begin(one) {
      const writer = await inner.begin(one);
      return {
        add: (bytes) => writer.add(bytes),
        end: (redactions) => writer.end(redactions),
        async abandon() {
          log.push("abandoned");
          await writer.abandon();
        },
        ...change(writer),
      };
    },
  };
  return { place: { store, breaker, deadlineMs: 1000, loadRedactor: null }, breaker, log };
}

it("keeps what came before a fault as a part, and tells the fault", async () => {
  let adds = 0;
  const { place, breaker, log } = placeWith((writer) => ({
    add(bytes) {
      adds += 1;
      if (adds === 2) throw new Error("disk full");
      return writer.add(bytes);
    },
  }));
  const spill = startSpill(place, about);
  for (const text of ["one ", "two ", "three"]) await spill.add(encode(text));
  const { artifact, fault } = await spill.end();
  expect(fault).toBe("spill failed after 4 bytes: disk full");
  expect(artifact).toMatchObject({ bytes: 4, saved: "partial" });
  expect([adds, log, breaker.allows()]).toEqual([2, [], false]);
});

it("abandons the writer of an output of which nothing could be kept, and leaves a kept one alone", async () => {
  const failing = placeWith(() => ({ end: () => Promise.reject(new Error("gone")) }));
  const lost = startSpill(failing.place, about);
  await lost.add(encode("x"));
  expect(await lost.end()).toEqual({ artifact: null, fault: "spill failed after 1 bytes: gone" });
  expect(failing.log).toEqual(["abandoned"]);
  const { place, breaker, log } = placeWith(() => ({}));
  const kept = startSpill(place, about);
  await kept.add(encode("x"));
  expect(await kept.end()).toMatchObject({ artifact: { bytes: 1, saved: "yes" }, fault: null });
  expect([log, breaker.allows()]).toEqual([[], true]);
});

it("no store is no fault; one that failed is not tried for a while", async () => {
  const { place, breaker } = placeWith(() => ({}));
  expect(await startSpill({ ...place, store: null }, about).end()).toEqual({ artifact: null, fault: null });
  breaker.failed();
  const spill = startSpill(place, about);
  await spill.add(encode("x"));
  expect((await spill.end()).fault).toMatch(/not tried for a while/);
});

it("waits for a store as long as it may, and no longer", async () => {
  vi.useFakeTimers();
  const { place } = placeWith(() => ({ add: () => new Promise(() => {}) }));
  const spill = startSpill(place, about);
  let isOver = false;
  const adding = spill.add(encode("x")).then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(999);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await adding;
  expect((await spill.end()).fault).toMatch(/after 0 bytes: writing took longer than 1000 ms/);
  const quick = startSpill(placeWith(() => ({})).place, about);
  await quick.add(encode("x"));
  expect((await quick.end()).fault).toBeNull();
  expect(vi.getTimerCount()).toBe(0);
});

it("3,000 outputs at once are all saved: the store gets a few calls at a time, and waiting is not held against it", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let running = 0;
  let most = 0;
  // Each call takes so long that all of them after another would take far more than the deadline.
  const slowly = async <T>(act: () => Promise<T> | T): Promise<T> => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, 900));
    running -= 1;
    return act();
  };
  const { place } = placeWith((writer) => ({
    add: (bytes) => slowly(() => writer.add(bytes)),
    end: (...ending) => slowly(() => writer.end(...ending)),
  }));
  const spills = Promise.all(
    Array.from({ length: 3000 }, async (_none, at) => {
      const spill = startSpill(place, about);
      await spill.add(encode(`output ${at}`));
      return spill.end();
    }),
  );
  await vi.advanceTimersByTimeAsync(200_000);
  expect((await spills).filter(({ fault, artifact }) => fault !== null || artifact === null)).toEqual([]);
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(32);
});

it("a store that hangs holds up nobody who waits for a turn once it is known to hang", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let calls = 0;
  const { place } = placeWith(() => ({
    add() {
      calls += 1;
      return new Promise<void>(() => {});
    },
  }));
  const spills = Promise.all(
    Array.from({ length: 500 }, async () => {
      const spill = startSpill(place, about);
      await spill.add(encode("x"));
      return spill.end();
    }),
  );
  // Each of those that had a turn waits for the deadline once.
  await vi.advanceTimersByTimeAsync(3000);
  expect((await spills).every(({ artifact, fault }) => artifact === null && fault !== null)).toBe(true);
  expect(calls).toBeLessThanOrEqual(64);
});
