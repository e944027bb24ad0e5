import { describe, expect, it } from "vitest";
import type { SpillwayEvent } from "../../contract/event.ts";
import { memoryLedger } from "../../storage/ledgers/memory.ts";
import { testLedger } from "../../testing/test-ledger.ts";
import { gatherEvents } from "./gather-events.ts";

testLedger(async () => ({ ledger: gatherEvents(memoryLedger()) }), { describe, it }, { numRuns: 5 });

describe("gathered events", () => {
  const event = (kind: SpillwayEvent["kind"], call: string, artifact: string | null = null): SpillwayEvent => {
    return { kind, atMs: 1, session: null, tool: null, call, artifact, receipt: null, more: null };
  };
  function open() {
    const written: string[] = [];
    const inner = memoryLedger();
    const record = async (given: SpillwayEvent) => {
      written.push(given.call ?? "");
      await inner.record(given);
    };
    return { written, ledger: gatherEvents({ ...inner, record }) };
  }

  it("wait for others, and are written before what somebody waits for", async () => {
    const { written, ledger } = open();
    const answered = ["a", "b"].map((call) => ledger.record(event("request-answered", call)));
    expect(written).toEqual([]);
    const passed = ledger.record(event("output-passed", "c"));
    expect(written).toEqual([]);
    await ledger.record(event("output-clamped", "d"));
    expect(written).toEqual(["a", "b", "c", "d"]);
    await Promise.all([...answered, passed]);
  });

  it("are not those of saved outputs, which are written at once", () => {
    const { written, ledger } = open();
    void ledger.record(event("output-passed", "a", "k3v7q2xyzabc"));
    expect(written).toEqual(["a"]);
  });

  it("are written in a while by themselves, and when the ledger is read or closed", async () => {
    const { written, ledger } = open();
    await ledger.record(event("request-answered", "a"));
    expect(written).toEqual(["a"]);
    void ledger.record(event("request-answered", "b"));
    expect((await ledger.events()).map(({ call }) => call)).toEqual(["a", "b"]);
    void ledger.record(event("request-answered", "c"));
    await ledger.close();
    expect(written).toEqual(["a", "b", "c"]);
  });

  it("are written at once when there are many, so that no request waits long for all of them", () => {
    const { written, ledger } = open();
    for (let at = 0; at < 600; at++) void ledger.record(event("request-answered", String(at)));
    expect(written).toHaveLength(512);
  });

  it("that cannot be written are told to who waits", async () => {
    const ledger = gatherEvents({ ...memoryLedger(), record: async () => Promise.reject(new Error("full")) });
    await expect(ledger.record(event("request-answered", "a"))).rejects.toThrow("full");
  });
});
