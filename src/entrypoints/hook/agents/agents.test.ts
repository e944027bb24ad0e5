import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSpillway } from "../../../index.ts";
import { memoryStore } from "../../../storage/stores/memory.ts";
import { clampResult } from "../clamp-result.ts";
import { wrapCommand } from "../wrap-command.ts";
import { AGENT_NAMES, loadAgent } from "./index.ts";

const spillway = await createSpillway({ store: memoryStore(), ledger: null, env: {}, reader: { by: "shell" } });
const lines = Array.from({ length: 6000 }, (_, i) => `step ${i + 1} of the build took ${(i * 7919) % 1000} ms`);
lines[3999] = "ERROR: the linker found no symbol frobnicate";
const whole = lines.join("\n");
const MAX_CHARS = 20_000;

const folder = mkdtempSync(join(tmpdir(), "spillway-agents-"));
const made: string[] = [folder];
const { QWEN_HOME } = process.env;
beforeAll(() => {
  process.env.QWEN_HOME = join(folder, ".qwen");
});
afterAll(() => {
  for (const path of made) rmSync(path, { recursive: true, force: true });
  if (QWEN_HOME === undefined) delete process.env.QWEN_HOME;
  else process.env.QWEN_HOME = QWEN_HOME;
});

/** Writes a file that is newer than the call, however long the test takes until it tells of the call. */
function file(path: string, text = whole): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  utimesSync(path, new Date(), new Date(Date.now() + 3_600_000));
  made.push(path);
  return path;
}

async function answer(agent: string, event: object, by = spillway): Promise<Record<string, unknown> | null> {
  const asked = (await loadAgent(agent)).readEvent(event);
  if (asked === null) return null;
  if (asked.kind === "command") throw new Error("a result was expected");
  const given = (await clampResult(by, asked)) as Record<string, unknown> | null;
  if (given !== null) answered.add(agent);
  return given;
}

/** The agents of which an event was answered. */
const answered = new Set<string>();

/** The answer has the error, its text is within the limits, and says how large the whole was. */
function expectWhole(text: unknown, maxChars = MAX_CHARS): void {
  expect(text).toContain("ERROR: the linker found no symbol frobnicate");
  expect(String(text).length).toBeLessThanOrEqual(maxChars);
  expect(text).toMatch(/spillway recall [a-z2-7]{12} /);
}

function firstText(content: unknown): string {
  return (content as [{ text: string }])[0].text;
}

const hex = (count: number) => "0123456789abcdef".repeat(8).slice(0, count);
const copilotPath = (tail = hex(32)) => join(tmpdir(), `1794964864565-copilot-tool-output-${tail}.txt`);
const copilotText = (path: string, preview = whole.slice(0, 500)) =>
  `Output too large to read at once (285.4 KB). Saved to: ${path}\nConsider using tools like grep\n\nPreview (first 500 chars):\n${preview}`;
const copilotEvent = (text: string) => ({
  sessionId: "s",
  timestamp: Date.now(),
  cwd: "/p",
  toolName: "bash",
  toolArgs: { command: "make" },
  toolResult: { resultType: "success", textResultForLlm: text },
});
const piText = (path: string) =>
  `${whole.slice(-51_000)}\n\n[Showing lines 4954-6000 of 6000 (50.0KB limit). Full output: ${path}]`;
const piEvent = (text: string, details: object, startedMs: unknown = Date.now()) => ({
  toolName: "bash",
  toolCallId: "c",
  input: { command: "make" },
  content: [{ type: "text", text }],
  details,
  startedMs,
});
const qwenPath = () => join(folder, ".qwen", "tmp", hex(64), `run_shell_command_${hex(12)}.output`);
const qwenText = (path: string) =>
  `Tool output was too large and has been truncated.\nThe full output has been saved to: ${path}\nTo read it\n\nTruncated part of the output:\n${whole.slice(0, 800)}...\n\n---\n... [CONTENT TRUNCATED] ...\n---\n\n...${whole.slice(-3000)}`;
const now = () => new Date().toISOString();

