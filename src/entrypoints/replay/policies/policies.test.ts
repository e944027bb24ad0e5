import { describe, expect, it } from "vitest";
import type { WireRole } from "../../../contract/wire.ts";
import { wireNamed } from "../../../wire/index.ts";
import { Renderer } from "../render.ts";
import { policies } from "./index.ts";

const wire = wireNamed("openai-chat") ?? expect.fail();
const counter = {
  name: "quarter",
  exact: true,
  maxBytesPerToken: 4,
  count: (text: string) => Math.ceil(text.length / 4),
};

/** Texts of results after requests under a policy: `roles` are users in between, numbers are results of that many characters. */
async function shownUnder(name: string, content: readonly (number | WireRole)[], tool = "read"): Promise<string[]> {
  const messages = content.flatMap((each, at): object[] => {
    if (typeof each === "string") return [{ role: each, content: "next" }];
    const call = { id: `c${at}`, type: "function", function: { name: tool, arguments: "{}" } };
    return [
      { role: "assistant", tool_calls: [call] },
      { role: "tool", tool_call_id: `c${at}`, content: "0123456789\n".repeat(each / 11 + 1).slice(0, each) },
    ];
  });
  const renderer = new Renderer(wire, counter);
  const recorded = { name, wire, messages };
  const rendered = messages.map((message) => renderer.render(message));
  const policy = policies.find((one) => one.name === name) ?? expect.fail();
  const prune = await policy.start({
    recorded,
    renderer,
    rendered,
    windowTokens: 1e6,
    cacheTtlMs: 0,
    makeSpillway: () => expect.fail(),
  });
  let shown: readonly unknown[] = [];
  for (let end = 1; end <= messages.length; end++) shown = await prune(end, null);
  return shown.flatMap((message) => renderer.render(message).results);
}

const lengths = (texts: readonly string[]) => texts.map(({ length }) => length);
const CLEARED = "[Old tool result content cleared]";

describe("policies", () => {
  it("are known by these names, each with its rule and its source", () => {
    expect(policies.map(({ name }) => name)).toEqual([
      "none",
      "ours",
      "opencode",
      "gemini",
      "anthropic",
      "langchain",
      "each-request",
      "last-10",
    ]);
    for (const { rule, source } of policies) expect(rule !== "" && source !== "").toBe(true);
  });

  it("opencode clears beyond 40,000 tokens if over 20,000 are freed, before the last two user turns", async () => {
    const old = [100_000, 60_000, 100_000] as const;
    // From the end: 25,000, 40,000 (protected), 65,000: frees 25,000.
    expect(await shownUnder("opencode", [...old, "user", "user"])).toEqual([
      CLEARED,
      expect.any(String),
      expect.any(String),
    ]);
    expect(lengths(await shownUnder("opencode", [...old, "user"]))).toEqual([100_000, 60_000, 100_000]);
    expect(lengths(await shownUnder("opencode", [80_000, 60_000, 100_000, "user", "user"]))).toEqual([
      80_000, 60_000, 100_000,
    ]);
  });

  it("gemini makes previews beyond 50,000 tokens if 30,000 are there, and leaves the last message alone", async () => {
    const texts = await shownUnder("gemini", [120_000, 200_000, 4000]);
    expect(texts[0]).toMatch(/^<tool_output_masked>\n0123456789\n[\s\S]*TRUNCATED[\s\S]*<\/tool_output_masked>$/);
    expect(texts[0]?.length).toBeLessThan(800);
    expect(lengths(texts).slice(1)).toEqual([200_000, 4000]);
    expect(lengths(await shownUnder("gemini", [119_000, 200_000, 4000]))).toEqual([119_000, 200_000, 4000]);
  });

  it("gemini shows ten lines from either end of a shell's output", async () => {
    const [first = ""] = await shownUnder("gemini", [120_000, 200_000, 4000], "bash");
    expect(first.split("\n").filter((line) => line.startsWith("0"))).toHaveLength(20);
    expect(first).toMatch(/\[\d+ lines omitted\]/);
  });

  it("anthropic clears all but three over 100,000 tokens, and more with every request", async () => {
    expect(lengths(await shownUnder("anthropic", Array(8).fill(60_000)))).toEqual([
      21, 21, 21, 21, 21, 60_000, 60_000, 60_000,
    ]);
    expect(lengths(await shownUnder("anthropic", Array(6).fill(60_000)))).toEqual(Array(6).fill(60_000));
  });

  it("langchain clears all but three over 100,000 tokens, then waits until it is over them again", async () => {
    expect(lengths(await shownUnder("langchain", Array(8).fill(60_000)))).toEqual([
      9, 9, 9, 9, 60_000, 60_000, 60_000, 60_000,
    ]);
  });

  it("last-10 masks all but ten, always", async () => {
    const texts = await shownUnder("last-10", Array(12).fill(33));
    expect(texts.slice(0, 2)).toEqual(Array(2).fill("Old environment output: (4 lines omitted)"));
    expect(lengths(texts).slice(2)).toEqual(Array(10).fill(33));
  });
});
