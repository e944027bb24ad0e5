import { newReceipt, wholeAccount, withFaults } from "../../../admit/receipts.ts";
import { newRecorder } from "../../../admit/recorder.ts";
import { type Redact, redactionOf, safeMade, safeNames } from "../../../admit/redaction.ts";
import type { Receipt } from "../../../contract/receipt.ts";
import { newBreaker, within } from "../../../deadline.ts";
import { messageOf } from "../../../errors.ts";
import { openSpillway } from "../../../open-spillway.ts";
import { estimateCounter } from "../../../stages/measure/estimate-tokens.ts";
import { newScan, scanBytes, scannedChars, scannedLines } from "../../../stages/measure/scan.ts";
import { NUMBERS } from "../../../stages/policy/defaults.ts";
import { startSpill } from "../../../stages/spill/spill.ts";
import { type CallFlags, callOptions, optionsFromFlags, type PolicyFlags } from "../flags.ts";
import { openPlace, type Place, type PlaceFlags, shellReader } from "../open-place.ts";
import { type ScreenFlags, writeShown } from "../screen.ts";
import { watched } from "../status-line.ts";
import { summarizeKept, writeSummary } from "../summarize.ts";
import { tell } from "../tell.ts";
import { outputFault, writeError, writeJson, writeOut } from "../write-out.ts";
import { readOutput, sweepPipeFolders } from "./pipe-reader.ts";
import { type GuardedCommand, guardCommand, type StartedCommand, startCommand } from "./start-command.ts";