test.each([
  ["claude-code", { hook_event_name: "PostToolUse", tool_use_id: "c", tool_response: "said" }, "c"],
  ["codex", { hook_event_name: "PostToolUse", tool_use_id: "c", tool_response: { content: "said" } }, "c"],
  ["gemini", { hook_event_name: "AfterTool", tool_response: { llmContent: "said" } }, undefined],
  ["qwen", { hook_event_name: "PostToolUse", tool_call_id: "c", tool_response: { llmContent: "said" } }, "c"],
])("%s: a call is recorded with its tool, its session, its arguments and its folder", async (name, event, call) => {
  const { readEvent } = await loadAgent(name);
  const named = { tool_name: "mcp__a__b", session_id: "s", tool_input: { q: 1 }, cwd: "/p", transcript_path: "/t" };
  const made = { args: { q: 1 }, folder: "/p" };
  const about = { kind: "result", response: "said", call, made, session: "s", transcript: "/t" };
  expect(readEvent({ ...event, ...named })).toMatchObject({ ...about, tool: "mcp__a__b" });
  expect(readEvent({ ...event, ...named, tool_name: "" })).toMatchObject({ ...about, tool: "tool" });
});

describe("a result of which the model should see less, in the only form that the agent takes", () => {
  test("Claude Code: an MCP result that it wrote to a file of the session", async () => {
    const transcript_path = join(folder, "projects/p/s1.jsonl");
    const path = file(join(folder, "projects/p/s1/tool-results/mcp-a-b-1794967843208.txt"));
    const event = (tool_response: string, more: object = {}) => ({
      hook_event_name: "PostToolUse",
      tool_name: "mcp__a__b",
      transcript_path,
      duration_ms: 9,
      tool_response,
      ...more,
    });
    const said = (saved: string, chars = whole.length) =>
      `Error: result (${chars.toLocaleString("en")} characters across 6,000 lines) exceeds maximum allowed tokens. Output has been saved to ${saved}.\nFormat: Plain text\n`;
    const shown = (await answer("claude-code", event(said(path)))) as {
      hookSpecificOutput: { updatedToolOutput: string };
    };
    expectWhole(shown.hookSpecificOutput.updatedToolOutput, 51_200);
    const other = file(join(folder, "projects/p/s2/tool-results/mcp-a-b-1794967843208.txt"));
    for (const forged of [said(other), said("/etc/passwd"), said(path, 9), said(path, 1e9), `x\n${said(path)}`])
      expect(await answer("claude-code", event(forged))).toBeNull();
    expect(await answer("claude-code", event(said(path), { transcript_path: 7 }))).toBeNull();
    utimesSync(path, new Date(), new Date(Date.now() - 60_000));
    expect(await answer("claude-code", event(said(path)))).toBeNull();
  });

  test("Codex: MCP results become the reason, with the structured content if it says more", async () => {
    const event = (tool_response: unknown) => ({
      hook_event_name: "PostToolUse",
      tool_name: "mcp__a__b",
      tool_response,
    });
    const content = [{ type: "text", text: whole }];
    for (const response of [
      { content },
      { content, structuredContent: { content: whole } },
      { content, structuredContent: null },
    ]) {
      const { decision, reason } = (await answer("codex", event(response))) ?? {};
      expect(decision).toBe("block");
      expectWhole(reason, 51_200);
      expect(reason).toContain("\nstep 3999 of the build");
    }
    const other = await answer("codex", event({ content, structuredContent: { rows: lines, more: 1 } }));
    expect(other?.reason).toContain('"rows"');
    // Of its shell Codex gives a part without the exit code, which a replaced result would lose.
    expect(await answer("codex", event(whole))).toBeNull();
    const image = { type: "image", data: "x", mimeType: "image/png" };
    expect(await answer("codex", event({ content: [...content, image] }))).toBeNull();
  });

  test("Gemini CLI: the reason says that it is no error", async () => {
    for (const llmContent of [whole, [{ text: whole }]]) {
      const event = { hook_event_name: "AfterTool", tool_name: "run_shell_command", tool_response: { llmContent } };
      const { decision, reason } = (await answer("gemini", event)) ?? {};
      expect(decision).toBe("deny");
      expectWhole(reason);
      expect(reason).toMatch(/^\[This is what the tool gave.*not refused\.\]\n/);
    }
    const inline = [{ text: whole }, { inlineData: { data: "x", mimeType: "image/png" } }];
    expect(await answer("gemini", { hook_event_name: "AfterTool", tool_response: { llmContent: inline } })).toBeNull();
  });

  test("Qwen Code: a success is replaced, a failure gets more, both from the file that it kept", async () => {
    const text = qwenText(file(qwenPath()));
    const about = { tool_name: "run_shell_command", tool_input: { command: "make" }, timestamp: now(), duration_ms: 9 };
    const done = await answer("qwen", {
      ...about,
      hook_event_name: "PostToolUse",
      tool_response: { llmContent: text },
    });
    expect(done?.continue).toBe(false);
    expectWhole(done?.stopReason);
    const failed = await answer("qwen", { ...about, hook_event_name: "PostToolUseFailure", error: text });
    const { additionalContext } = (failed?.hookSpecificOutput ?? {}) as { additionalContext?: string };
    expectWhole(additionalContext, MAX_CHARS - text.length);
    expect(await answer("qwen", { ...about, hook_event_name: "PostToolUseFailure", error: "no" })).toBeNull();
  });

  test("opencode: the file that a field names, with the exit code; MCP results are blocks", async () => {
    const outputPath = file(join(folder, "opencode/tool-output/tool_0a1B"));
    const output = `...output truncated...\n\nFull output saved to: ${outputPath}\n\n${whole.slice(-51_200)}`;
    const input = { tool: "bash", sessionID: "s", callID: "c", args: { command: "make" } };
    const shell = await answer("opencode", { input, output: { output, metadata: { exit: 3, outputPath } } });
    expectWhole(shell?.output);
    expect(shell?.output).toMatch(/\[exit code 3\]$/);
    const mcp = await answer("opencode", { input, output: { content: [{ type: "text", text: whole }] } });
    expectWhole(firstText(mcp?.content));
  });

  test("pi: the file that a field names, or the text of a failure", async () => {
    const startedMs = Date.now();
    const path = file(join(tmpdir(), `pi-bash-${hex(16)}.log`));
    const textOf = (shown: Record<string, unknown> | null) => firstText(shown?.content);
    expectWhole(textOf(await answer("pi", piEvent(piText(path), { fullOutputPath: path }, startedMs))));
    const said = `${piText(path)}\n\nCommand exited with code 3`;
    const failed = textOf(await answer("pi", piEvent(said, {}, startedMs)));
    expectWhole(failed);
    expect(failed).toMatch(/\n\nCommand exited with code 3$/);
  });

  test("Copilot CLI: the file that its text names, with the line of its shell", async () => {
    const text = `${copilotText(file(copilotPath()))}\n<shellId: 0 completed with exit code 3>`;
    const { modifiedResult } = (await answer("copilot", copilotEvent(text))) as {
      modifiedResult: { resultType: string; textResultForLlm: string };
    };
    expect(modifiedResult.resultType).toBe("success");
    expectWhole(modifiedResult.textResultForLlm);
    expect(modifiedResult.textResultForLlm).toMatch(/\n<shellId: 0 completed with exit code 3>$/);
  });

  test("Cursor: MCP results only", async () => {
    const event = {
      hook_event_name: "postToolUse",
      tool_output: JSON.stringify({ content: [{ type: "text", text: whole }] }),
    };
    const shown = (await answer("cursor", { ...event, tool_name: "MCP:give" })) as {
      updated_mcp_tool_output: { content: [{ text: string }] };
    };
    expectWhole(shown.updated_mcp_tool_output.content[0].text, 51_200);
    expect(await answer("cursor", { ...event, tool_name: "Shell" })).toBeNull();
  });
});

