import assert from "node:assert/strict";
import fc from "fast-check";
import type { SpillwayEvent } from "../contract/event.ts";
import type { Ledger, StatQuery, Totals } from "../contract/ledger.ts";
import { arbitraryEvent, arbitraryText, eventOf, expectedSums, HOSTILE_NAMES } from "./arbitrary-event.ts";
import type { Runner, SuiteOptions } from "./test-strategy.ts";

async function everything(ledger: Ledger): Promise<unknown[]> {
  const stats = await ledger.stats({ by: "session" });
  return [await ledger.events(), stats, await ledger.sessions(), await ledger.projection("k")];
}

/** Asserts that each id is larger than the one before. */
function assertGrowing(ids: number[]): void {
  assert.deepEqual(
    ids,
    [...new Set(ids)].toSorted((a, b) => a - b),
  );
}

/** Returns true if an event adds to any sum. */
function counts(event: SpillwayEvent): boolean {
  return Object.values(expectedSums([event]) satisfies Totals).some((sum) => sum !== 0);
}

/** Returns an event as it was recorded, without its id. */
function withoutId({ id: _id, ...event }: SpillwayEvent & { id: number }): SpillwayEvent {
  return event;
}

function throughJson(event: SpillwayEvent): SpillwayEvent {
  return JSON.parse(JSON.stringify(event)) as SpillwayEvent;
}

/** An empty ledger for one test. */
export interface LedgerUnderTest {
  ledger: Ledger;
  /** Opens the same place again. It is absent if the ledger ends with its process. */
  reopen?(): Promise<Ledger>;
  /** Is called when the test is over. */
  discard?(): Promise<void>;
}

