import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { messageOf } from "../../../errors.ts";
import { openSpillway } from "../../../open-spillway.ts";
import type { PostToolUse } from "../../hook/post-tool-use.ts";
import { addPolicyFlags, optionsFromFlags, type PolicyFlags } from "../flags.ts";
import { addPlaceFlag, openPlace, type PlaceFlags, shellReader } from "../open-place.ts";
import { FaultWithCode, tell } from "../tell.ts";
import { writeOut } from "../write-out.ts";

/** Told to the user. 2, as elsewhere, would stop the agent's tool. */
const EXIT_WRONG_FLAG = 1;

interface HookFlags extends PolicyFlags, PlaceFlags {
  redact: boolean;
}

/** `spillway hook`: answers an agent's hooks. */
export function addHookCommand(program: Command): void {
  const command = program
    .command("hook")
    .description("answer a hook of Claude Code, or of another agent with the same hooks: JSON in, JSON out")
    .exitOverride((error) => {
      throw error.exitCode === 0 ? error : new FaultWithCode(error, EXIT_WRONG_FLAG);
    });
  addPlaceFlag(addPolicyFlags(command))
    .option("--no-redact", "save secrets as they are")
    .addHelpText(
      "after",
      `
Reads one event from standard input. PostToolUse: a result over its limits is answered with what the model should see
instead, in the same shape; the whole is saved. PreToolUse, in the mode bypassPermissions: a Bash command is put under
"spillway run", which keeps all that it prints, unless a deny or ask rule of the agent could match it. Whatever goes
wrong, the tool call goes on as it was: the exit code is 0 and nothing is printed. A wrong flag
here ends with 1, not with 2 as elsewhere: to an agent 2 means that the tool call must not go on.

"spillway init claude-code" sets it up.

Examples:
  echo '{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_response":{"stdout":"..."}}' | spillway hook`,
    )
    .action(async (flags: HookFlags) => {
      try {
        const answer = await answerHook(JSON.parse(await readInput()), flags);
        if (answer !== null) await writeOut(JSON.stringify(answer));
      } catch (error) {
        // A hook that fails must not cost the agent its result.
        tell(messageOf(error));
      }
    });
}

async function readInput(): Promise<string> {
  try {
    return readFileSync(0, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
  }
  // The agent handed over a pipe that does not wait for what is still to come.
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

async function answerHook(event: unknown, flags: HookFlags): Promise<object | null> {
  if (typeof event !== "object" || event === null) return null;
  const { hook_event_name: name } = event as { hook_event_name?: unknown };
  if (name === "PreToolUse") {
    const { answerPreToolUse } = await import("../../hook/pre-tool-use.ts");
    const { checkStart, readClaudeRules } = await import("../../hook/claude-rules.ts");
    const { env, platform } = process;
    const { cwd } = event as { cwd?: unknown };
    const folders = [cwd, env.CLAUDE_PROJECT_DIR, process.cwd()].filter((folder) => typeof folder === "string");
    return answerPreToolUse(event, "spillway", () => {
      checkStart(platform);
      return readClaudeRules({ env, platform, folders });
    });
  }
  if (name !== "PostToolUse") return null;
  // Nobody reads what a hook says on standard error, so receipts tell it too.
  const warnings: string[] = [];
  const warn = (warning: string) => {
    tell(warning);
    warnings.push(warning);
  };
  const { policy, dir: _dir, retention: _retention, ...keeping } = await optionsFromFlags(flags, warn);
  const { answerPostToolUse, fitOf } = await import("../../hook/post-tool-use.ts");
  // Most results are within their limits, and opening a database takes longer than all the rest.
  const filter = await openSpillway({ store: null, ledger: null, policy, env: {}, redact: keeping.redact });
  const fit = fitOf(filter, event as PostToolUse);
  const isRedacted =
    keeping.redact === "model" || (typeof keeping.redact === "object" && keeping.redact.model === true);
  if (fit === "within" && !isRedacted) return null;
  if (fit !== "over" && (await answerPostToolUse(filter, event as PostToolUse)) === null) return null;
  const place = await openPlace(flags).catch((error: unknown) => tell(messageOf(error)));
  // What cannot be saved is cut all the same, and says so.
  if (!place) return answerPostToolUse(filter, event as PostToolUse);
  try {
    const { store, ledger } = place;
    const spillway = await openSpillway({
      ...keeping,
      store,
      ledger,
      policy,
      env: {},
      reader: shellReader(flags, place),
      placeFaults: warnings,
    });
    const answer = await answerPostToolUse(spillway, event as PostToolUse);
    // Where only the hook keeps things, nobody else would: once an hour, and not for long.
    await place.collect();
    return answer;
  } finally {
    await place.close();
  }
}
