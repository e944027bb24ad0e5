import { messageOf } from "../../../errors.ts";
import { createSpillway } from "../../../index.ts";
import { NUMBERS } from "../../../stages/policy/defaults.ts";
import { within } from "../../../stages/spill/within.ts";
import type { Local } from "../../../storage/local/open-local.ts";
import { type CallFlags, callOptions } from "../call-flags.ts";
import { openPlace, type PlaceFlags } from "../open-place.ts";
import { type PolicyFlags, policyFromFlags } from "../policy-flags.ts";
import { summarize } from "../summarize.ts";
import { tell } from "../tell.ts";
import { writeJson, writeOut, writeText } from "../write-out.ts";
import { guardCommand } from "./guard-command.ts";
import { readOutput } from "./read-output.ts";
import { type StartedCommand, startCommand } from "./start-command.ts";

/** What `spillway run` may be told. */
export interface RunFlags extends PolicyFlags, PlaceFlags, CallFlags {
  tool?: string;
  session?: string;
  timeout?: number;
  raw?: boolean;
  json?: boolean;
  quiet?: boolean;
  markStderr?: boolean;
  redact: boolean;
}

/** Runs a command through a Spillway and gives its exit code. */
export async function runCommand(words: string[], flags: RunFlags): Promise<number> {
  const { tool = "run_command", session, fold } = flags;
  const policy = await policyFromFlags(flags);
  // Flags are wrong before anything has run, or never.
  await (await createSpillway({ store: null, policy, env: {} })).admit({ tool, output: "", ...callOptions(flags) });
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
      command: words.join(" "),
      ...callOptions(flags),
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