/** Runs the promises that every ledger keeps. A failure prints its seed. */
export function testLedger(
  makeLedger: () => Promise<LedgerUnderTest>,
  { describe, it }: Runner,
  { numRuns = 30 }: SuiteOptions = {},
): void {
  async function use(body: (ledger: Ledger, under: LedgerUnderTest) => Promise<void>): Promise<void> {
    const under = await makeLedger();
    try {
      await body(under.ledger, under);
    } finally {
      await under.ledger.close();
      await under.discard?.();
    }
  }

  describe("ledger", () => {
    it("gives events back as they came, oldest first, with ids that grow", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(arbitraryEvent, { maxLength: 20 }), (events) =>
          use(async (ledger) => {
            for (const event of events) await ledger.record(event);
            const found = await ledger.events();
            assert.deepEqual(found.map(withoutId), events.map(throughJson));
            assertGrowing(found.map(({ id }) => id));
          }),
        ),
        { numRuns },
      );
    });

    it("pages by id: whatever the page size, every event once", async () => {
      await use(async (ledger) => {
        for (let at = 0; at < 25; at += 1) await ledger.record(eventOf({ atMs: at, call: `c${at}` }));
        for (const max of [1, 7, 25, 100]) {
          const calls: (string | null)[] = [];
          for (let afterId = 0; ; ) {
            const page = await ledger.events({ afterId, max });
            if (page.length === 0) break;
            assert.ok(page.length <= max);
            calls.push(...page.map(({ call }) => call));
            afterId = page.at(-1)?.id ?? Infinity;
          }
          assert.deepEqual(
            calls,
            Array.from({ length: 25 }, (_, at) => `c${at}`),
          );
        }
      });
    });

    it("pages back from the newest: every event once", async () => {
      await use(async (ledger) => {
        for (let at = 0; at < 10; at += 1) await ledger.record(eventOf({ atMs: at, call: `c${at}` }));
        const calls: (string | null)[] = [];
        for (let beforeId: number | undefined; ; ) {
          const page = await ledger.events({ order: "newest", max: 3, ...(beforeId !== undefined && { beforeId }) });
          if (page.length === 0) break;
          calls.push(...page.map(({ call }) => call));
          beforeId = page.at(-1)?.id ?? 0;
        }
        assert.deepEqual(
          calls,
          Array.from({ length: 10 }, (_, at) => `c${9 - at}`),
        );
      });
    });

    it("selects by session, tool, call, artifact, kind and time", async () => {
      await use(async (ledger) => {
        await ledger.record(eventOf({ session: "a", tool: "x", atMs: 10, call: "1" }));
        await ledger.record(eventOf({ session: "b", tool: "x", atMs: 20, call: "2", kind: "spill-failed" }));
        await ledger.record(eventOf({ session: "a", tool: "y", atMs: 30, call: "3", kind: "request-pruned" }));
        const calls = async (query: Parameters<Ledger["events"]>[0]) =>
          (await ledger.events(query)).map(({ call }) => call);
        assert.deepEqual(await calls({ session: "a" }), ["1", "3"]);
        assert.deepEqual(await calls({ tool: "x" }), ["1", "2"]);
        assert.deepEqual(await calls({ kinds: ["spill-failed", "request-pruned"] }), ["2", "3"]);
        assert.deepEqual(await calls({ kinds: [] }), []);
        assert.deepEqual(await calls({ sinceMs: 20 }), ["2", "3"]);
        assert.deepEqual(await calls({ session: "a", sinceMs: 20 }), ["3"]);
        assert.deepEqual(await calls({ session: "nobody" }), []);
        assert.deepEqual(await calls({ call: "2" }), ["2"]);
        await ledger.record(eventOf({ session: "a", tool: "y", atMs: 40, call: "4", artifact: "abcdefabcdef" }));
        assert.deepEqual(await calls({ artifact: "abcdefabcdef" }), ["4"]);
      });
    });

    it("keeps sums equal to those recomputed from its events, by all, tool, session and hour", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(arbitraryEvent, { maxLength: 40 }), fc.nat(5 * 3_600_000), (events, sinceMs) =>
          use(async (ledger) => {
            await Promise.all(events.map((event) => ledger.record(event)));
            const hour = sinceMs - (sinceMs % 3_600_000);
            const check = async (query: StatQuery & { by: "all" | "tool" | "session" }, matching: SpillwayEvent[]) => {
              const rows = await ledger.stats(query);
              const name = query.by === "all" ? null : query.by;
              const names = new Set(matching.filter(counts).map((event) => (name === null ? null : event[name])));
              if (query.by === "all") names.add(null);
              assert.equal(rows.length, names.size);
              for (const { tool, session, ...totals } of rows) {
                const key = { all: null, tool, session }[query.by];
                assert.ok(names.has(key), `a row of nobody: ${key}`);
                const mine = name === null ? matching : matching.filter((event) => event[name] === key);
                assert.deepEqual(totals, expectedSums(mine));
              }
              const calls = rows.map((row) => row.calls);
              assert.deepEqual(
                calls,
                calls.toSorted((a, b) => b - a),
              );
            };
            const hours = await ledger.stats({ by: "hour", sinceMs, untilMs: hour + 2 * 3_600_000, tool: "t1" });
            assertGrowing(hours.map(({ hourMs = -1 }) => hourMs));
            const within = events.filter(
              ({ atMs, tool }) => atMs >= hour && atMs < hour + 2 * 3_600_000 && tool === "t1",
            );
            for (const { hourMs = -1, tool, session, ...totals } of hours) {
              assert.deepEqual([tool, session], ["t1", null]);
              const mine = within.filter(({ atMs }) => atMs - (atMs % 3_600_000) === hourMs);
              assert.deepEqual(totals, expectedSums(mine));
            }
            const counted = within.filter(counts).map(({ atMs }) => atMs - (atMs % 3_600_000));
            assert.equal(hours.length, new Set(counted).size);
            for (const by of ["all", "tool", "session"] as const) {
              await check({ by }, events);
              await check(
                { by, sinceMs },
                events.filter(({ atMs }) => atMs >= hour),
              );
              await check(
                { by, session: "s1" },
                events.filter(({ session }) => session === "s1"),
              );
            }
          }),
        ),
        { numRuns },
      );
    });

    it("loses none of many events recorded at once", async () => {
      await use(async (ledger) => {
        const calls = Array.from({ length: 50 }, (_, at) => `c${at}`);
        await Promise.all(calls.map((call) => ledger.record(eventOf({ call, session: "s", atMs: 1 }))));
        const found = await ledger.events();
        assert.deepEqual(new Set(found.map(({ call }) => call)), new Set(calls));
        assertGrowing(found.map(({ id }) => id));
        assert.equal((await ledger.stats({ by: "all" }))[0]?.calls, 50);
      });
    });

    it("knows when a session was first and last seen, also when the clock goes back", async () => {
      await use(async (ledger) => {
        const times = [5000, 1000, 9000, 3000];
        await Promise.all(times.map((atMs) => ledger.record(eventOf({ session: "s", atMs }))));
        await ledger.record(eventOf({ session: "later", atMs: 10_000 }));
        const seen = (await ledger.sessions()).map(({ session, firstSeenMs, lastSeenMs, calls }) => [
          session,
          firstSeenMs,
          lastSeenMs,
          calls,
        ]);
        assert.deepEqual(seen, [
          ["later", 10_000, 10_000, 1],
          ["s", 1000, 9000, 4],
        ]);
        assert.equal((await ledger.sessions({ max: 1 })).length, 1);
        assert.deepEqual(
          (await ledger.sessions({ session: "s" })).map(({ session }) => session),
          ["s"],
        );
        assert.deepEqual(await ledger.sessions({ session: "nobody" }), []);
        assert.deepEqual(
          (await ledger.events({ session: "s" })).map(({ atMs }) => atMs),
          [5000, 1000, 9000, 3000],
        );
      });
    });

    it("does not take what a person reads for a use of the session", async () => {
      await use(async (ledger) => {
        const read = (atMs: number, reads: string) =>
          ledger.record(eventOf({ kind: "artifact-recalled", session: "s", atMs, receipt: null, more: { reads } }));
        const lastSeen = async () => (await ledger.sessions()).map(({ lastSeenMs }) => lastSeenMs);
        await ledger.record(eventOf({ session: "s", atMs: 1000 }));
        await read(5000, "person");
        assert.deepEqual(await lastSeen(), [1000]);
        await read(6000, "model");
        assert.deepEqual(await lastSeen(), [6000]);
        assert.equal((await ledger.events({ session: "s" })).length, 3);
      });
    });

    it("pages through sessions, also those that were seen at the same time", async () => {
      await use(async (ledger) => {
        for (const session of ["a", "b", "c", "d", "e"]) await ledger.record(eventOf({ session, atMs: 7 }));
        await ledger.record(eventOf({ session: "z", atMs: 9 }));
        const found: string[] = [];
        for (let page = await ledger.sessions({ max: 2 }); page.length > 0; ) {
          found.push(...page.map(({ session }) => session));
          page = await ledger.sessions({ max: 2, after: page.at(-1) ?? { session: "", lastSeenMs: 0 } });
        }
        assert.deepEqual(found, ["z", "a", "b", "c", "d", "e"]);
      });
    });

    it("pins a session and lets it go, and an event does not undo it", async () => {
      await use(async (ledger) => {
        const pinned = async () => (await ledger.sessions()).map((row) => [row.session, row.pinned]);
        await ledger.pin("s", true);
        await ledger.record(eventOf({ session: "s" }));
        assert.deepEqual(await pinned(), [["s", true]]);
        await ledger.pin("s", false);
        assert.deepEqual(await pinned(), [["s", false]]);
      });
    });

    it("removes everything of a session and nothing else", async () => {
      await use(async (ledger) => {
        for (const session of ["a", "b", null]) {
          for (const atMs of [1, 4_000_000]) await ledger.record(eventOf({ session, atMs }));
          await ledger.saveProjection({ key: `of ${session}`, text: "t", step: 0, session });
        }
        await ledger.pin("a", true);
        assert.equal(await ledger.removeSession("a"), 2);
        assert.equal(await ledger.removeSession("a"), 0);
        assert.deepEqual(
          (await ledger.events()).map(({ session }) => session),
          ["b", "b", null, null],
        );
        assert.deepEqual(
          (await ledger.sessions()).map(({ session }) => session),
          ["b"],
        );
        assert.deepEqual(
          new Set((await ledger.stats({ by: "session" })).map(({ session }) => session)),
          new Set(["b", null]),
        );
        assert.equal((await ledger.stats({ by: "all" }))[0]?.calls, 4);
        assert.equal(await ledger.projection("of a"), null);
        assert.equal((await ledger.projection("of b"))?.text, "t");
        assert.equal((await ledger.projection("of null"))?.text, "t");
        assert.equal(await ledger.removeSession(""), 0);
        assert.equal(await ledger.removeSession(null), 2);
        assert.equal((await ledger.stats({ by: "all" }))[0]?.calls, 2);
        assert.deepEqual([await ledger.projection("of null"), (await ledger.events()).length], [null, 2]);
      });
    });

    it("lets projections only shrink: the largest step stays, and of equals the first", async () => {
      const saves = fc.array(fc.record({ key: fc.constantFrom("k", "l"), text: arbitraryText, step: fc.nat(4) }));
      await fc.assert(
        fc.asyncProperty(saves, (projections) =>
          use(async (ledger) => {
            for (const projection of projections) await ledger.saveProjection(projection);
            for (const key of ["k", "l"]) {
              const mine = projections.filter((projection) => projection.key === key);
              const most = Math.max(...mine.map(({ step }) => step));
              const first = mine.find(({ step }) => step === most);
              const found = await ledger.projection(key);
              assert.deepEqual([found?.text, found?.step], [first?.text, first?.step]);
            }
          }),
        ),
        { numRuns },
      );
    });

    it("keeps apart sessions and tools of any name: paths, quotes, NULs, half characters, very long ones", async () => {
      await use(async (ledger) => {
        for (const name of HOSTILE_NAMES) {
          await ledger.record(eventOf({ session: name, tool: name, call: name }));
          await ledger.saveProjection({ key: name, text: name, step: 0, session: name });
        }
        assert.equal((await ledger.sessions()).length, HOSTILE_NAMES.length);
        assert.equal((await ledger.stats({ by: "tool" })).length, HOSTILE_NAMES.length);
        for (const name of HOSTILE_NAMES) {
          assert.equal((await ledger.events({ session: name })).length, 1, JSON.stringify(name.slice(0, 40)));
          assert.equal((await ledger.events({ tool: name })).length, 1);
          assert.equal((await ledger.stats({ by: "all", session: name }))[0]?.calls, 1);
          assert.equal((await ledger.projection(name))?.text, name);
        }
        for (const name of HOSTILE_NAMES) assert.equal(await ledger.removeSession(name), 1);
        assert.deepEqual([await ledger.events(), await ledger.sessions()], [[], []]);
      });
    });

    it("bounds what an event says, and says so", async () => {
      await use(async (ledger) => {
        const circle: Record<string, unknown> = { small: 1, large: "x".repeat(100_000), last: "\u20ac".repeat(100) };
        circle["self"] = circle;
        await ledger.record(eventOf({ kind: "spill-failed", more: circle, tool: "t".repeat(1_000_000) }));
        const [event] = await ledger.events();
        const { small, last, large, self } = event?.more ?? {};
        assert.deepEqual([small, last, large, self], [1, "\u20ac".repeat(100), undefined, undefined]);
        assert.ok(Object.keys(event?.more ?? {}).length > 2, "nothing says that entries are missing");
        assert.ok(JSON.stringify(event).length < 100_000);
      });
    });

    it("does not change or hold on to the caller's event", async () => {
      await use(async (ledger) => {
        const event = Object.freeze({ ...eventOf({ kind: "spill-failed" }), more: { why: "before" } });
        await ledger.record(event);
        event.more.why = "after";
        assert.equal((await ledger.events())[0]?.more?.["why"], "before");
      });
    });

    it("may be closed twice, and has everything when it is opened again", async () => {
      await use(async (ledger, { reopen }) => {
        await ledger.record(eventOf({ session: "s", call: "c", more: { a: 1 } }));
        await ledger.saveProjection({ key: "k", text: "t", step: 2 });
        await ledger.pin("s", true);
        const before = await everything(ledger);
        await ledger.close();
        await ledger.close();
        if (reopen === undefined) return;
        const again = await reopen();
        assert.deepEqual(await everything(again), before);
        await again.record(eventOf({}));
        assertGrowing((await again.events()).map(({ id }) => id));
        await again.close();
      });
    });

    it("never gives an id twice, so that a follower misses nothing", async () => {
      await use(async (ledger) => {
        await ledger.record(eventOf({ session: "s" }));
        const last = (await ledger.events()).at(-1)?.id ?? 0;
        await ledger.removeSession("s");
        await ledger.record(eventOf({ session: "t" }));
        assert.equal((await ledger.events({ afterId: last })).length, 1);
      });
    });
  });
}
