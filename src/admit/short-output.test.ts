import { expect, it } from "vitest";
import { createSpillway } from "../index.ts";
import { memoryStore } from "../storage/stores/memory.ts";
import { clampText } from "./clamp-text.ts";

const make = () => createSpillway({ env: {}, store: memoryStore(), ledger: null });
const short = Array.from({ length: 205 }, (_, n) => `${n}`).join("\n");

it.each([
  ["a text", () => short],
  ["bytes in chunks", () => new Blob([short]).stream()],
  ["blocks", () => ({ content: [{ type: "text", text: short }] })],
])("under 2,000 characters %s passes whole, whatever its lines", async (_, output) => {
  const spillway = await make();
  const { text, receipt } = await spillway.admit({ tool: "bash", output: output() });
  expect(text).toBe(short);
  expect(receipt).toMatchObject({ cutBy: null, shown: { lines: 205 }, artifact: null });
  expect(receipt.faults).toBeUndefined();
  expect(receipt.limits).not.toHaveProperty("maxLines");
});

it.each([1990, 1999, 2000, 2030])("of %i characters comes back as it is with its exit line", async (chars) => {
  const spillway = await make();
  const output = Array.from({ length: 900 }, (_, n) => `${n}`)
    .join("\n")
    .slice(0, chars);
  const admit = (text: string) => spillway.admit({ tool: "bash", exitCode: 137, output: text });
  const { text, receipt } = await admit(output);
  expect(receipt.cutBy).toBe(chars < 2000 ? null : "lines");
  expect((await admit(text)).text).toBe(text);
  const chunks = new Blob([text]).stream();
  expect((await spillway.admit({ tool: "bash", exitCode: 137, output: chunks })).text).toBe(text);
});

it("a limit on lines that a caller sets holds for any output", async () => {
  const spillway = await make();
  const { receipt } = await spillway.admit({ tool: "bash", output: short, limits: { maxLines: 200 } });
  expect(receipt).toMatchObject({ cutBy: "lines", limits: { maxLines: 200 } });
  expect(receipt.shown.lines).toBeLessThanOrEqual(200);
  expect(receipt.shown.chars).toBeLessThanOrEqual(short.length);
});

it("from 2,000 characters on its lines count", async () => {
  const spillway = await make();
  const output = Array.from({ length: 205 }, (_, n) => `line ${n + 1000}`).join("\n");
  expect(output.length).toBeGreaterThanOrEqual(2000);
  expect((await spillway.admit({ tool: "bash", output })).receipt.cutBy).toBe("lines");
});

it("a limit on lines that does not apply does not change what is shown", async () => {
  const spillway = await createSpillway({ env: {}, store: null, ledger: null });
  // The 150 lines of a command's output are fewer than it has, but it is short: only its bytes are too many.
  const output = Array.from({ length: 300 }, (_, n) => "мир".repeat(n % 3)).join("\n");
  expect(output.length).toBeLessThan(2000);
  for (const strategy of ["auto", "signal", "head-tail", "outline"]) {
    const request = { tool: "bash", strategy, fold: false, exitCode: 0 };
    const { text, receipt } = await spillway.admit({ ...request, output, limits: { maxBytes: 2000 } });
    expect(receipt.limits).toEqual({ maxBytes: 2000, maxChars: 20_000 });
    expect(text).toBe(clampText(output, receipt.limits, request).text);
  }
});

it.each([
  ["a tag in our lines", `[exit code 0]\n${"lorem\n\n\n".repeat(10)}`, { maxLines: 19 }, "head", 1],
  ["a line for exit code 0", "- name: never\n".repeat(201), { maxLines: 200 }, "tail", 0],
])("is never longer than what came for %s", (_, output, limits, strategy, exitCode) => {
  const { text, receipt } = clampText(output, limits, { strategy, exitCode });
  expect(receipt.omitted.bytes).toBeGreaterThan(0);
  expect(text.length).toBeLessThanOrEqual(output.length + (exitCode === 0 ? 0 : `[exit code ${exitCode}]`.length));
});
