import { messageOf } from "../../../errors.ts";
import { openSpillway } from "../../../open-spillway.ts";
import { NUMBERS } from "../../../stages/policy/defaults.ts";
import { within } from "../../../stages/spill/within.ts";
import { type CallFlags, callOptions } from "../call-flags.ts";
import { openPlace, type Place, type PlaceFlags } from "../open-place.ts";
import { optionsFromFlags, type PolicyFlags } from "../policy-flags.ts";
import { shellReader } from "../shell-reader.ts";
import { summarize, summarizeKept } from "../summarize.ts";
import { tell } from "../tell.ts";
import { writeJson, writeOut, writeText } from "../write-out.ts";
import { guardCommand } from "./guard-command.ts";
import { HeldOutput, MAX_HELD_BYTES } from "./keep-whole.ts";
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
  const { policy, dir: _dir, ...keeping } = await optionsFromFlags(flags);
  // Flags are wrong before anything has run, or never.
  const checking = await openSpillway({ store: null, policy, env: {} });
  await checking.admit({ tool, output: "", ...callOptions(flags) });
  const { limits, off } = checking.resolve(tool);
  const held = flags.raw ? new HeldOutput() : null;
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
  let place: Place | null = null;
  try {
    place = await opening;
    const spillway = await openSpillway({
      ...(place === null ? { redact: keeping.redact } : keeping),
      // Raw, nothing is held back from anybody: what is over these limits is saved on the way, the rest at the end.
      policy: held !== null && off ? {} : policy,
      env: {},
      store: place?.store ?? null,
      ledger: place?.ledger ?? null,
      reader: shellReader(flags),
    });
    const admitted = await spillway.admit({
      tool,
      output: passed(command, held),
      exitCode: guard.exitCode,
      command: words.join(" "),
      ...callOptions(flags),
      ...(session !== undefined && { session }),
      ...(fold !== undefined && { fold }),
      ...(held !== null && { limits: { ...limits, maxBytes: Math.min(limits.maxBytes ?? Infinity, MAX_HELD_BYTES) } }),
    });
    const { text } = admitted;
    const receipt = held && place ? await held.keep(place, admitted.receipt, keeping.redact) : admitted.receipt;
    const exitCode = await guard.exitCode;
    if (flags.json) await writeJson({ text, receipt, exitCode });
    else if (!flags.raw) await writeText(text);
    if (guard.isTimedOut()) tell(`its time was up after ${(flags.timeout ?? 0) / 1000} s`);
    if (!flags.quiet && !flags.json)
      process.stderr.write(`${held === null ? summarize(receipt) : summarizeKept(receipt)}\n`);
    return exitCode;
  } finally {
    guard.end();
    command.letGo();
    await place?.close().catch((error: unknown) => tell(messageOf(error)));
  }
}

/** The output; raw, it is passed on as it comes, and held. */
async function* passed(command: StartedCommand, held: HeldOutput | null): AsyncGenerator<Uint8Array> {
  const isRaw = held !== null;
  const fault = await command.fault;
  if (fault !== null) {
    // A model has to learn of it; among raw bytes it would be taken for output.
    if (isRaw) tell(fault);
    else yield Buffer.from(`spillway: ${fault}\n`);
    return;
  }
  let isRead = true;
  process.stdout.once("error", () => {
    isRead = false;
  });
  for await (const chunk of readOutput(command.output, command.exitCode)) {
    held?.add(chunk);
    if (isRaw && isRead) await writeOut(chunk);
    yield chunk;
  }
}
