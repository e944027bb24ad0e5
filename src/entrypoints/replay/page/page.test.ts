import { describe, expect, it } from "vitest";
import { wireNamed } from "../../../wire/index.ts";
import { none } from "../policies/rules.ts";
import { PRICES } from "../prices.ts";
import { replay } from "../replay.ts";
import { short, writePage } from "./page.ts";

const counter = { name: "letters", exact: true, maxBytesPerToken: 4, count: (text: string) => text.length };

async function pageOf(name: string, conversations = 1): Promise<string> {
  const messages = [1, 2, 3].flatMap((at) => [
    { role: "user", content: `question ${at}` },
    { role: "assistant", content: "answer" },
  ]);
  const one = { name, wire: wireNamed("openai-chat") ?? expect.fail(), messages };
  const replayed = await replay(
    Array.from({ length: conversations }, () => one),
    {
      policies: [none],
      windowTokens: 50,
      prices: PRICES[0] ?? expect.fail(),
      counter,
      makeSpillway: () => expect.fail(),
    },
  );
  return writePage(replayed);
}

describe("writePage", () => {
  it("is whole: no script, nothing loaded from elsewhere, made for phones too", async () => {
    const page = await pageOf("run.json");
    expect(page).not.toMatch(/<script|src=|href=|url\(|@import/);
    expect(page).toContain('content="width=device-width,initial-scale=1"');
    expect(page.match(/<svg /g)).toHaveLength(2);
  });

  it("draws each request, the window, and nothing that is no number", async () => {
    const page = await pageOf("run.json");
    expect(/polyline points="([^"]*)"/.exec(page)?.[1]?.split(" ")).toHaveLength(3);
    expect(page).toContain('class="window"');
    expect(page).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("makes names safe", async () => {
    const page = await pageOf(`<img src=x onerror="alert(1)">`);
    expect(page).not.toContain("<img");
  });

  it("draws the largest of many, and says how many more there are", async () => {
    const page = await pageOf("run.json", 15);
    expect(page.match(/<svg /g)).toHaveLength(13);
    expect(page).toContain("3 more are in the sums");
  });
});

describe("short", () => {
  it("takes few characters", () => {
    const values = [0, 12.5, 999, 1000, 12_500, 400_000, 999_999, 12_345_678];
    expect(values.map(short)).toEqual(["0", "12.5", "999", "1k", "12.5k", "400k", "1M", "12.3M"]);
  });
});
