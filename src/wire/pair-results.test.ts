import { describe, expect, it } from "vitest";
import type { WireMessage } from "../contract/wire.ts";
import { emptyView } from "./make-wire.ts";
import { pairResults } from "./pair-results.ts";

function calls(...made: [id: string | null, tool: string][]): WireMessage {
  return { ...emptyView("assistant"), calls: made.map(([id, tool]) => ({ id, tool, input: {} })) };
}

function results(...got: [id: string | null, tool?: string][]): WireMessage {
  const rest = { isError: false, texts: ["x"], media: { count: 0, bytes: 0 }, fixed: false };
  return {
    ...emptyView("result"),
    results: got.map(([id, tool], at) => ({ at: String(at), id, tool: tool ?? null, ...rest })),
  };
}

/** Returns [message of the result, message of its call, tool, occurrence] for each result. */
function pair(...views: WireMessage[]): [number, number | null, string, number][] {
  return pairResults(views).map(({ message, callMessage, tool, occurrence }) => [
    message,
    callMessage,
    tool,
    occurrence,
  ]);
}

describe("pairResults", () => {
  it("pairs parallel calls by id, whatever the order", () => {
    expect(pair(calls(["a", "read"], ["b", "run"]), results(["b"], ["a"]))).toEqual([
      [1, 0, "run", 0],
      [1, 0, "read", 0],
    ]);
  });

  it("pairs an id that repeats in later turns with its own turn", () => {
    expect(pair(calls(["a", "read"]), results(["a"]), calls(["a", "run"]), results(["a"]))).toEqual([
      [1, 0, "read", 0],
      [3, 2, "run", 1],
    ]);
  });

  it("a call that never got its result does not take a later one's", () => {
    expect(pair(calls(["a", "read"]), calls(["a", "run"]), results(["a"]))).toEqual([[2, 1, "run", 0]]);
  });

  it("late results go to the calls that are still open, the latest first", () => {
    expect(pair(calls(["a", "read"]), calls(["a", "run"]), results(["a"]), results(["a"]))).toEqual([
      [2, 1, "run", 0],
      [3, 0, "read", 1],
    ]);
  });

  it("an id that two calls of one message share is taken in order", () => {
    expect(pair(calls(["a", "read"], ["a", "run"]), results(["a"], ["a"]))).toEqual([
      [1, 0, "read", 0],
      [1, 0, "run", 1],
    ]);
  });

  it("a second result for one call belongs to it too", () => {
    expect(pair(calls(["a", "read"]), results(["a"]), results(["a"]))).toEqual([
      [1, 0, "read", 0],
      [2, 0, "read", 1],
    ]);
  });

  it("orphans, and results before their call, have none", () => {
    expect(pair(results(["a"], ["b", "run"]), calls(["a", "read"]))).toEqual([
      [0, null, "unknown", 0],
      [0, null, "run", 0],
    ]);
  });

  it("without ids the tool's name and the order decide", () => {
    expect(
      pair(
        calls([null, "read"], [null, "run"], [null, "read"]),
        results([null, "read"], [null, "read"], [null, "run"]),
      ),
    ).toEqual([
      [1, 0, "read", 0],
      [1, 0, "read", 1],
      [1, 0, "run", 0],
    ]);
  });

  it("an id on one side only is no obstacle", () => {
    expect(pair(calls(["a", "read"]), results([null, "read"]))).toEqual([[1, 0, "read", 0]]);
    expect(pair(calls([null, "read"]), results(["a", "read"]))).toEqual([[1, 0, "read", 0]]);
  });

  it("names from messages are no keys of objects", () => {
    expect(pair(calls(["__proto__", "constructor"]), results(["__proto__"]))).toEqual([[1, 0, "constructor", 0]]);
  });

  it("100,000 calls of one tool pair in linear time", () => {
    const many = Array.from({ length: 100_000 }, (): [null, string] => [null, "read"]);
    const pairs = pairResults([calls(...many), results(...many), results(...many)]);
    expect(new Set(pairs.slice(0, 100_000).map(({ call }) => call)).size).toBe(100_000);
    expect(pairs).toHaveLength(200_000);
  });
});
