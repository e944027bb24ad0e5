import type { Command } from "commander";
import { messageOf } from "../../../errors.ts";
import { createSpillway } from "../../../index.ts";
import { NUMBERS } from "../../../stages/policy/defaults.ts";
import { within } from "../../../stages/spill/within.ts";
import type { Local } from "../../../storage/local/open-local.ts";
import { readDuration } from "../amounts.ts";
import { addPlaceFlag, openPlace, type PlaceFlags } from "../open-place.ts";
import { addPolicyFlags, type PolicyFlags, policyFromFlags } from "../policy-flags.ts";
import { guardCommand } from "../run/guard-command.ts";
import { readOutput } from "../run/read-output.ts";
import { type StartedCommand, startCommand } from "../run/start-command.ts";
import { summarize } from "../summarize.ts";
import { FaultWithCode, tell } from "../tell.ts";
import { writeJson, writeOut, writeText } from "../write-out.ts";

interface RunFlags extends PolicyFlags, PlaceFlags {
  tool?: string;
  session?: string;
  timeout?: number;
  raw?: boolean;
  json?: boolean;
  quiet?: boolean;
  markStderr?: boolean;
  redact: boolean;
}

/** Our own failure, as `timeout` and `env` say it: 2 may be the command's. */
const EXIT_OWN_FAULT = 125;

/** `spillway run`: runs a command, prints what a model should see, keeps the rest. */
export function addRunCommand(program: Command): void {
  const command = program
    .command("run")
    .description("run a command, print what a model should see of its output, and save the whole")
    .argument("<command...>", "what to run, after --")
    .passThroughOptions()
    .exitOverride((error) => {
      throw error.exitCode === 0 ? error : new FaultWithCode(error, EXIT_OWN_FAULT);
    });
  addPlaceFlag(addPolicyFlags(command))
    .option("--tool <name>", "the tool whose limits apply (default run_command)")
    .option("--session <name>", "the session that the output belongs to")
    .option("--timeout <seconds>", "end the command and its children after this long (also 5m, 1h)", readDuration)
    .option("--raw", "pass every byte on as it comes; what is over its limits is saved all the same")
    .option("--mark-stderr", 'begin lines of standard error with "stderr: " (their order is then approximate)')
    .option("--no-redact", "save secrets as they are")
    .option("--json", "end with one JSON object, { text, receipt, exitCode }")
    .option("-q, --quiet", "no summary on standard error")
    .addHelpText(
      "after",
      `
Ends with the command's own exit code; 128+n after a signal, 124 when its time was up, 125 for a fault of ours,
126 if it cannot be run, 127 if there is no such command.

Examples:
  spillway run -- npm test
  spillway run --session s1 --max-lines 80 --timeout 300 -- make -j4
  spillway run --json -- pytest -q | jq .receipt.artifact`,
    )
    .action(async (words: string[], flags: RunFlags) => {
      try {
        process.exitCode = await runCommand(words, flags);
      } catch (error) {
        throw new FaultWithCode(error, EXIT_OWN_FAULT);
      }
    });
}

async function runCommand(words: string[], flags: RunFlags): Promise<number> {
  const { tool = "run_command", session, fold } = flags;
  const policy = await policyFromFlags(flags);
  // Flags are wrong before anything has run, or never.
  (await createSpillway({ store: null, policy, env: {} })).resolve(tool);
  const opening = within(openPlace(flags), NUMBERS.spillDeadlineMs.default, "opening the store").catch(
    (error: unknown) => {
      tell(`nothing will be saved: ${messageOf(error)}`);
      return null;
    },
  );
  const command = startCommand(words, flags.markStderr ?? false);
  const guard = guardCommand(command, flags.timeout);
  if (!command.isTrueOrder && !flags.quiet)
    tell("standard output and standard error come through two pipes: their order is approximate");
  let place: Local | null = null;
  try {
    place = await opening;
    const spillway = await createSpillway({
      policy,
      env: {},
      store: place?.store ?? null,
      ledger: place?.ledger ?? null,
      reader: { by: "shell" },
      ...(!flags.redact && { redact: "off" as const }),
    });
    const { text, receipt } = await spillway.admit({
      tool,
      output: passed(command, flags.raw ?? false),
      exitCode: guard.exitCode,
      ...(session !== undefined && { session }),
      ...(fold !== undefined && { fold }),
    });
    const exitCode = await guard.exitCode;
    if (flags.json) await writeJson({ text, receipt, exitCode });
    else if (!flags.raw) await writeText(text);
    if (guard.isTimedOut()) tell(`its time was up after ${(flags.timeout ?? 0) / 1000} s`);
    if (!flags.quiet && !flags.json) process.stderr.write(`${summarize(receipt)}\n`);
    return exitCode;
  } finally {
    guard.end();
    command.letGo();
    await place?.close();
  }
}

/** The output, passed on as it comes if that is asked for. */
async function* passed(command: StartedCommand, isRaw: boolean): AsyncGenerator<Uint8Array> {
  const fault = await command.fault;
  if (fault !== null) {
    // A model has to learn of it; among raw bytes it would be taken for output.
    if (isRaw) tell(fault);
    else yield Buffer.from(`spillway: ${fault}\n`);
    return;
  }
  let isRead = true;
  if (isRaw) {
    // Whoever reads us may stop; the command goes on and is saved.
    process.stdout.removeAllListeners("error").on("error", () => {
      isRead = false;
    });
  }
  for await (const chunk of readOutput(command.output, command.exitCode)) {
    if (isRaw && isRead) await writeOut(chunk);
    yield chunk;
  }
}
