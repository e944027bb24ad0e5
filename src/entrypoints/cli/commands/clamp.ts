import { createReadStream, fstatSync, openSync, readSync } from "node:fs";
import { badInput, messageOf, whyUnreadable } from "../../../errors.ts";
import { openSpillway } from "../../../open-spillway.ts";
import { definedOnly } from "../../../stages/policy/check-row.ts";
import { resolvePolicy } from "../../../stages/policy/resolve-policy.ts";
import type { Command } from "../command.ts";
import {
  addCallFlags,
  addPolicyFlags,
  type CallFlags,
  callOptions,
  optionsFromFlags,
  type PolicyFlags,
  wholeNumber,
} from "../flags.ts";
import { addPlaceFlag, openPlace, type Place, type PlaceFlags, shellReader } from "../open-place.ts";
import { addColorFlag, paintsFor, type ScreenFlags, writeShown } from "../screen.ts";
import { watched } from "../status-line.ts";
import { explainText, writeSummary } from "../summarize.ts";
import { EXIT_BAD_INPUT, tell, tellFault } from "../tell.ts";
import { isTerminal, writeError, writeJson, writeOut } from "../write-out.ts";

interface ClampFlags extends PolicyFlags, PlaceFlags, CallFlags, Omit<ScreenFlags, "pager"> {
  tool?: string;
  command?: string;
  exitCode?: number;
  session?: string;
  save?: boolean;
  redact: boolean;
  json?: boolean;
  explain?: boolean;
  quiet?: boolean;
}

/** `spillway clamp`: a filter that gives bounded text for any input. */
export function addClampCommand(program: Command): void {
  const command = program
    .command("clamp")
    .description("bring a file or standard input under its limits, and print what a model would see")
    .argument("[file]", "the file to read; standard input if none is given, or for -");
  addColorFlag(addPlaceFlag(addCallFlags(addPolicyFlags(command))))
    .option("--tool <name>", "the tool whose limits apply (run_command, read_file ...)")
    .option("--command <text>", "the command whose output this is: limits of run_command unless --tool is given")
    .option(
      "--exit-code <n>",
      "the command's exit code; the last line says it where it matters",
      wholeNumber("--exit-code", true),
    )
    .option("--save", "save the whole if something was cut, for spillway recall and spillway search")
    .option("--session <name>", "with --save: the session that the output belongs to")
    .option("--no-redact", "save and show secrets as they are, whatever your config says")
    .option("--json", "print one JSON object, { text, receipt }")
    .option("--explain", "say why each part is kept or omitted: on standard error, or in the receipt with --json")
    .option("-q, --quiet", "print no summary on standard error")
    .notes(`
Standard output is exactly the text that a model would see. If a line of ours is its end, a line break follows. A summary
goes to standard error. Nothing is saved without --save, and a text that was cut says so.

Examples:
  npm test 2>&1 | spillway clamp --command "npm test" --exit-code 1
  spillway clamp server.log --max-bytes 20000 --strategy tail
  spillway clamp --save --session s1 < crawl.html
  spillway clamp notes.txt --max-tokens 2000 --json | jq .receipt`)
    .action((file: string | undefined, flags: ClampFlags) => clampInput(file, flags));
}

async function clampInput(file: string | undefined, flags: ClampFlags): Promise<void> {
  const { tool = flags.command === undefined ? "clamp" : "run_command", exitCode } = flags;
  const { policy, dir: _dir, retention: _retention, ...userOptions } = await optionsFromFlags(flags);
  if (resolvePolicy(policy).profile === "off" && !flags.json) return passThrough(file);
  const output = openInput(file);
  const place = flags.save ? await openPlaceOrTell(flags) : null;
  const spillway = await openSpillway({
    ...(place === null ? { redact: userOptions.redact } : userOptions),
    store: place?.store ?? null,
    ledger: place?.ledger ?? null,
    policy,
    env: {},
    reader: place === null ? { by: "operator" } : shellReader(flags, place),
  });
  const { text, receipt } = await spillway.admit({
    tool,
    output,
    ...callOptions(flags),
    ...definedOnly({ command: flags.command, session: flags.session, exitCode, explain: flags.explain }),
  });
  await (flags.json ? writeJson({ text, receipt }) : writeShown(text, receipt, flags));
  if (receipt.faults !== undefined) process.exitCode = EXIT_BAD_INPUT;
  if (flags.explain && !flags.json) writeError(explainText(receipt.explained ?? [], paintsFor(flags)));
  if (!flags.quiet && !flags.json) writeSummary(receipt);
  await place?.collect();
  await place?.close();
}

/** If the folder cannot be opened, tells so and goes on: the input is shown, since it may not come again. */
async function openPlaceOrTell(flags: ClampFlags): Promise<Place | null> {
  try {
    return await openPlace(flags);
  } catch (error) {
    process.exitCode = tellFault(new Error(`nothing is saved: ${messageOf(error)}`));
    return null;
  }
}

/** Passes every byte on as it comes and holds none. */
async function passThrough(file: string | undefined): Promise<void> {
  for await (const chunk of openInput(file)) await writeOut(chunk);
}

/** Large enough that reading costs little, small enough to stay in the processor's cache. */
const CHUNK_BYTES = 256 * 1024;

/** Opens a file, or standard input for no file or "-". Throws at once if it cannot be read. */
function openInput(file: string | undefined): AsyncGenerator<Uint8Array> {
  if (file !== undefined && file !== "-") return watched("reading", readAll(openFile(file)));
  if (!isTerminal(0)) return watched("reading", readAll(0));
  // A status line would stand among what is typed.
  tell("reading what you type here until Ctrl-D; or name a file: spillway clamp FILE");
  return readAll(0);
}

/** Yields the descriptor's bytes. Each chunk overwrites the one before. */
async function* readAll(descriptor: number): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(CHUNK_BYTES);
  // A blocking read costs a third of a stream, and a filter has nothing else to do meanwhile.
  for (;;) {
    const length = readSome(descriptor, buffer);
    if (length === 0) return;
    if (length === null) break;
    yield buffer.subarray(0, length);
  }
  // A stream of a file fails where a read would have to wait. Standard input's own waits.
  yield* descriptor === 0 ? process.stdin : createReadStream("", { fd: descriptor, highWaterMark: CHUNK_BYTES });
}

/** The number of bytes read; null if the descriptor is non-blocking and has nothing yet. */
function readSome(descriptor: number, buffer: Uint8Array): number | null {
  try {
    return readSync(descriptor, buffer, 0, buffer.length, null);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EOF") return 0; // Windows reports a closed pipe this way
    if (code === "EAGAIN") return null;
    throw error;
  }
}

function openFile(file: string): number {
  try {
    const descriptor = openSync(file, "r");
    if (fstatSync(descriptor).isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    return descriptor;
  } catch (error) {
    throw badInput(`cannot read ${file}: ${whyUnreadable(error)}`, { cause: error });
  }
}
