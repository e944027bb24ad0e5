import fc from "fast-check";
import { expect, test } from "vitest";
import { createSpillway } from "../../index.ts";
import { memoryStore } from "../../storage/stores/memory.ts";
import { answerPostToolUse } from "./post-tool-use.ts";

const spillway = await createSpillway({ store: memoryStore(), ledger: null, env: {}, reader: { by: "shell" } });
const log = Array.from({ length: 4000 }, (_, i) => `line ${i + 1}`).join("\n");
const after = (tool_name: string, tool_response: unknown) =>
  answerPostToolUse(spillway, { session_id: "s", tool_use_id: "t", tool_name, tool_response }) as Promise<{
    hookSpecificOutput: { hookEventName: string; updatedToolOutput: Record<string, never> };
  } | null>;

test("leaves a result within its limits alone", async () => {
  expect(await after("Bash", { stdout: "ok\n", stderr: "", interrupted: false })).toBeNull();
  expect(await after("mcp__x__y", [{ type: "text", text: "ok" }])).toBeNull();
  expect(await after("Bash", null)).toBeNull();
  expect(await after("Bash", { stdout: log, isImage: true })).toBeNull();
});

test("answers in the tool's own shape, other fields as they were", async () => {
  const bash = { stdout: log, stderr: "a warning\n", interrupted: false, gitOperation: { push: { branch: "main" } } };
  const { hookEventName, updatedToolOutput } = (await after("Bash", bash))?.hookSpecificOutput ?? {};
  expect(hookEventName).toBe("PostToolUse");
  const { stdout, ...rest } = updatedToolOutput as unknown as typeof bash;
  expect(stdout.length).toBeLessThanOrEqual(20_000);
  expect(stdout).toMatch(/spillway recall [a-z2-7]{12} --lines/);
  expect({ ...rest, stdout: log }).toEqual(bash);
  const read = {
    type: "text",
    file: { filePath: "/a.txt", content: log, numLines: 4000, startLine: 1, totalLines: 4000 },
  };
  const updated = (await after("Read", read))?.hookSpecificOutput.updatedToolOutput as unknown as typeof read;
  expect(updated.file.content.split("\n").length).toBeLessThanOrEqual(500);
  expect({ ...updated, file: { ...updated.file, content: log } }).toEqual(read);
});

test("clamps what MCP tools give: texts and blocks", async () => {
  const text = (await after("mcp__a__b", log.repeat(9)))?.hookSpecificOutput.updatedToolOutput as unknown as string;
  expect(typeof text).toBe("string");
  const image = { type: "image", data: "x".repeat(99_999), mimeType: "image/png" };
  const blocks = (await after("mcp__a__b", [{ type: "text", text: log.repeat(9) }, image]))?.hookSpecificOutput
    .updatedToolOutput as unknown as [{ text: string }, object];
  expect(blocks[0].text.length).toBeLessThanOrEqual(51_200);
  expect(blocks[1]).toEqual(image);
});

test("never throws and never mutates, whatever comes in", async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (response) => {
      const before = JSON.stringify(response);
      await after("Bash", response);
      expect(JSON.stringify(response)).toBe(before);
    }),
    { numRuns: 50 },
  );
});