/** The options of `spillway run`. */
export interface RunFlags extends PolicyFlags, PlaceFlags, CallFlags, Omit<ScreenFlags, "pager"> {
  tool?: string;
  session?: string;
  timeout?: number;
  raw?: boolean;
  passUnsaved?: boolean;
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
  const { tool = "run_command", session } = flags;
  const made = { command: words.join(" "), folder: process.cwd() };
  const { policy, dir: _dir, retention: _retention, ...userOptions } = await optionsFromFlags(flags);
  // Wrong flags are found before the command runs.
  const checking = await openSpillway({ store: null, policy, env: {} });
  await checking.admit({ tool, output: "", ...callOptions(flags) });
  const opening = within(openPlace(flags), NUMBERS.spillDeadlineMs.default, "opening the store").catch(
    (error: unknown) => {
      // If nothing is cut then, there is nothing to warn of.
      if (!(flags.passUnsaved && flags.quiet)) tell(`nothing will be saved: ${messageOf(error)}`);
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
    const isRaw = flags.raw || (flags.passUnsaved && place === null);
    const { text, receipt } = isRaw ? await passOn(place) : await admit(place);
    const exitCode = await guard.exitCode;
    if (flags.json) await writeJson({ text, receipt, exitCode });
    else if (!isRaw) await writeShown(text, receipt, flags);
    const isSummed = !flags.quiet && !flags.json;
    if (guard.isTimedOut() && (isRaw || !isSummed)) tell(timeUp(flags));
    if (isSummed && isRaw) writeError(`${summarizeKept(receipt)}\n`);
    else if (isSummed) writeSummary(receipt);
    else for (const fault of receipt.faults ?? []) if (fault.startsWith("not recorded")) tell(fault);
    if (await place?.collect()) sweepPipeFolders();
    return exitCode;
  } finally {
    guard.end();
    command.letGo();
    await place?.close().catch((error: unknown) => tell(messageOf(error)));
  }

  /** Passes everything on. The JSON has no text, since every byte was written before it. */
  async function passOn(to: Place | null): Promise<Shown> {
    const raw = { tool, session: session ?? null, ...made, chunks: passed(command), exitCode: guard.exitCode };
    return { text: "", receipt: await passRaw(raw, to, userOptions) };
  }

  async function admit(to: Place | null): Promise<Shown> {
    const spillway = await openSpillway({
      ...(to === null ? { redact: userOptions.redact } : userOptions),
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
      ...made,
      ...callOptions(flags),
      ...(session !== undefined && { session }),
    });
  }
}

function timeUp({ timeout = 0 }: RunFlags): string {
  return `its time was up after ${timeout / 1000} s`;
}

/** The output as a model reads it: it also says why there is none, or that it ended early. */
async function* outputOf(command: StartedCommand, guard: GuardedCommand, flags: RunFlags): AsyncGenerator<Uint8Array> {
  const fault = await command.fault;
  if (fault !== null) {
    yield Buffer.from(`spillway: ${fault}\n`);
    return;
  }
  const chunks = readOutput(command.output, command.exitCode);
  // The command began about when we did.
  yield* flags.quiet ? chunks : watched("running", chunks, 0);
  if (guard.isTimedOut()) throw new Error(timeUp(flags));
}

/** Yields the output, and passes it on as it comes. */
async function* passed(command: StartedCommand): AsyncGenerator<Uint8Array> {
  const fault = await command.fault;
  // Among the raw bytes it would look like output of the command.
  if (fault !== null) return tell(fault);
  for await (const chunk of readOutput(command.output, command.exitCode)) {
    if (outputFault() === null) await writeOut(chunk);
    yield chunk;
  }
}

/** What is passed on as it comes. */
interface RawOutput {
  tool: string;
  session: string | null;
  command: string;
  folder: string;
  chunks: AsyncIterable<Uint8Array>;
  exitCode: Promise<number>;
}

/** Where the output is kept and recorded. */
interface RawOptions {
  redact?: Redact | undefined;
  events?: string | undefined;
  runs?: string | undefined;
}

/** Tokens are estimated from a sample of this many bytes. */
const SAMPLE_BYTES = 256 * 1024;

/** Saves an output that is passed on whole, and writes a receipt which says that all of it was shown. */
async function passRaw(output: RawOutput, place: Place | null, userOptions: RawOptions): Promise<Receipt> {
  const { store = null, ledger = null } = place ?? {};
  const redaction = redactionOf(userOptions.redact);
  const tool = await safeNames(redaction)(output.tool);
  const breaker = () => newBreaker(1, 0, Date.now);
  const deadlineMs = NUMBERS.spillDeadlineMs.default;
  const loadRedactor = redaction && (() => redaction.loadRedactor());
  const made = await safeMade(redaction, output);
  const about = { scope: place?.scope ?? "local", session: output.session, tool, call: null, ...made };
  const spill = startSpill({ store, breaker: breaker(), deadlineMs, loadRedactor }, about);
  const scan = newScan();
  const sample: Uint8Array[] = [];
  let sampledBytes = 0;
  for await (const chunk of output.chunks) {
    scanBytes(scan, chunk);
    if (sampledBytes < SAMPLE_BYTES) {
      sample.push(new Uint8Array(chunk));
      sampledBytes += chunk.length;
    }
    await spill.add(chunk);
  }
  const { bytes } = scan;
  const lines = scannedLines(scan);
  const exitCode = await output.exitCode;
  const { artifact, fault } = bytes === 0 ? { artifact: null, fault: null } : await spill.end(exitCode);
  const sampledTokens = estimateCounter.count(new TextDecoder().decode(Buffer.concat(sample)));
  const tokens = bytes === 0 ? 0 : Math.ceil((sampledTokens * bytes) / sampledBytes);
  const subject = { tool: output.tool, session: output.session, call: null, limits: {}, exitCode };
  const facts = {
    strategy: "off",
    shown: { bytes, chars: scannedChars(scan), lines, tokens },
    artifact: artifact?.id ?? null,
    sha256: artifact?.sha256 ?? null,
    saved: artifact?.saved ?? (bytes === 0 ? null : ("no" as const)),
    savedBytes: artifact?.bytes ?? 0,
    ...(artifact !== null && artifact.redactions.count > 0 && { storedRedactions: artifact.redactions }),
  };
  const receipt = newReceipt({ ...subject, counter: estimateCounter }, facts, wholeAccount({ bytes, lines }));
  const { events, runs } = userOptions;
  const { openEventFiles } = await import("../../../storage/event-files/open-event-files.ts");
  const { logs } =
    place === null ? { logs: [] } : openEventFiles({ events, runs }, store, { ledger, retention: place.retention });
  const recorder = newRecorder({
    ledger,
    logs,
    listeners: {},
    redaction,
    by: (await import("../../../open-spillway.ts")).recordedBy(),
    newBreaker: breaker,
    deadlineMs,
    now: Date.now,
  });
  const told = withFaults(receipt, fault === null ? [] : [fault]);
  return withFaults(told, await recorder.receipt(told, made));
}
