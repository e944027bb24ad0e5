import { describe, expect, it } from "vitest";
import { resolvePolicy } from "../policy/resolve-policy.ts";
import { MODEL_WINDOWS, resolveWindow } from "./resolve-window.ts";

describe("the window, the first that is known", () => {
  const models = [
    { provider: "acme", model: "big", contextTokens: 50_000 },
    { provider: "openai", model: "gpt-4o", contextTokens: 1 },
  ];
  const policy = resolvePolicy({ models, contextTokens: 90_000 });

  it.each([
    [
      { window: 1234, model: "gpt-4o" },
      { tokens: 1234, from: "call" },
    ],
    [{ model: "gpt-4o" }, { tokens: 128_000, from: "model table" }],
    [{ model: "gpt-4o-2024-08-06" }, { tokens: 128_000, from: "model table" }],
    [{ model: "openai/gpt-5-mini" }, { tokens: 272_000, from: "model table" }],
    [{ model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0" }, { tokens: 200_000, from: "model table" }],
    [{ model: "claude-opus-4-6" }, { tokens: 1_000_000, from: "model table" }],
    [{ model: "models/gemini-2.5-pro" }, { tokens: 1_048_576, from: "model table" }],
    [{ model: "Acme/Big" }, { tokens: 50_000, from: "models" }],
    [{ model: "big" }, { tokens: 50_000, from: "models" }],
    [{ model: "nobody/knows" }, { tokens: 90_000, from: "contextTokens" }],
    [{}, { tokens: 90_000, from: "contextTokens" }],
    [{ window: Number.NaN }, { tokens: 90_000, from: "contextTokens" }],
  ])("%o: %o", (asked, window) => {
    expect(resolveWindow(policy, asked)).toEqual(window);
  });

  it("200,000 where nobody says anything", () => {
    expect(resolveWindow(resolvePolicy(), {})).toEqual({ tokens: 200_000, from: "default" });
  });

  it("the table has no pattern twice", () => {
    const patterns = MODEL_WINDOWS.map(({ model }) => model);
    expect(new Set(patterns).size).toBe(patterns.length);
  });
});
