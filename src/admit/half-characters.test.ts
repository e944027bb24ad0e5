import { expect, test } from "vitest";
import { createSpillway } from "../index.ts";
import { memoryStore } from "../storage/stores/memory.ts";
import { clampText } from "./clamp-text.ts";

const spillway = await createSpillway({ store: memoryStore(), ledger: null, env: {} });
const HALF = "a\ud800b\udc00c";
const LONG = `${HALF}\n`.repeat(60_000);

test.each([
  ["a text within its limits", HALF, "2 lone surrogates in the text became U+FFFD"],
  ["a text that is cut", LONG, "120,000 lone surrogates in the text became U+FFFD"],
  ["a block", { content: [{ type: "text", text: HALF }] }, "2 lone surrogates in the text became U+FFFD"],
  [
    "a block that is cut",
    { content: [{ type: "text", text: LONG }] },
    "120,000 lone surrogates in the text became U+FFFD",
  ],
])("the receipt of %s says that half a character cannot be kept", async (_name, output, fault) => {
  const { text, receipt } = await spillway.admit({ tool: "bash", output });
  expect(text).toContain("a\ufffdb\ufffdc");
  expect(receipt.faults).toEqual([fault]);
});

test("whole characters are no fault", async () => {
  const { text, receipt } = await spillway.admit({ tool: "bash", output: "\u{1f600} \ufffd" });
  expect(text).toBe("\u{1f600} \ufffd");
  expect(receipt.faults).toBeUndefined();
});

test("a clamp without a store says it too", () => {
  expect(clampText(HALF, { maxChars: 100 }).receipt.faults).toEqual(["2 lone surrogates in the text became U+FFFD"]);
  expect(clampText(LONG, { maxChars: 100 }).receipt.faults).toHaveLength(1);
});

test("an object that reaches a model as JSON keeps them: JSON spells them out", async () => {
  const { text, output } = await spillway.admit({ tool: "x", output: { value: HALF } });
  expect(text).toBe('{"value":"a\\ud800b\\udc00c"}');
  expect(output).toEqual({ value: HALF });
});
