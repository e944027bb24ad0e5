import { describe, expect, it } from "vitest";
import { resolvePolicy } from "../policy/resolve-policy.ts";
import { add, NO_WEIGHT, type Weight } from "../prune/weight.ts";
import { type Ladder, ladderOf } from "./ladders.ts";
import type { Rung, RungCut, RungItem, RungRequest } from "./rung.ts";

const weight = (chars: number): Weight & { lines: number } => ({
  chars,
  tokens: Math.ceil(chars / 4),
  bytes: chars,
  lines: 1 + Math.floor(chars / 80),
});
const item = (message: number, chars: number, more: Partial<RungItem> = {}): RungItem => ({
  message,
  tool: "bash",
  isError: false,
  untouchable: false,
  superseded: false,
  step: 0,
  fixed: false,
  texts: weight(chars),
  media: NO_WEIGHT,
  isNewest: false,
  ...more,
  shown: add(weight(chars), more.media ?? NO_WEIGHT),
});

function request(items: RungItem[], targetTokens: number, more: Partial<RungRequest> = {}): RungRequest {
  const total = items.reduce<Weight>(
    (sum, { shown }) => ({
      chars: sum.chars + shown.chars,
      tokens: sum.tokens + shown.tokens,
      bytes: sum.bytes + shown.bytes,
    }),
    NO_WEIGHT,
  );
  return {
    items,
    calls: [],
    assistants: [1, 3, 5, 7, 9, 11],
    firstUser: 0,
    messages: 14,
    total,
    windowTokens: 100_000,
    outsideMedia: [],
    turns: [],
    newestTokens: 100,
    targetTokens,
    targetBytes: Infinity,
    pruning: resolvePolicy().pruning,
    resultChars: 120_000,
    hardLimits: { maxBytes: 51_200, maxLines: 2000 },
    canCompact: false,
    afterTrim: ({ shown }) => (shown.chars > 4000 ? weight(3200) : null),
    afterClear: () => weight(100),
    ...more,
  };
}

const rung = (name: Ladder[number] & string): Rung => {
  const [one] = ladderOf([name] as Ladder).rungs;
  if (one === undefined) throw new Error(name);
  return one;
};
const cutsOf = (one: Rung, asked: RungRequest): RungCut[] => {
  const plan = one.plan(asked);
  return "cuts" in plan ? plan.cuts : [];
};
const places = (cuts: RungCut[]) =>
  cuts.map((cut) => `${cut.to} ${"item" in cut ? cut.item.message : `m${cut.message}`}`);

