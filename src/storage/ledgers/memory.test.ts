import { describe, expect, it } from "vitest";
import { eventOf } from "../../testing/arbitrary-event.ts";
import { testLedger } from "../../testing/test-ledger.ts";
import { memoryLedger } from "./memory.ts";

testLedger(async () => ({ ledger: memoryLedger() }), { describe, it });

describe("memory ledger", () => {
  it("holds no more than it was told, and lets the oldest go", async () => {
    const ledger = memoryLedger({ maxEvents: 10 });
    await ledger.pin("s0", true);
    for (let at = 0; at < 50; at += 1) {
      await ledger.record(eventOf({ session: `s${at}`, tool: `t${at}`, atMs: at }));
      await ledger.saveProjection({ key: `k${at}`, text: "", step: 0 });
    }
    expect((await ledger.events()).map(({ atMs }) => atMs)).toEqual(Array.from({ length: 10 }, (_, at) => 40 + at));
    expect(await ledger.stats({ by: "tool" })).toHaveLength(10);
    const sessions = (await ledger.sessions()).map(({ session }) => session);
    expect(sessions).toHaveLength(10);
    expect(sessions).toContain("s0");
    expect(await ledger.projection("k39")).toBeNull();
    expect(await ledger.projection("k40")).not.toBeNull();
  });
});
