import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { answerPreToolUse } from "./pre-tool-use.ts";

const before = (tool_input: object, tool_name = "Bash") =>
  answerPreToolUse({ tool_name, tool_input }, "spillway") as {
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
