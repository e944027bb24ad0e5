import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { resolvePolicy } from "../policy/resolve-policy.ts";
import { MODEL_WINDOWS } from "./model-windows.ts";
import { plainName, resolveWindow } from "./resolve-window.ts";

describe("the window, a person's own word first", () => {
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
    [{ model: "gpt-4o" }, { tokens: 1, from: "models" }],
    [{ model: "Acme/Big" }, { tokens: 50_000, from: "models" }],
    [{ model: "big" }, { tokens: 50_000, from: "models" }],
    [{ model: "gpt-4o-2024-08-06" }, { tokens: 90_000, from: "contextTokens" }],
    [{ model: "nobody/knows" }, { tokens: 90_000, from: "contextTokens" }],
    [{}, { tokens: 90_000, from: "contextTokens" }],
    [{ window: Number.NaN }, { tokens: 90_000, from: "contextTokens" }],
  ])("%o: %o", (asked, window) => {
    expect(resolveWindow(policy, asked)).toEqual(window);
  });

  it("200,000 where nobody says anything; stated, the same number beats the table", () => {
    const model = "claude-opus-4-8";
    expect(resolveWindow(resolvePolicy(), {})).toEqual({ tokens: 200_000, from: "default" });
    expect(resolveWindow(resolvePolicy(), { model })).toEqual({ tokens: 1_000_000, from: "model table" });
    const stated = resolvePolicy({ contextTokens: 200_000 });
    expect(resolveWindow(stated, { model })).toEqual({ tokens: 200_000, from: "contextTokens" });
    const project = resolvePolicy({ project: { contextTokens: 100_000 } });
    expect(resolveWindow(project, { model }).from).toBe("model table");
    expect(resolveWindow(project, {})).toEqual({ tokens: 100_000, from: "default" });
  });
});

describe("the table", () => {
  it.each([
    ["gpt-4o", 128_000],
    ["gpt-4o-2024-08-06", 128_000],
    ["gpt-4", 8192],
    ["gpt-4.1-mini", 1_047_576],
    ["gpt-4-1106-preview", 128_000],
    ["openai/gpt-5-mini", 272_000],
    ["gpt-6.1-sol", 922_000],
    ["o3-mini-2025-01-31", 200_000],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000],
    ["claude-3-5-sonnet-20241022", 200_000],
    ["claude-sonnet-4@20250514", 200_000],
    ["claude-opus-4-6", 1_000_000],
    ["anthropic/claude-opus-4.6", 1_000_000],
    ["claude-haiku-5-5", 1_000_000],
    ["claude-fable-5-2", 1_000_000],
    ["models/gemini-2.5-pro", 1_048_576],
    ["gemini-4-argon", 1_048_576],
    ["x-ai/grok-4.7", 500_000],
    ["grok-4-0709", 256_000],
    ["moonshotai/kimi-k3.1-pro", 1_048_576],
    ["MiniMax-M3", 1_000_000],
    ["glm-5.3", 1_000_000],
    ["qwen3.8-max", 1_000_000],
    ["deepseek-v4-pro", 1_000_000],
  ])("%s has %d", (model, tokens) => {
    expect(resolveWindow(resolvePolicy(), { model })).toEqual({ tokens, from: "model table" });
  });

  it.each(["gpt", "gpt-7", "claude", "llama3:8b", "gpt-40", "my-gpt-4o", ""])("%s is not known", (model) => {
    expect(resolveWindow(resolvePolicy(), { model }).from).toBe("default");
  });

  it("has no name twice, and every name is in the form that is looked up", () => {
    const names = MODEL_WINDOWS.flatMap(([, list]) => list.split(" "));
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => plainName(name) !== name)).toEqual([]);
  });

  it("says which list it is from and of what date, as the script that writes it does", async () => {
    const table = await readFile("src/stages/prune/model-windows.ts", "utf8");
    const script = await readFile("scripts/write-windows.mjs", "utf8");
    const [, name, version, date] = /The list is (\S+) (\S+) of (\d{4}-\d\d-\d\d)\./.exec(table) ?? [];
    expect(script).toContain(`{ name: "${name}", version: "${version}", date: "${date}" }`);
    const form = /last\.replace\(.*$/m;
    const own = await readFile("src/stages/prune/resolve-window.ts", "utf8");
    expect(form.exec(script)?.[0]).toBe(form.exec(own)?.[0]);
  });
});
