import { readFileSync } from "node:fs";
import { badInput, messageOf } from "../../../errors.ts";
import { openSpillway } from "../../../open-spillway.ts";
import type { Access } from "../../../stages/mark/access.ts";
import type { Agent, ToolResult } from "../../hook/agent.ts";
import { AGENT_NAMES, DEFAULT_AGENT, loadAgent, otherAgentOf } from "../../hook/agents/index.ts";
import { clampResult, fitOf } from "../../hook/clamp-result.ts";
import { wrapCommand } from "../../hook/wrap-command.ts";
import type { Command } from "../command.ts";
import { addPolicyFlags, optionsFromFlags, type PolicyFlags } from "../flags.ts";
import { addPlaceFlag, openPlace, type PlaceFlags, shellReader } from "../open-place.ts";
import { FaultWithCode, tell } from "../tell.ts";
import { writeOut } from "../write-out.ts";

/** An agent shows the message of 1 to its user. With 2, as elsewhere, it would stop the tool. */
const EXIT_WRONG_FLAG = 1;

interface HookFlags extends PolicyFlags, PlaceFlags {
  agent?: string;
  redact: boolean;
  recallTools?: string;
}

/** `spillway hook`: answers an agent's hooks. */
export function addHookCommand(program: Command): void {
  const command = program
    .command("hook")
    .description("answer a hook of an agent: JSON in, JSON out")
    .argument("[agent]", "the same as --agent")
    .option("--agent <name>", `which agent asks: ${AGENT_NAMES.join(", ")} (default ${DEFAULT_AGENT})`)
    .exitOverride((error) => {
      throw error.exitCode === 0 ? error : new FaultWithCode(error, EXIT_WRONG_FLAG);
    });
  addPlaceFlag(addPolicyFlags(command))
    .option("--no-redact", "save secrets as they are")
    .option("--recall-tools <prefix>", "the agent has our tools: markers name PREFIXrecall and PREFIXsearch")
    .notes(`
Reads one event from standard input. After a tool: a result over its limits is answered with what the model should see
instead, in the same shape; the whole is saved. Before a command: it is put under "spillway run", which keeps all that it
prints, unless a rule of the agent could match it ("spillway init --help" says which commands). If anything goes wrong,
the tool call goes on as it was: the exit code is 0 and nothing is printed. A wrong flag here ends with 1, not with 2 as
elsewhere: to an agent 2 means that the tool call must not go on.

"spillway init" sets it up in an agent.

Examples:
  echo '{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_response":{"stdout":"..."}}' | spillway hook`)
    .action(async (name: string | undefined, flags: HookFlags) => {
      const told = flags.agent ?? name;
      const agent = await loadAgent(told ?? DEFAULT_AGENT).catch((error: unknown) => {
        throw new FaultWithCode(error, EXIT_WRONG_FLAG);
      });
      try {
        const event = readEvent(await readInput());
        const other = told === undefined ? otherAgentOf(event) : undefined;
        // The tools that the flag names have other names there.
        const { recallTools: _, ...plain } = flags;
        const answer = await (other === undefined
          ? answerHook(agent, event, flags)
          : answerHook(await loadAgent(other), event, plain));
        if (answer !== null) await writeOut(JSON.stringify(answer));
      } catch (error) {
        // A hook that fails must not cost the agent its result.
        tell(messageOf(error));
      }
    });
}

function readEvent(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const found = text.trim() === "" ? "it is empty" : messageOf(error);
    throw badInput(`standard input has no event of an agent in JSON: ${found}`, { cause: error });
  }
}

async function readInput(): Promise<string> {
  try {
    return readFileSync(0, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
  }
  // The agent gave us a pipe in non-blocking mode, which has no more bytes yet.
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

async function answerHook(agent: Agent, event: unknown, flags: HookFlags): Promise<object | null> {
  const asked = typeof event === "object" && event !== null ? agent.readEvent(event) : null;
  if (asked === null) return null;
  return asked.kind === "command" ? wrapCommand(asked) : answerResult(asked, flags);
}

async function answerResult(result: ToolResult, flags: HookFlags): Promise<object | null> {
  // Nobody reads what a hook says on standard error, so receipts tell it too.
  const warnings: string[] = [];
  const warn = (warning: string) => {
    tell(warning);
    warnings.push(warning);
  };
  const { policy, dir: _dir, retention: _retention, ...userOptions } = await optionsFromFlags(flags, { warn });
  // Most results are within their limits, and opening a database takes longer than all the rest.
  const filter = await openSpillway({ store: null, ledger: null, policy, env: {}, redact: userOptions.redact });
  const fit = fitOf(filter, result);
  const isRedacted =
    userOptions.redact === "model" || (typeof userOptions.redact === "object" && userOptions.redact.model === true);
  if (fit === "within" && !isRedacted) return null;
  if (fit !== "over" && (await clampResult(filter, result)) === null) return null;
  const place = await openPlace(flags).catch((error: unknown) => tell(messageOf(error)));
  // If nothing can be saved, the result is cut all the same, and says so.
  if (!place) return clampResult(filter, result);
  try {
    const { store, ledger } = place;
    const spillway = await openSpillway({
      ...userOptions,
      store,
      ledger,
      policy,
      env: {},
      reader: readerOf(flags, place),
      placeFaults: warnings,
    });
    const answer = await clampResult(spillway, result);
    // Retention is applied here, at most once an hour: where only the hook saves things, no other command would do it.
    await place.collect();
    return answer;
  } finally {
    await place.close();
  }
}

function readerOf(flags: HookFlags, place: { dir: string }): Access {
  const { recallTools: prefix } = flags;
  return prefix === undefined
    ? shellReader(flags, place)
    : { by: "tool", recall: `${prefix}recall`, search: `${prefix}search` };
}
