import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { answerPreToolUse } from "./pre-tool-use.ts";

const before = (tool_input: object, tool_name = "Bash", permission_mode: unknown = "bypassPermissions") =>
  answerPreToolUse({ permission_mode, tool_name, tool_input }, "spillway", () => []) as {
    hookSpecificOutput: { updatedInput: { command: string } };
  } | null;

test("puts a command under spillway run, openly, whatever quotes it has", () => {
  const command = `printf '%s' "it's $HOME"; echo '"'`;
  const wrapped = before({ command, description: "d" })?.hookSpecificOutput.updatedInput;
  expect(wrapped).toMatchObject({ description: "d" });
  const words = wrapped?.command.replace("spillway run --quiet --tool Bash --", "exec") ?? "";
  const run = (script: string) => execFileSync("bash", ["-c", script], { encoding: "utf8", timeout: 10_000 });
  expect(run(words)).toBe(run(command));
});

test("leaves alone what is no shell command, runs in the background, or is ours already", () => {
  expect(before({ command: "npm test", run_in_background: true })).toBeNull();
  expect(before({ command: "spillway recall abc" })).toBeNull();
  expect(before({ file_path: "x" }, "Read")).toBeNull();
  expect(before({ command: 7 })).toBeNull();
});

test("leaves every command alone where the agent decides by what a command says, and never grants one itself", () => {
  for (const mode of ["default", "acceptEdits", "plan", "auto", "dontAsk", "", undefined, 7])
    expect([mode, answerPreToolUse({ permission_mode: mode, ...bash("npm test") }, "spillway", () => [])]).toEqual([
      mode,
      null,
    ]);
  const answer = answerPreToolUse({ permission_mode: "bypassPermissions", ...bash("npm test") }, "spillway", () => []);
  expect(JSON.stringify(answer)).toContain("spillway run");
  expect(JSON.stringify(answer)).not.toContain("permissionDecision");
});

test("a rule about what is added counts as one about the command", () => {
  for (const rule of ["Bash(spillway:*)", "Bash(spillway run:*)", "Bash(bash -c:*)"])
    expect(
      answerPreToolUse({ permission_mode: "bypassPermissions", ...bash("npm test") }, "spillway", () => [rule]),
    ).toBeNull();
});

function bash(command: string) {
  return { tool_name: "Bash", tool_input: { command } };
}