describe("a path that a text names is not read unless the agent itself wrote the file for this call", () => {
  const secret = () => file(join(folder, "secret"), whole);
  const isUnread = async (agent: string, event: object) =>
    expect(JSON.stringify((await answer(agent, event)) ?? "")).not.toContain("frobnicate");

  test("another name or another folder, though the file holds what is shown", async () => {
    for (const path of [
      "/etc/passwd",
      secret(),
      file(join(folder, `pi-bash-${hex(16)}.log`)),
      file(join(folder, basename(copilotPath()))),
    ]) {
      await isUnread("copilot", copilotEvent(copilotText(path)));
      await isUnread("pi", piEvent(piText(path), {}));
      await isUnread("qwen", { hook_event_name: "PostToolUseFailure", error: qwenText(path), timestamp: now() });
    }
    for (const path of [`${join(tmpdir(), "x")}/../pi-bash-${hex(16)}.log`, "", "\0"]) {
      await isUnread("pi", piEvent(piText(path), {}));
      await isUnread("copilot", copilotEvent(copilotText(path)));
    }
  });

  test("a field of another tool than the shell, or of a file that the agent does not keep outputs in", async () => {
    const saved = file(join(folder, "opencode/tool-output/tool_0a1C"));
    const opencode = (tool: string, outputPath: string) => ({
      input: { tool, sessionID: "s", callID: "c" },
      output: { output: `Full output saved to: ${outputPath}\n\n${whole.slice(-51_200)}`, metadata: { outputPath } },
    });
    expect(JSON.stringify(await answer("opencode", opencode("bash", saved)))).toContain("frobnicate");
    await isUnread("opencode", opencode("evil_x", saved));
    await isUnread("opencode", opencode("bash", secret()));
    const log = file(join(tmpdir(), `pi-bash-${hex(14)}00.log`));
    const pi = (toolName: string, fullOutputPath: string) => ({
      ...piEvent(piText(fullOutputPath), { fullOutputPath }),
      toolName,
    });
    expect(JSON.stringify(await answer("pi", pi("bash", log)))).toContain("frobnicate");
    await isUnread("pi", pi("other", log));
    await isUnread("pi", pi("bash", secret()));
    const claude = (tool_name: string, stdout: string) => ({
      hook_event_name: "PostToolUse",
      tool_name,
      tool_response: { stdout, persistedOutputPath: secret() },
    });
    expect(JSON.stringify(await answer("claude-code", claude("Bash", whole.slice(0, 30_000))))).toContain("frobnicate");
    await isUnread("claude-code", claude("mcp__evil__x", whole.slice(0, 60_000)));
    for (const stdout of ["s", "step 1 of", whole.slice(0, 399)]) await isUnread("claude-code", claude("Bash", stdout));
  });

  test("a file that is older than the call, a link, and one that holds something else", async () => {
    const old = file(copilotPath(hex(33)));
    utimesSync(old, new Date(), new Date(Date.now() - 600_000));
    await isUnread("copilot", copilotEvent(copilotText(old)));
    const link = copilotPath(hex(34));
    rmSync(link, { force: true });
    symlinkSync(secret(), link);
    made.push(link);
    await isUnread("copilot", copilotEvent(copilotText(link)));
    const other = file(copilotPath(hex(35)), `another beginning\n${whole}\nand end`);
    await isUnread("copilot", copilotEvent(copilotText(other)));
    await isUnread("copilot", copilotEvent(copilotText(file(copilotPath(hex(36))), "step 1")));
    const log = file(join(tmpdir(), `pi-bash-${hex(15)}0.log`));
    utimesSync(log, new Date(), new Date(Date.now() - 60_000));
    await isUnread("pi", piEvent(piText(log), {}));
    await isUnread("pi", piEvent(piText(log), {}, "no time"));
  });

  test("a command that prints an agent's own words", async () => {
    const path = file(copilotPath(hex(37)));
    await isUnread("copilot", copilotEvent(`hello\n${copilotText(path)}`));
    await isUnread("gemini", { hook_event_name: "AfterTool", tool_response: { llmContent: copilotText(path) } });
    await isUnread("qwen", {
      hook_event_name: "PostToolUse",
      timestamp: now(),
      tool_response: { llmContent: `Command: cat x\nOutput: ${qwenText(file(qwenPath()))}` },
    });
    await isUnread("opencode", {
      input: {},
      output: { output: `Full output saved to: ${secret()}\n\nstep 1`, metadata: {} },
    });
  });
});

