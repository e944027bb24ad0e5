// What `spillway hook` answers when Claude Code tells it of a command that printed too much.
import { spawnSync } from "node:child_process";

const event = {
  hook_event_name: "PostToolUse",
  session_id: "example",
  tool_name: "Bash",
  tool_input: { command: "npm test" },
  tool_response: {
    stdout: Array.from({ length: 4000 }, (_, i) => `test ${i + 1} passed`).join("\n"),
    stderr: "",
    interrupted: false,
  },
};
const hook = (input) =>
  spawnSync(process.execPath, ["dist/cli.cjs", "hook", "--max-lines", "10"], {
    input: JSON.stringify(input),
    encoding: "utf8",
  });

const { hookSpecificOutput } = JSON.parse(hook(event).stdout);
console.log(
  `The model reads this instead, in the tool's own shape:\n\n${hookSpecificOutput.updatedToolOutput.stdout}\n`,
);

const small = hook({ ...event, tool_response: { stdout: "ok\n", stderr: "", interrupted: false } });
console.log(`A small result is left alone: the hook printed ${small.stdout.length} characters.`);
