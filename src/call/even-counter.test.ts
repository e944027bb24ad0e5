import { describe, expect, it } from "vitest";
import type { TokenCounter } from "../contract/token-counter.ts";
import { estimateCounter } from "../stages/measure/estimate-tokens.ts";
import { evenCounter } from "./draft.ts";

const even = evenCounter(estimateCounter);
describe("an even count", () => {
  it("leaves ASCII as it is, and takes from other text what the estimate has too much", () => {
    const english = "the build failed at line 12 of module cache\n".repeat(20);
    expect(even.count(english)).toBe(estimateCounter.count(english));
    const chinese = "构建失败，请检查日志文件。\n".repeat(50);
    expect(even.count(chinese)).toBeLessThan(estimateCounter.count(chinese) * 0.6);
    expect(even.count(chinese)).toBeGreaterThan(estimateCounter.count(chinese) * 0.4);
    expect(even.count("")).toBe(0);
  });

  it("is an exact counter's own", () => {
    const exact: TokenCounter = { name: "x", exact: true, maxBytesPerToken: 4, count: (text) => text.length };
    expect(evenCounter(exact)).toBe(exact);
  });
});
