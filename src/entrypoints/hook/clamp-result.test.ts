import { execFileSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { createSpillway } from "../../index.ts";
import { memoryStore } from "../../storage/stores/memory.ts";
import type { ToolResult } from "./agent.ts";
import { claudeCode } from "./agents/claude-code.ts";
import { clampResult, fitOf } from "./clamp-result.ts";

const spillway = await createSpillway({ store: memoryStore(), ledger: null, env: {}, reader: { by: "shell" } });
const log = Array.from({ length: 4000 }, (_, i) => `line ${i + 1}`).join("\n");
const resultOf = (event: object) => claudeCode.readEvent({ hook_event_name: "PostToolUse", ...event }) as ToolResult;
const after = (tool_name: string, tool_response: unknown) =>
  clampResult(spillway, resultOf({ session_id: "s", tool_use_id: "t", tool_name, tool_response })) as Promise<{
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

test("lines of a file keep the numbers that the agent gives them", async () => {
  const content = Array.from({ length: 3000 }, (_, i) => `${i % 5 === 0 ? "again" : `line ${i + 1}`}\n`).join("");
  const read = { type: "text", file: { filePath: "/a.txt", content, numLines: 3000, startLine: 1, totalLines: 3000 } };
  const updated = (await after("Read", read))?.hookSpecificOutput.updatedToolOutput as unknown as typeof read;
  const shown = updated.file.content.split("\n").filter((line) => line !== "" && !line.startsWith("["));
  expect(shown.length).toBeGreaterThan(400);
  expect(shown).toEqual(content.split("\n").slice(0, shown.length));
  expect(updated.file.content.startsWith(content.slice(0, 1000))).toBe(true);
});

test("what is cut is short enough for Claude Code to show it whole; what is within our limits is left to it", async () => {
  const lines = Array.from({ length: 1500 }, (_, i) => JSON.stringify({ at: i, path: "C:\\new", says: 'a "b"' }));
  const texts = async (tool: string, response: unknown) =>
    (await after(tool, response))?.hookSpecificOutput.updatedToolOutput as unknown as string;
  const long = lines.join("\n").padEnd(70_000, "x");
  const cut = await texts("mcp__a__b", long);
  expect(cut).toContain("spillway recall");
  expect(cut.length).toBeLessThanOrEqual(50_000);
  expect(cut.length).toBeGreaterThan(45_000);
  expect(await texts("mcp__a__b", long.slice(0, 51_000))).toBeUndefined();
  const found = (await texts("Grep", { mode: "content", content: long })) as unknown as { content: string };
  expect(found.content.length).toBeLessThanOrEqual(20_000);
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

test("results with 10,000 blocks and lists of 10,000 names are bounded, in their shape", async () => {
  const blocks = Array.from({ length: 10_000 }, (_, i) => ({
    type: "text",
    text: `block ${i} with a few words in it`,
  }));
  for (const response of [blocks, { content: blocks, isError: false }]) {
    const updated = (await after("mcp__a__b", response))?.hookSpecificOutput.updatedToolOutput;
    expect(Array.isArray(updated)).toBe(Array.isArray(response));
    expect(JSON.stringify(updated).length).toBeLessThanOrEqual(60_000);
  }
  const filenames = Array.from({ length: 10_000 }, (_, i) => `/home/user/project/src/file-${i}.ts`);
  const glob = { filenames, numFiles: 10_000, truncated: false, durationMs: 5 };
  const updated = (await after("Glob", glob))?.hookSpecificOutput.updatedToolOutput as unknown as typeof glob;
  expect(updated.filenames.join("\n").length).toBeLessThanOrEqual(30_000);
  expect(updated.filenames).toContain("/home/user/project/src/file-0.ts");
  expect(updated.filenames).not.toContain("");
  expect({ ...updated, filenames }).toEqual(glob);
});

describe("an output that the agent wrote to a file, with its first 30,000 characters in the response", () => {
  const folder = mkdtempSync(join(tmpdir(), "spillway-hook-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const lines = Array.from({ length: 6000 }, (_, i) => `step ${i + 1} of the build took ${(i * 7919) % 1000} ms`);
  lines[3999] = "ERROR: the linker found no symbol frobnicate";
  const whole = `${lines.join("\n")}\n`;
  const part = whole.slice(0, 30_000);
  const fileOf = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const bash = (path: string, shown = part) => ({
    stdout: shown,
    stderr: "",
    interrupted: false,
    persistedOutputPath: path,
    persistedOutputSize: whole.length,
  });
  const shownOf = async (response: object) =>
    (await after("Bash", response))?.hookSpecificOutput.updatedToolOutput as unknown as ReturnType<typeof bash>;

  test("is clamped and kept whole", async () => {
    const { stdout, ...rest } = await shownOf(bash(fileOf("whole.txt", whole)));
    expect(rest).toEqual({ stderr: "", interrupted: false });
    expect(stdout.length).toBeLessThanOrEqual(20_000);
    expect(stdout).toContain("ERROR: the linker found no symbol frobnicate");
    expect(stdout).toContain(`of ${whole.length.toLocaleString("en")} bytes shown`);
    const [, id = ""] = /spillway recall ([a-z2-7]{12}) /.exec(stdout) ?? [];
    expect((await spillway.store?.find(id, "local"))?.bytes).toBe(whole.length);
  });

  test("is read if the response has its end, and shares the limits with the other texts", async () => {
    const response = {
      ...bash(fileOf("end.txt", whole), whole.slice(-30_000).trim()),
      stderr: "warning\n".repeat(3000),
    };
    const { stdout, stderr } = await shownOf(response);
    expect(stdout.length + stderr.length).toBeLessThanOrEqual(20_000);
    expect(stdout).toContain("frobnicate");
  });

  test("is left unread if the file is not surely the output's", async () => {
    const other = fileOf("other.txt", `something else\n${whole}and more\n`);
    const link = join(folder, "link.txt");
    symlinkSync(fileOf("target.txt", whole), link);
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    for (const path of [other, link, pipe, folder, "/dev/zero", join(folder, "none"), "", "\0"]) {
      const { stdout } = await shownOf(bash(path));
      expect(stdout, path).toContain("of 30,000 bytes shown");
    }
    expect((await shownOf(bash(other, "  "))) ?? null).toBeNull();
  });

  test.runIf(process.getuid?.() === 0)(
    "is left unread if it is another user's (only the superuser can try it)",
    async () => {
      const path = fileOf("theirs.txt", whole);
      chownSync(path, 12_345, 12_345);
      expect((await shownOf(bash(path))).stdout).toContain("of 30,000 bytes shown");
    },
  );

  test("is the file that was looked at, though another stands in its place by then", async () => {
    const path = fileOf("swapped.txt", whole);
    const secret = fileOf("secret.txt", "top secret");
    const admit: typeof spillway.admit = (request) => {
      rmSync(path, { force: true });
      symlinkSync(secret, path);
      return spillway.admit(request);
    };
    const shown = JSON.stringify(
      await clampResult({ ...spillway, admit }, resultOf({ tool_name: "Bash", tool_response: bash(path) })),
    );
    expect(shown).toContain("frobnicate");
    expect(shown).not.toContain("top secret");
  });
});

test("keeps what the conversation is about, as the end of its file tells", async () => {
  const kept = mkdtempSync(join(tmpdir(), "spillway-hook-"));
  onTestFinished(() => rmSync(kept, { recursive: true }));
  const lines = Array.from({ length: 4000 }, (_, n) => `INFO worker ${n % 7} handled customer acme-${4000 + n}`);
  const shownWith = async (text: string | null) => {
    const transcript_path = join(kept, "conversation.jsonl");
    if (text === null) rmSync(transcript_path, { force: true });
    else writeFileSync(transcript_path, text);
    const event = { tool_name: "Bash", tool_response: { stdout: lines.join("\n") }, transcript_path };
    return JSON.stringify(await clampResult(spillway, resultOf(event)));
  };
  const said = (content: unknown) => JSON.stringify({ type: "user", message: { role: "user", content } });
  const padding = said([{ type: "tool_result", content: "x".repeat(300_000) }]);
  for (const conversation of [
    `${said("Where is acme-6000?")}\n${padding}\n`,
    `cut off"}\n${said([{ type: "text", text: "Where is acme-6000?" }])}\n`,
    JSON.stringify({ messages: [{ type: "user", content: "Where is acme-6000?" }] }, null, 2),
  ])
    expect(await shownWith(conversation)).toContain("acme-6000");
  for (const conversation of [
    null,
    "",
    "no JSON",
    `${said("Where is acme-6000?")}\n${padding}\n${padding}\n`,
    "[1]\nnull\n",
  ])
    expect(await shownWith(conversation)).not.toContain("acme-6000");
});

test("what is told from sizes alone is what a clamp would tell", async () => {
  const small = { maxChars: 400, maxLines: 12 };
  const policy = { default: { limits: small }, force: { limits: small } };
  const bounded = await createSpillway({ store: null, ledger: null, env: {}, policy });
  const word = fc.constantFrom(
    "\n",
    "a line\n",
    "word ",
    "\r\n",
    "\u00e9\u4e16",
    "\0",
    "\ud800",
    "%PDF-",
    "x".repeat(90),
  );
  const text = fc.array(word, { maxLength: 30 }).map((words) => words.join(""));
  const response = fc.oneof(
    text,
    fc.array(text, { maxLength: 4 }),
    fc.record({ stdout: text, stderr: text }),
    fc.array(fc.record({ type: fc.constant("text"), text }), { maxLength: 4 }),
  );
  await fc.assert(
    fc.asyncProperty(response, async (tool_response) => {
      const result = resultOf({ tool_name: "Bash", tool_response });
      const fit = fitOf(bounded, result);
      const answer = await clampResult(bounded, result);
      if (fit !== "unsure") expect(answer === null).toBe(fit === "within");
    }),
    { numRuns: 300 },
  );
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