describe("ladders", () => {
  it("in the built-in order and with a summary first", () => {
    const names = (ladder: Ladder) => ladderOf(ladder).rungs.map(({ name }) => name);
    const order = ["clamp-results", "prune", "drop-media", "compact", "drop-turns", "reclamp", "drop-media"];
    expect(names("default")).toEqual(order);
    expect(names("compact-first")).toEqual(["compact", "rewrite-results"]);
    expect(ladderOf("default").maxSends).toBe(4);
    expect(ladderOf("compact-first").maxSends).toBe(5);
    expect(() => ladderOf(["nothing" as never])).toThrow(/a rung is one of clamp-results, prune/);
    expect(() => ladderOf("other" as never)).toThrow(/ladder must be/);
  });

  it("clamp-results: a share of the window for each result, and one budget for the newest; nothing where none is over", () => {
    const over = [item(2, 150_000), item(4, 1000), item(12, 90_000, { isNewest: true })];
    expect(cutsOf(rung("clamp-results"), request(over, 0))).toMatchObject([
      { item: { message: 2 }, limits: { maxChars: 120_000 } },
    ]);
    expect(cutsOf(rung("clamp-results"), request([item(2, 120_000)], 0))).toEqual([]);
    // Only what must go: 209,136 characters, of which 60,000 may stay.
    const large = request([item(12, 209_136, { isNewest: true })], 15_000, { resultChars: 3000 });
    expect(cutsOf(rung("clamp-results"), large)).toMatchObject([{ limits: { maxChars: 59_999, maxLines: 2000 } }]);
    const two = request([item(2, 100_000), item(4, 60_000), item(6, 2900)], 30_000, { resultChars: 3000 });
    expect(cutsOf(rung("clamp-results"), two)).toMatchObject([
      { item: { message: 2 }, limits: { maxChars: 58_550 } },
      { item: { message: 4 }, limits: { maxChars: 58_550 } },
    ]);
    expect(cutsOf(rung("clamp-results"), request([item(2, 100_000)], 30_000, { resultChars: 3000 }))).toEqual([]);
    const many = [1, 2, 3].map(() => item(12, 90_000, { isNewest: true }));
    expect(cutsOf(rung("clamp-results"), request(many, 0))).toHaveLength(3);
    const small = request([item(2, 5000)], 0, { resultChars: 2000 });
    expect(cutsOf(rung("clamp-results"), small)).toMatchObject([{ limits: { maxChars: 2000 } }]);
  });

  it("prune: trims before it clears, the oldest first, and stops when enough is free; what is in use stays", () => {
    const items = [item(2, 20_000), item(4, 20_000), item(6, 20_000), item(12, 20_000, { isNewest: true })];
    // Six tenths of the target are in use then.
    const pruned = (tokens: number, more: Partial<RungRequest> = {}) =>
      places(cutsOf(rung("prune"), request(items, tokens / 0.6, more)));
    expect(pruned(16_000)).toEqual(["trimmed 2"]);
    expect(pruned(12_000)).toEqual(["trimmed 2", "trimmed 4"]);
    expect(pruned(7000)).toEqual(["trimmed 2", "trimmed 4", "trimmed 6", "cleared 2"]);
    // Then the arguments of old calls.
    const calls = [item(1, 8000, { isCall: true }), item(11, 8000, { isCall: true })];
    expect(pruned(7000, { calls }).at(-1)).toBe("cleared 2");
    expect(pruned(5050, { calls }).slice(-3)).toEqual(["cleared 4", "cleared 6", "trimmed 1"]);
    expect(pruned(0, { calls }).slice(-2)).toEqual(["trimmed 1", "cleared 1"]);
    const kept = { ...resolvePolicy().pruning, callArguments: false };
    expect(pruned(0, { calls, pruning: kept }).at(-1)).toBe("cleared 6");
    expect(rung("prune").estimate(request(items, 20_000)).tokens).toBe(3 * (5000 - 25));
    const off = { ...resolvePolicy().pruning, mode: "off" as const };
    expect(rung("prune").estimate(request(items, 0, { pruning: off })).tokens).toBe(0);
    const again = [item(2, 20_000), item(4, 20_000, { superseded: true })];
    expect(places(cutsOf(rung("prune"), request(again, 9000 / 0.6)))).toEqual(["trimmed 4"]);
  });

  it("drop-media: the oldest first, those of messages only where they were given up", () => {
    const media = { chars: 8000, tokens: 2000, bytes: 50_000 };
    const items = [item(2, 10, { media }), item(4, 10, { media, fixed: true }), item(6, 10, { media })];
    const asked = request(items, 0, { targetBytes: 1 });
    expect(places(cutsOf(rung("drop-media"), asked))).toEqual(["without-media 2", "without-media 6"]);
    const outside = { ...asked, outsideMedia: [{ message: 0, weight: media }] };
    expect(places(cutsOf(rung("drop-media"), outside)).at(-1)).toBe("without-media m0");
    expect(rung("drop-media").firstFor).toEqual(["payload-too-large"]);
  });

  it("drop-media: what no model has seen yet goes last, or if the newest turn would not fit with it", () => {
    const media = { chars: 8000, tokens: 2000, bytes: 50_000 };
    const items = [item(2, 10, { media }), item(12, 10, { media, isNewest: true })];
    const turns = [
      { from: 1, weight: { chars: 8010, tokens: 2003, bytes: 50_010 } },
      { from: 11, weight: { chars: 8010, tokens: 2003, bytes: 50_010 } },
    ];
    const { rungs } = ladderOf("default");
    const [early, late] = rungs.filter(({ name }) => name === "drop-media") as [Rung, Rung];
    const asked = (targetBytes: number) => request(items, Infinity, { targetBytes, turns });
    expect(places(cutsOf(early, asked(50_010)))).toEqual(["without-media 2"]);
    expect(places(cutsOf(early, asked(50_009)))).toEqual(["without-media 2", "without-media 12"]);
    expect([early.firstFor, late.firstFor, rungs.at(-1)]).toEqual([["payload-too-large"], [], late]);
    expect(places(cutsOf(late, asked(50_020)))).toEqual(["without-media 2"]);
    expect(places(cutsOf(late, asked(0)))).toEqual(["without-media 2", "without-media 12"]);
  });

  it("compact: only with somebody who can, to what may be left", () => {
    const asked = request([item(2, 40_000)], 1700);
    expect(rung("compact").estimate(asked)).toEqual({ tokens: 0, bytes: 0 });
    expect(rung("compact").estimate({ ...asked, canCompact: true }).tokens).toBe(10_000);
    expect(rung("compact").plan(asked)).toEqual({ compactTo: 1700 });
    expect(rung("compact").plan({ ...asked, targetTokens: Infinity, targetBytes: 8000 })).toEqual({ compactTo: 2000 });
    // The newest turn stays, so the target is never less than that turn.
    const little = { ...asked, targetTokens: 0, newestTokens: 3000 };
    expect(rung("compact").plan(little)).toEqual({ compactTo: 4101 });
  });

  it("drop-turns: the oldest until the rest fits with each result at its floor; never the newest, nothing for openclaw", () => {
    const turns = [1, 3, 5, 7].map((from) => ({ from, weight: weight(40_000) }));
    const total = weight(170_000);
    const asked = (targetTokens: number, more: Partial<RungRequest> = {}) =>
      rung("drop-turns").plan(request([], targetTokens, { turns, total, ...more }));
    // If it fits, turns go only if the next turn would not fit.
    expect(asked(42_500 / 0.9 + 1)).toEqual({ cuts: [] });
    expect(asked(42_500 / 0.9 - 1)).toEqual({ leaveOut: { from: 1, to: 5 } });
    expect(rung("drop-turns").roomShare).toBe(0.9);
    const fitting = request([], 42_500, { turns, total, canCompact: true });
    expect(rung("drop-turns").estimate(fitting).tokens).toBe(0);
    expect(rung("drop-turns").estimate({ ...fitting, canCompact: false }).tokens).toBe(30_000);
    expect(rung("drop-turns").estimate({ ...fitting, targetTokens: 42_499 }).tokens).toBe(30_000);
    // Six tenths of the target are in use then, the marker of 120 tokens included.
    expect(asked(42_499)).toEqual({ leaveOut: { from: 1, to: 5 } });
    expect(asked(22_620 / 0.6 + 1)).toEqual({ leaveOut: { from: 1, to: 5 } });
    expect(asked(22_620 / 0.6 - 1)).toEqual({ leaveOut: { from: 1, to: 7 } });
    expect(asked(0)).toEqual({ leaveOut: { from: 1, to: 7 } });
    // What results can give is left to the rung after it, unless it goes with its turn.
    const results = [2, 4, 6, 8].map((message) => item(message, 38_000));
    const withResults = (targetTokens: number) =>
      rung("drop-turns").plan({ ...request(results, targetTokens), turns, total });
    expect(withResults(6500)).toEqual({ cuts: [] });
    expect(withResults(6499)).toEqual({ leaveOut: { from: 1, to: 7 } });
    const all = request([], 0, { turns, total });
    expect(rung("drop-turns").estimate(all).tokens).toBe(30_000);
    const openclaw = { ...all, pruning: { ...all.pruning, preset: "openclaw" as const } };
    expect(rung("drop-turns").estimate(openclaw)).toEqual({ tokens: 0, bytes: 0 });
  });

  it("reclamp: the hard limits, then fair shares, the newest last; under the floor only in need", () => {
    const items = [item(2, 60_000), item(4, 3000), item(12, 40_000, { isNewest: true })];
    const mild = cutsOf(rung("reclamp"), request(items, 24_000));
    expect(mild).toMatchObject([{ item: { message: 2 }, limits: { maxBytes: 51_200, maxLines: 2000 } }]);
    const hard = cutsOf(rung("reclamp"), request(items, 11_000));
    expect(hard.filter((cut) => "item" in cut && cut.item.isNewest)).toEqual([]);
    const last = (targetTokens: number) =>
      new Map(
        cutsOf(rung("reclamp"), request(items, targetTokens)).map((cut) => [
          "item" in cut && cut.item.message,
          "limits" in cut && cut.limits.maxChars,
        ]),
      );
    expect(Math.min(...[...last(1510).values()].map(Number))).toBe(2000);
    expect([...last(0)]).toEqual([
      [2, 500],
      [4, 500],
      [12, 500],
    ]);
  });

  it("rewrite-results: nothing oversized, nothing to do", () => {
    expect(rung("rewrite-results").estimate(request([item(2, 51_000)], 0))).toEqual({ tokens: 0, bytes: 0 });
    expect(cutsOf(rung("rewrite-results"), request([item(2, 60_000)], 0))).toHaveLength(1);
  });
});
