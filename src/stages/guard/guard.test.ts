import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WireCall, WireMessage, WireRole } from "../../contract/wire.ts";
import { guardLimits, PendingCalls, repairText } from "./guard.ts";

describe("guardLimits", () => {
  it("400,000 characters bind only where the limits allow more", () => {
    expect(guardLimits({ maxBytes: 51_200, maxLines: 2000 }, null)).toEqual({
      maxBytes: 51_200,
      maxLines: 2000,
      maxChars: 400_000,
    });
    expect(guardLimits({ maxChars: 900_000 }, null).maxChars).toBe(400_000);
    expect(guardLimits({ maxChars: 20_000 }, null).maxChars).toBe(20_000);
  });

  it("a stated window gives a share of 0.3, at least 2,000 characters; the floor yields to the limits", () => {
    expect(guardLimits({}, 100_000).maxChars).toBe(120_000);
    expect(guardLimits({}, 10_000_000).maxChars).toBe(400_000);
    expect(guardLimits({}, 100).maxChars).toBe(2000);
    expect(guardLimits({ maxChars: 500 }, 100).maxChars).toBe(500);
  });
});

describe("PendingCalls", () => {
  const view = (role: WireRole, calls: string[], results: string[] = [], aborted = false): WireMessage => ({
    role,
    id: null,
    calls: calls.map((id): WireCall => ({ id, tool: `tool ${id}`, input: {} })),
    results: results.map((id) => ({
      at: "0",
      id,
      tool: null,
      isError: false,
      texts: [],
      media: { count: 0, bytes: 0 },
      fixed: false,
    })),
    chars: 0,
    media: { count: 0, bytes: 0 },
    text: null,
    aborted,
    malformed: 0,
  });
  const ids = (calls: readonly WireCall[]) => calls.map(({ id }) => id);

  it("names the calls that the conversation left behind, once", () => {
    const pending = new PendingCalls();
    pending.see(view("assistant", ["a", "b", "a"]));
    pending.see(view("result", [], ["a"]));
    expect(ids(pending.calls)).toEqual(["b", "a"]);
    expect(pending.toolOf(view("result", [], ["b"]).results[0] as never)).toBe("tool b");
    expect(pending.lostBefore(view("result", [], ["b"]))).toEqual([]);
    expect(pending.lostBefore(view("other", []))).toEqual([]);
    expect(ids(pending.lostBefore(view("user", [])))).toEqual(["b", "a"]);
    expect(pending.lostBefore(view("user", []))).toEqual([]);
  });

  it("knows no call of a turn that was broken off, nor one that its own message answers", () => {
    const pending = new PendingCalls();
    pending.see(view("assistant", ["a"], [], true));
    pending.see(view("assistant", ["b"], ["b"]));
    expect(pending.close()).toEqual([]);
  });
});

describe("repairText", () => {
  it("repairs lone surrogates wherever they stand, and only those", () => {
    const value = { "\ud83d": ["a\udc00b", { deep: "\ud83d\ude00" }], n: 1 };
    expect(repairText(value)).toEqual({ "\ufffd": ["a\ufffdb", { deep: "\ud83d\ude00" }], n: 1 });
    expect(value["\ud83d"][0]).toBe("a\udc00b");
  });

  it("repairs a field under a sound name, a name over nothing, and what can be reached of a circle", () => {
    expect(repairText({ a: "\ud800" })).toEqual({ a: "\ufffd" });
    expect(Object.keys(repairText({ "\ud800": undefined }))).toEqual(["\ufffd"]);
    const circle: Record<string, unknown> = { bad: "\udfff" };
    circle.self = circle;
    expect(repairText(circle)).toMatchObject({ bad: "\ufffd", self: { bad: "\ufffd" } });
    expect(circle.bad).toBe("\udfff");
  });

  it("gives the same object where nothing needs repair, and always well-formed JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
        const repaired = repairText(value);
        expect(JSON.stringify(repaired)).not.toMatch(/\\ud[89a-f]/i);
        if (!/\\ud[89a-f]/i.test(JSON.stringify(value))) expect(repaired).toBe(value);
      }),
    );
  });
});
