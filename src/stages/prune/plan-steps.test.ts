import { describe, expect, it } from "vitest";
import { resolvePolicy } from "../policy/resolve-policy.ts";
import { planSteps } from "./plan-steps.ts";
import { type PruneItem, STEP, shortenedWeight } from "./prune-item.ts";

const { pruning } = resolvePolicy({});
const tokens = (count: number) => ({ chars: count * 4, tokens: count, bytes: count * 4 });

const CLEARED = 20;

/** A request of a user's word, then turns of a call and a result each, at a window of 100,000 tokens. */
function planOf(
  turns: number,
  { result = 2000, call = 100, idleMs = 1000 as number | null, window = 100_000, policy = pruning } = {},
) {
  const items = Array.from(
    { length: turns },
    (_, at): PruneItem => ({
      message: 2 + 2 * at,
      tool: "bash",
      isError: false,
      untouchable: false,
      superseded: false,
      shown: tokens(result),
      step: STEP.whole,
    }),
  );
  const weightFrom = (message: number) => {
    const left = items.filter((item) => item.message >= message).length;
    return tokens(left * (result + call));
  };
  const frame = {
    items,
    assistants: items.map(({ message }) => message - 1),
    firstUser: 0,
    messages: 1 + 2 * turns,
    total: weightFrom(0),
    windowTokens: window,
    joints: () => 0,
    excessChars: () => 0,
    afterTrim: () => null,
    afterClear: () => tokens(CLEARED),
  };
  return planSteps(frame, policy, { idleMs, weightFrom });
}

describe("a step", () => {
  it("is made where what it frees was sent again often enough", () => {
    const { cuts, triggers } = planOf(30);
    expect(triggers.pressure.active).toBe(true);
    expect(cuts.length).toBeGreaterThan(10);
  });

  it("waits where most of what is behind its first cut would have to be written anew", () => {
    // Calls are nine tenths of what stands there: the step could free enough, but it costs more than it has saved so far.
    const { cuts, why } = planOf(50, { result: 350, call: 1100 });
    expect(cuts).toEqual([]);
    expect(why).toBe("a step would break more of the prompt cache than it has saved so far");
  });

  it("is made all the same where the cache is cold, or the window nearly full", () => {
    const dear = { result: 350, call: 1100 };
    expect(planOf(50, { ...dear, idleMs: 600_000 }).cuts.length).toBeGreaterThan(0);
    expect(planOf(50, { ...dear, window: 78_000 }).cuts.length).toBeGreaterThan(0);
  });

  it("is made where it frees just what it must", () => {
    const turns = 40;
    const result = 1200;
    const freed = planOf(turns, { result }).cuts.length * (result - CLEARED);
    const asked = (clearAtLeastTokens: number) =>
      planOf(turns, { result, policy: { ...pruning, clearAtLeastTokens, clearAtLeastShare: 0 } });
    expect(asked(freed).triggers.pressure.active).toBe(true);
    expect(asked(freed).cuts).not.toEqual([]);
    expect(asked(freed + 1).triggers.pressure).toEqual({
      active: false,
      why: `a step would free ${freed}, less than ${freed + 1}`,
    });
    expect(asked(freed + 1).cuts).toEqual([]);
  });

  it("has no trigger where nothing can go, though the window is full", () => {
    const { cuts, triggers, forced } = planOf(50, { result: CLEARED, call: 2000 });
    expect([cuts, forced, triggers.pressure.active]).toEqual([[], true, false]);
  });

  it("is paid for by the turns since its results came, not by their number", () => {
    // The same share of results, in two conversations that are as large: the one with more turns has sent them more often.
    const few = planOf(6, { result: 7000, call: 3500 });
    const many = planOf(60, { result: 700, call: 350 });
    expect([few.cuts.length > 0, many.cuts.length > 0]).toEqual([false, true]);
  });
});

describe("the long strings of a call", () => {
  const weigh = (lengths: number[]) =>
    shortenedWeight(lengths, tokens(1000), "cleared", pruning.softTrim, { chars: 1, tokens: 1, bytes: 1 });

  it("have no other weight where none of them gets shorter", () => {
    expect(weigh([])).toBe(null);
    expect(weigh([10, 20])).toBe(null);
    expect(weigh([10, 4000])?.chars).toBeLessThan(200);
  });
});
