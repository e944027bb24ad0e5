import fc from "fast-check";
import { expect, test } from "vitest";
import { createSpillway } from "../index.ts";
import { memoryStore } from "../storage/stores/memory.ts";

const KEY = `AKIA${"QWERTYUIOPASDFGH"}`;
const lines = Array.from(
  { length: 5000 },
  (_, index) => `Zeile ${index + 1}: Übung, 世界${index === 2500 ? ` ${KEY}` : ""}`,
);
const text = `${lines.join("\r\n")}\r\n`;
const marked = Buffer.from(`\ufeff${text}`, "utf16le");
const spillway = await createSpillway({ store: memoryStore(), ledger: null, env: {} });

async function* inChunks(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test.each([
  ["with a mark, little end first", marked],
  ["with a mark, big end first", Buffer.from(marked).swap16()],
  ["without a mark", Buffer.from(text, "utf16le")],
])("UTF-16 %s is shown, kept, redacted and found as text, and counted in bytes of the source", async (_name, bytes) => {
  const { text: shown, receipt } = await spillway.admit({ tool: "bash", output: bytes });
  expect(shown).toContain("Zeile 5000: Übung, 世界");
  expect(receipt.binary).toBeUndefined();
  expect(receipt.total).toEqual({ bytes: bytes.length, lines: 5000 });
  const { kept, folded, redacted, omitted } = receipt;
  for (const unit of ["bytes", "lines"] as const)
    expect(kept[unit] + folded[unit] + redacted[unit] + omitted[unit]).toBe(receipt.total[unit]);
  expect(kept.bytes).toBeGreaterThan(0);
  const id = receipt.artifact ?? "";
  expect((await spillway.search(id, { pattern: "Zeile 2501:" })).matches[0]?.text).toContain("[redacted:");
  expect((await spillway.recall(id, { lines: [42, 42] })).text).toBe("Zeile 42: Übung, 世界\r\n");
  const whole = await (await spillway.artifact(id)).text();
  expect(whole).not.toContain(KEY);
  expect(whole.replace(/\[redacted:[^\]]*\]/, KEY)).toBe(text);
});

test("UTF-16 without a mark that begins with Chinese is redacted before it is kept", async () => {
  const wide = `构建在九分钟后失败，因为有两个测试无法连接数据库。\r\n密钥 ${KEY}\r\n`.repeat(2000);
  const { receipt } = await spillway.admit({ tool: "bash", output: Buffer.from(wide, "utf16le") });
  expect(receipt.binary).toBeUndefined();
  const whole = await (await spillway.artifact(receipt.artifact ?? "")).text();
  expect(whole).not.toContain(KEY);
  expect(whole).toContain("构建在九分钟后失败");
});

test("the result does not depend on how UTF-16 was chunked", async () => {
  const whole = await spillway.admit({ tool: "bash", output: marked });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 5000 }), async (size) => {
      const { text: shown, receipt } = await spillway.admit({ tool: "bash", output: inChunks(marked, size) });
      expect({ shown, receipt }).toEqual({ shown: whole.text, receipt: whole.receipt });
    }),
    { numRuns: 8 },
  );
});

test("UTF-16 within its limits is shown as text and comes back as the bytes that it was", async () => {
  const bytes = Buffer.from("\ufeffPS C:\\> Get-ChildItem\r\n", "utf16le");
  const { text: shown, output, receipt } = await spillway.admit({ tool: "bash", output: bytes });
  expect(shown).toBe("PS C:\\> Get-ChildItem\r\n");
  expect(output).toBe(bytes);
  expect(receipt).toMatchObject({ total: { bytes: bytes.length, lines: 1 }, kept: { bytes: bytes.length, lines: 1 } });
});