describe("Codex wraps a command only where it would ask nobody and no rule could say no", () => {
  const { CODEX_HOME } = process.env;
  const home = join(folder, "codex-home");
  beforeAll(() => {
    process.env.CODEX_HOME = home;
  });
  afterAll(() => {
    if (CODEX_HOME === undefined) delete process.env.CODEX_HOME;
    else process.env.CODEX_HOME = CODEX_HOME;
  });
  const wrapped = async (command: unknown, more: object = {}) => {
    const event = {
      hook_event_name: "PreToolUse",
      permission_mode: "bypassPermissions",
      tool_name: "Bash",
      tool_input: { command, workdir: "x" },
      cwd: folder,
      ...more,
    };
    const asked = (await loadAgent("codex")).readEvent(event);
    return asked?.kind === "command" ? ((await wrapCommand(asked)) as { hookSpecificOutput: object } | null) : null;
  };

  test("then the answer has the whole input and says allow, without which Codex does not take it", async () => {
    expect((await wrapped("npm test"))?.hookSpecificOutput).toMatchObject({
      permissionDecision: "allow",
      updatedInput: { workdir: "x", command: expect.stringContaining("spillway run") },
    });
  });

  test("another mode, another tool, and what Codex refuses by itself stay as they are", async () => {
    for (const permission_mode of ["default", "plan", "acceptEdits", undefined, 7])
      expect(await wrapped("npm test", { permission_mode })).toBeNull();
    expect(await wrapped("npm test", { tool_name: "apply_patch" })).toBeNull();
    for (const command of ["rm -rf /", "sudo x", "git reset --hard", "cd x", "spillway ls", 7])
      expect(await wrapped(command)).toBeNull();
  });

  test("a rule that forbids or prompts, of the user or of a folder above, keeps every command as it is", async () => {
    const allow = file(join(home, "rules", "default.rules"), 'prefix_rule(pattern = ["npm"], decision = "allow")\n');
    expect(await wrapped("npm test")).not.toBeNull();
    writeFileSync(allow, 'prefix_rule(pattern = ["npm"], decision = "forbidden")\n');
    expect(await wrapped("npm test")).toBeNull();
    rmSync(allow);
    file(join(folder, ".codex", "rules", "a.rules"), 'prefix_rule(pattern = ["x"], decision = "prompt")\n');
    expect(await wrapped("npm test", { cwd: join(folder, "a/b") })).toBeNull();
    rmSync(join(folder, ".codex"), { recursive: true });
  });
});

