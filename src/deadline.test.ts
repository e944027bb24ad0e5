import { describe, expect, it } from "vitest";
import { newBreaker, newTurns, within } from "./deadline.ts";

it("time in which this process was busy is not held against what it waits for", async () => {
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  const answered = within(
    turn()
      .then(turn)
      .then(() => "answered"),
    500,
    "reading",
  );
  const untilMs = performance.now() + 600;
  while (performance.now() < untilMs);
  expect(await answered).toBe("answered");
  await expect(within(new Promise(() => {}), 20, "reading")).rejects.toThrow("reading took longer than 20 ms");
});

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

describe("turns", () => {
  it("wait in order, and say who had to wait", async () => {
    const turns = newTurns(1);
    const order: string[] = [];
    expect(await turns.take()).toBe(false);
    const waiting = ["first", "second"].map((name) =>
      turns.take().then((hasWaited) => order.push(`${name} ${hasWaited}`)),
    );
    turns.give();
    turns.give();
    await Promise.all(waiting);
    expect(order).toEqual(["first true", "second true"]);
  });

  it("are not lost by those who stop waiting, and none is taken once the signal has aborted", async () => {
    const turns = newTurns(1);
    const stop = new AbortController();
    await turns.take();
    const left = turns.take(stop.signal);
    const next = turns.take();
    stop.abort(new Error("enough"));
    await expect(left).rejects.toThrow("enough");
    await expect(turns.take(stop.signal)).rejects.toThrow("enough");
    turns.give();
    expect(await next).toBe(true);
    turns.give();
    expect(await turns.take()).toBe(false);
  });

  it("are kept by those who stop only after it was their turn", async () => {
    const turns = newTurns(1);
    const stop = new AbortController();
    await turns.take();
    const mine = turns.take(stop.signal);
    turns.give();
    stop.abort();
    expect(await mine).toBe(true);
  });
});
