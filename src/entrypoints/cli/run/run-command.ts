import type { Receipt } from "../../../contract/receipt.ts";
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
import { outputFault, writeError, writeJson, writeOut, writeText } from "../write-out.ts";
import { type GuardedCommand, guardCommand } from "./guard-command.ts";
import { passRaw } from "./pass-raw.ts";
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

/** What the model reads, and what happened. */
interface Shown {
  text: string;
  receipt: Receipt;
}

/** Runs a command through a Spillway and gives its exit code. */
export async function runCommand(words: string[], flags: RunFlags): Promise<number> {
  const { tool = "run_command", session, fold } = flags;
  const { policy, dir: _dir, retention: _retention, ...keeping } = await optionsFromFlags(flags);
  // Flags are wrong before anything has run, or never.
  const checking = await openSpillway({ store: null, policy, env: {} });
  await checking.admit({ tool, output: "", ...callOptions(flags) });
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
    const { text, receipt } = flags.raw ? await passOn(place) : await admit(place);
    const exitCode = await guard.exitCode;
    if (flags.json) await writeJson({ text, receipt, exitCode });
    else if (!flags.raw) await writeText(text);
    const isSummed = !flags.quiet && !flags.json;
    if (guard.isTimedOut() && (flags.raw || !isSummed)) tell(timeUp(flags));
    if (isSummed) writeError(`${flags.raw ? summarizeKept(receipt) : summarize(receipt)}\n`);
    else for (const fault of receipt.faults ?? []) if (fault.startsWith("not recorded")) tell(fault);
    await place?.collect();
    return exitCode;
  } finally {
    guard.end();
    command.letGo();
    await place?.close().catch((error: unknown) => tell(messageOf(error)));
  }

  /** Nothing is held back from anybody: JSON has no text, since every byte was written before it. */
  async function passOn(to: Place | null): Promise<Shown> {
    const raw = { tool, session: session ?? null, chunks: passed(command), exitCode: guard.exitCode };
    return { text: "", receipt: await passRaw(raw, to, keeping) };
  }

  async function admit(to: Place | null): Promise<Shown> {
    const spillway = await openSpillway({
      ...(to === null ? { redact: keeping.redact } : keeping),
      policy,
      env: {},
      store: to?.store ?? null,
      ledger: to?.ledger ?? null,
      reader: shellReader(flags, to),
    });
    return spillway.admit({
      tool,
      output: outputOf(command, guard, flags),
      exitCode: guard.exitCode,
      command: words.join(" "),
      ...callOptions(flags),
      ...(session !== undefined && { session }),
      ...(fold !== undefined && { fold }),
    });
  }
}

function timeUp({ timeout = 0 }: RunFlags): string {
  return `its time was up after ${timeout / 1000} s`;
}

/** What a model reads of: why there is no output, or that there would have been more, stands in it. */
async function* outputOf(command: StartedCommand, guard: GuardedCommand, flags: RunFlags): AsyncGenerator<Uint8Array> {
  const fault = await command.fault;
  if (fault !== null) {
    yield Buffer.from(`spillway: ${fault}\n`);
    return;
  }
  yield* readOutput(command.output, command.exitCode);
  if (guard.isTimedOut()) throw new Error(timeUp(flags));
}

/** The output, passed on as it comes. */
async function* passed(command: StartedCommand): AsyncGenerator<Uint8Array> {
  const fault = await command.fault;
  // Among raw bytes it would be taken for output.
  if (fault !== null) return tell(fault);
  for await (const chunk of readOutput(command.output, command.exitCode)) {
    if (outputFault() === null) await writeOut(chunk);
    yield chunk;
  }
}
