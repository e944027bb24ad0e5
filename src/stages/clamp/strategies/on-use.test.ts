import { expect, test } from "vitest";
import { STRATEGY_NAMES } from "../../policy/strategy-name.ts";
import { strategies } from "./index.ts";
import { loadStrategy, strategyAtHand } from "./on-use.ts";

test("every strategy is known by name, at hand at once, and itself once it is loaded", async () => {
  expect(strategies.map(({ name }) => name)).toEqual(STRATEGY_NAMES);
  expect(strategyAtHand("nonsense")).toBeUndefined();
  for (const strategy of strategies) {
    const atHand = strategyAtHand(strategy.name);
    expect(atHand?.name).toBe(strategy.name);
    if (atHand !== undefined) expect(await loadStrategy(atHand)).toBe(strategy);
    expect(strategyAtHand(strategy.name)).toBe(strategy);
  }
  const own = { ...strategies[0], name: "auto", start: () => expect.unreachable() };
  expect(await loadStrategy(own)).toBe(own);
});
