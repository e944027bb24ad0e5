import { describe, expect, it } from "vitest";
import { clampText } from "../../admit/clamp-text.ts";

describe("room that is left", () => {
  it.each(["auto", "signal", "head-tail"])(
    "after folding goes to lines that were folded by shape, by %s",
    (strategy) => {
      const lines = Array.from(
        { length: 250 },
        (_, n) => `request answered in ${n === 130 ? 9999 : 10 + ((n * 7) % 50)} ms`,
      );
      const limits = { maxLines: 200, maxChars: 20_000 };
      const { text, receipt } = clampText(lines.join("\n"), limits, { strategy, fold: true });
      expect(receipt.shown.lines).toBeGreaterThan(190);
      expect(receipt.shown.lines).toBeLessThanOrEqual(200);
      expect(text).toContain("answered in 9999 ms");
      expect(receipt.faults).toBeUndefined();
    },
  );

  it.each([0.2, 0.4, 0.6])("never costs a line whose number is far over the others, at %d of the output", (place) => {
    const lines = Array.from({ length: 250 }, (_, n) => `request ${n} took ${10 + (n % 7)} ms`);
    const text = lines.with(250 * place, "request 777 took 9999 ms").join("\n");
    expect(clampText(text, { maxLines: 200 }, { strategy: "auto", fold: true }).text).toContain("took 9999 ms");
  });

  it.each([
    [3.9, true],
    [4.1, false],
  ])("goes to folded lines of an output of %d times the room: %s", (rooms, isUsed) => {
    // What is longer is not held, so that memory stays that of the limits.
    const maxBytes = 5000;
    const lines = Array.from({ length: (rooms * maxBytes) / 21 }, (_, n) => `step ${n + 1000} took ${n % 9}.5 s\n`);
    expect(lines[0]).toHaveLength(21);
    const { text } = clampText(lines.join(""), { maxBytes }, { strategy: "signal", fold: true });
    expect(text.length > 0.8 * maxBytes).toBe(isUsed);
  });

  it("goes to all of them where all fit", () => {
    const lines = Array.from({ length: 120 }, (_, n) => `step ${n + 1} of 120: ok`);
    const text = [...lines, ...Array(90).fill("waiting for the lock")].join("\n");
    const clamped = clampText(text, { maxLines: 200 }, { strategy: "signal", fold: true });
    expect(clamped.receipt).toMatchObject({ cutBy: null, omitted: { lines: 0 }, folded: { lines: 89 } });
  });

  it.each([
    ["in one line", 0],
    ["each on lines of its own", 2],
  ])("goes to rows of JSON, %s", (_, indent) => {
    const rows = Array.from({ length: 3000 }, (__, id) => ({
      id,
      name: `user ${id}`,
      active: id % 2 === 0,
      score: id % 97,
    }));
    const { receipt } = clampText(JSON.stringify(rows, null, indent), { maxBytes: 51_200, maxLines: 2000 });
    expect(receipt.strategy).toBe("json");
    expect(receipt.shown.bytes).toBeGreaterThan(0.9 * 51_200);
  });
});

it.each(["auto", "signal", "head", "tail", "head-tail"])(
  "the limit that bound is named where two are exceeded, by %s",
  (strategy) => {
    const log = Array.from({ length: 9000 }, (_, n) => `${n * 7919} of a log\n`).join("");
    const cutBy = (maxBytes: number, maxLines: number) =>
      clampText(log, { maxBytes, maxLines }, { strategy, fold: false }).receipt.cutBy;
    expect(cutBy(50_000, 40)).toBe("lines");
    expect(cutBy(2000, 8000)).toBe("bytes");
  },
);
