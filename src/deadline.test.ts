import { expect, it } from "vitest";
import { newBreaker } from "./deadline.ts";

it("opens after three failures in a row, tries once after the pause, and closes on a success", () => {
  let nowMs = 1000;
  const breaker = newBreaker(3, 30_000, () => nowMs);
  breaker.failed();
  breaker.failed();
  breaker.succeeded();
  breaker.failed();
  breaker.failed();
  expect(breaker.allows()).toBe(true);
  breaker.failed();
  expect(breaker.allows()).toBe(false);
  nowMs += 30_000;
  expect(breaker.allows()).toBe(true);
  breaker.failed();
  expect(breaker.allows()).toBe(false);
  nowMs += 30_000;
  breaker.succeeded();
  breaker.failed();
  expect(breaker.allows()).toBe(true);
});