test("what the model gets beside an output counts against its limits", async () => {
  const maxChars = 10_000;
  const policy = { default: { limits: { maxChars } }, force: { limits: { maxChars } } };
  const small = await createSpillway({ store: memoryStore(), ledger: null, env: {}, policy });
  const dense = Array.from(
    { length: 900 },
    (_, i) => `error ${(i * 2_654_435_761) % 4_294_967_296} in ${Math.sin(i)}`,
  ).join("\n");
  const about = { tool_name: "read_it", timestamp: now() };
  const event = { ...about, hook_event_name: "AfterTool", tool_response: { llmContent: dense } };
  const { reason } = (await answer("gemini", event, small)) ?? {};
  expect(String(reason).length).toBeGreaterThan(maxChars - 500);
  expect(String(reason).length).toBeLessThanOrEqual(maxChars);
  const error = qwenText(file(qwenPath(), dense)).replace(whole.slice(-3000), dense.slice(-3000));
  const failed = await answer("qwen", { ...about, hook_event_name: "PostToolUseFailure", error }, small);
  const { additionalContext = "" } = (failed?.hookSpecificOutput ?? {}) as { additionalContext?: string };
  expect(additionalContext.length).toBeGreaterThan(maxChars - error.length - 500);
  expect(additionalContext.length + error.length).toBeLessThanOrEqual(maxChars);
});

test.each(AGENT_NAMES)("%s: no event makes the hook fail, whatever is in it", async (name) => {
  const agent = await loadAgent(name);
  const events = ["PostToolUse", "PostToolUseFailure", "PreToolUse", "AfterTool", "postToolUse", "Stop"];
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(whole, qwenText("/etc/passwd"), copilotText("/etc/passwd"), piText("/x")),
  );
  const fields = [
    "tool_name",
    "tool_input",
    "tool_response",
    "tool_output",
    "error",
    "input",
    "output",
    "content",
    "details",
    "toolName",
    "toolResult",
    "timestamp",
    "startedMs",
    "session_id",
  ];
  const event = fc.record(Object.fromEntries(fields.map((field) => [field, value])), { requiredKeys: [] });
  const shaped = fc.tuple(fc.constantFrom(...events), event, fc.boolean()).map(([hook_event_name, rest, isDeep]) => ({
    hook_event_name,
    permission_mode: "bypassPermissions",
    ...rest,
    ...(isDeep && {
      tool_response: { llmContent: rest.tool_response, content: rest.content, stdout: rest.error },
      toolResult: { textResultForLlm: rest.toolResult },
      output: { output: rest.output, metadata: rest.details, content: rest.content },
      content: [{ type: "text", text: rest.content }],
      tool_input: { command: rest.tool_input },
    }),
  }));
  await fc.assert(
    fc.asyncProperty(shaped, async (asked) => {
      const before = JSON.stringify(asked);
      const read = agent.readEvent(asked);
      if (read?.kind === "result") await clampResult(spillway, read);
      expect(JSON.stringify(asked)).toBe(before);
    }),
    { numRuns: 60 },
  );
});

test("every agent has an event in this file that is answered, and a row in the guide", () => {
  expect([...answered].toSorted()).toEqual(AGENT_NAMES.toSorted());
  const guide = readFileSync(new URL("../../../../docs/guide/agents.md", import.meta.url), "utf8");
  for (const name of AGENT_NAMES) expect(guide).toMatch(new RegExp(`^\\|[^|]*\\| \`spillway init ${name}\` \\|`, "m"));
});
