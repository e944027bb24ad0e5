// Cases that whoever comes from another agent knows by name: the numbers and the words are theirs.
import { describe, expect, it } from "vitest";
import { createSpillway } from "../src/index.ts";
import { clampBlocks, clampText } from "../src/stages.ts";

const limits = { maxBytes: 50 * 1024, maxLines: 2000 };
const suffix =
  "[tool output truncated: exceeded 50KB or 2000 lines; request smaller chunks (offset/limit) or specific sections]";
const hardClamp = (text: string) => clampText(text, limits, { strategy: "head" });

describe("the hard clamp", () => {
  it("under limit: no change", () => {
    const text = "line\n".repeat(2000);
    expect(hardClamp(text).text).toBe(text);
    expect(hardClamp("x".repeat(51_200)).text).toHaveLength(51_200);
  });

  it("over the byte limit: the longest start that fits, then the suffix", () => {
    const { text, receipt } = hardClamp("x".repeat(60_000));
    const header = "[Start of line 1 of 1]\n";
    expect(text).toBe(`${header}${"x".repeat(51_200 - header.length - suffix.length - 2)}\n\n${suffix}`);
    expect(receipt).toMatchObject({ cutBy: "bytes", shown: { bytes: 51_200 } });
  });

  it("over the line limit: how many lines there are is said without a store too", () => {
    const { text, receipt } = hardClamp("short\n".repeat(3000));
    expect(text).toBe(`[First 1,997 lines of 3,000]\n${"short\n".repeat(1997)}\n${suffix}`);
    expect(receipt).toMatchObject({ cutBy: "lines", shown: { lines: 2000 }, omitted: { lines: 1003 } });
  });

  it("both limits hit: what binds is told", () => {
    const { receipt } = hardClamp(`${"y".repeat(99)}\n`.repeat(3000));
    expect(receipt).toMatchObject({ cutBy: "bytes", total: { lines: 3000 } });
    expect(receipt.shown.bytes).toBeLessThanOrEqual(51_200);
    expect(receipt.shown.lines).toBeLessThanOrEqual(2000);
  });

  it("surrogate boundary: no invalid pair, wherever the limit falls", () => {
    for (let maxBytes = 400; maxBytes < 420; maxBytes++) {
      const { text } = clampText("😀".repeat(1000), { maxBytes }, { strategy: "head" });
      expect(text.isWellFormed()).toBe(true);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
      expect(Buffer.byteLength(text)).toBeGreaterThan(maxBytes - 4);
    }
  });

  it("multi-block content keeps its structure; other blocks stay", () => {
    const image = { type: "image", data: "aGk=", mimeType: "image/png" };
    const result = {
      content: [{ type: "text", text: "a\n".repeat(3000) }, image, { type: "text", text: "b\n".repeat(3000) }],
      details: { kept: true },
    };
    const { output } = clampBlocks(result, limits, { strategy: "head" });
    expect(output.content.map(({ type }) => type)).toEqual(["text", "image", "text"]);
    expect(output.content[1]).toBe(image);
    expect(output.details).toBe(result.details);
    expect(
      output.content.flatMap((block) => ("text" in block ? block.text.split("\n") : [])).length,
    ).toBeLessThanOrEqual(2000);
  });
});

describe("tools and truncation", () => {
  it.each([
    ["read_file", 50_000, 500],
    ["run_command", 20_000, 200],
    ["list_directory", 10_000, 100],
    ["search_files", 30_000, 300],
  ])("%s has %i characters and %i lines", async (tool, maxChars, maxLines) => {
    const spillway = await createSpillway({ env: {} });
    for (const output of ["w".repeat(60_000), "some words\n".repeat(5000)]) {
      const { receipt } = await spillway.admit({ tool, output, fold: false });
      expect(receipt.shown.chars).toBeLessThanOrEqual(maxChars);
      expect(receipt.shown.lines).toBeLessThanOrEqual(maxLines);
    }
  });

  it("keeps 30 % from the start and 70 % from the end", () => {
    const text = Array.from({ length: 500 }, (_, index) => `entry ${index + 1}`).join("\n");
    const { receipt } = clampText(text, { maxLines: 104 });
    expect(receipt.cuts).toEqual([{ fromLine: 31, toLine: 430, bytes: expect.any(Number) }]);
  });

  it("counts truly: 400 lines are missing between line 30 and line 431 of 500", () => {
    const text = Array.from({ length: 500 }, (_, index) => `entry ${index + 1}`).join("\n");
    const shown = clampText(text, { maxLines: 104 }).text;
    expect(shown).toContain("[First 30 lines of 500]");
    expect(shown).toMatch(/\[\.\.\. lines 31-430 omitted \(400 lines, [\d,]+ bytes, [\d,]+ characters\) \.\.\.\]/);
    expect(shown).toContain("[Last 70 lines of 500]");
  });
});

describe("profile frugal", () => {
  it("gives any tool 8,000 characters, all of them used", async () => {
    const spillway = await createSpillway({ policy: "frugal", env: {} });
    const { receipt } = await spillway.admit({ tool: "anything", output: "z".repeat(50_000) });
    expect(receipt.shown.chars).toBe(8000);
  });
});
