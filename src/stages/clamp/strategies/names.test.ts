import { expect, test } from "vitest";
import { STRATEGY_NAMES } from "../../policy/strategy-name.ts";
import { strategies } from "./index.ts";

test("the names that a policy may use are those of the strategies", () => {
  expect(strategies.map(({ name }) => name)).toEqual(STRATEGY_NAMES);
});
