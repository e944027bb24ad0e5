import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import type { CommandCall } from "../agent.ts";
import { wrapCommand } from "../wrap-command.ts";
import { claudeCode } from "./claude-code.ts";

const read = (tool_input: object, tool_name = "Bash", permission_mode: unknown = "bypassPermissions") =>
  claudeCode.readEvent({ hook_event_name: "PreToolUse", permission_mode, tool_name, tool_input });
/** The answer where no rule is in force. */
const before = async (tool_input: object) =>
  (await wrapCommand({ ...(read(tool_input) as CommandCall), isRuled: async () => false })) as {
    hookSpecificOutput: { updatedInput: { command: string } };
  } | null;

test("puts a command under spillway run, openly, whatever quotes it has", async () => {
  const command = `printf '%s' "it's $HOME"; echo '"'`;
  const answer = (await before({ command, description: "d" }))?.hookSpecificOutput;
  expect(answer).toMatchObject({
    hookEventName: "PreToolUse",
    updatedInput: { description: "d" },
    additionalContext: expect.stringContaining("spillway run"),
  });
  expect(ran(answer?.updatedInput.command ?? "")).toBe(ran(command));
});

test.each(["bash", "zsh"].filter(hasShell))(
  "functions, aliases and options of %s are known in a wrapped command",
  async (shell) => {
    const start = `rg() { printf 'own rg: %s\\n' "$@"; }\nalias greet='echo hello to'\n${shell === "bash" ? "shopt -s expand_aliases extglob" : ""}`;
    const command = `rg "it's" 'a  b'; greet you; echo "$#"\nexit 3`;
    const wrapped = (await before({ command }))?.hookSpecificOutput.updatedInput.command ?? "";
    const run = (text: string) =>
      ran(
        `${start}\neval ${JSON.stringify(text).replaceAll("$", "\\$").replaceAll("`", "\\`").replaceAll("\\n", "\n")}`,
        shell,
      );
    expect(run(wrapped)).toBe("own rg: it's\nown rg: a  b\nhello to you\n0\n[3]");
    expect(run(wrapped)).toBe(run(command));
  },
);

test("a shell that does not find spillway runs the command as it is", async () => {
  const wrapped = (await before({ command: "echo hi; exit 3" }))?.hookSpecificOutput.updatedInput.command ?? "";
  expect(ran(`unset -f spillway; PATH=/nowhere\n${wrapped}`)).toBe("hi\n[3]");
});

test("with more functions than an argument holds a command runs as it is", async () => {
  const wrapped = (await before({ command: "big | wc -c" }))?.hookSpecificOutput.updatedInput.command ?? "";
  const start = `big() { echo ${"x".repeat(150_000)}; }\nspillway() { echo never; }`;
  expect(ran(`${start}\n${wrapped}`).trim()).toBe("150001\n[0]");
});

test("leaves alone what changes the shell's own folder or variables, wherever it stands", async () => {
  for (const command of [
    "mkdir x && cd x",
    "mkdir x;cd x;",
    "make\n  cd ..",
    "pushd x",
    "ls | cat; popd",
    "export A=1",
    "A=1 B=2 cd x",
    "source env.sh",
    ". ./env.sh",
    "test -d x || . x/env",
    "if [ -d x ]; then cd x; fi",
    "{ cd x; make; }",
    "builtin cd x",
    "make & cd",
  ])
    expect([command, await before({ command })]).toEqual([command, null]);
  for (const command of [
    "(cd x && make)",
    "bash -c 'cd x; make'",
    "find . -name cd",
    "./run; ../run",
    "git -C x export",
    "cd-hit -i x",
    "echo cd",
    "make; ./cd",
  ])
    expect([command, await before({ command })]).not.toEqual([command, null]);
});

test("leaves alone what is no shell command, runs in the background, or is ours already", async () => {
  expect(read({ command: "npm test", run_in_background: true })).toBeNull();
  expect(read({ file_path: "x" }, "Read")).toBeNull();
  expect(read({ command: 7 })).toBeNull();
  for (const command of ["spillway recall abc", " cd src", "", " \n"])
    expect([command, await before({ command })]).toEqual([command, null]);
});

test("leaves every command alone where the agent decides by what a command says, and never grants one itself", async () => {
  for (const mode of ["default", "acceptEdits", "plan", "auto", "dontAsk", "", undefined, 7])
    expect([mode, claudeCode.readEvent({ ...event("npm test"), permission_mode: mode })]).toEqual([mode, null]);
  const answer = JSON.stringify(await before({ command: "npm test" }));
  expect(answer).toContain("spillway run");
  expect(answer).not.toContain("permissionDecision");
});

test("no other event is answered", () => {
  for (const hook_event_name of ["Stop", "PostToolUseFailure", undefined, 7])
    expect(claudeCode.readEvent({ ...event("npm test"), hook_event_name, tool_response: "x" })).toBeNull();
});

function event(command: string) {
  return { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command } };
}

function hasShell(shell: string): boolean {
  return spawnSync(shell, ["-c", ":"]).status === 0;
}

/** What a shell prints, and its exit code. A function stands for `spillway run`, which only runs the words after the dashes. */
function ran(script: string, shell = "bash"): string {
  const run = 'spillway() { while [ "$1" != "--" ]; do shift; done; shift; command "$@"; }';
  const { stdout, status } = spawnSync(shell, ["-s"], {
    input: `${run}\n${script}\n`,
    encoding: "utf8",
    timeout: 240_000,
  });
  return `${stdout}[${status}]`;
}
