import { createSpillway } from "../../../index.ts";
import { counted } from "../../../values.ts";
import { sizeText } from "../amounts.ts";
import { type Command, writeLines } from "../command.ts";
import {
  addPolicyFlags,
  addTranscriptFlags,
  optionsFromFlags,
  type PolicyFlags,
  readWindow,
  type TranscriptFlags,
  toldEnd,
  wayOf,
} from "../flags.ts";
import { addPlaceFlag, openPlace, type PlaceFlags } from "../open-place.ts";
import { writeJson } from "../write-out.ts";

interface GuardFlags extends PolicyFlags, PlaceFlags, TranscriptFlags {
  redact: boolean;
  session?: string;
  window?: number;
}

/** `spillway guard`: brings the results in a transcript under the limits. */
export function addGuardCommand(program: Command): void {
  const command = program
    .command("guard")
    .description("bring the results in a transcript under the limits, saving the whole of each first")
    .argument("<file>", "JSON lines of a pi or OpenClaw session, or JSON of any message format");
  addTranscriptFlags(addPlaceFlag(addPolicyFlags(command)))
    .option("--session <name>", "the session that saved outputs belong to")
    .option("--window <tokens>", "the model's context in tokens; one result gets at most 0.3 of it", readWindow)
    .option("--no-redact", "save secrets as they are")
    .notes(`
Results over 50 KiB or 2000 lines are cut, and so is the output of commands that a person ran in pi. Details over 8,192 bytes
are cut too, calls without a result get one that says so, and broken characters are repaired. Everything else stays byte for byte.
The file is replaced in one step, and the old one is kept as a .bak. A pi session that knows context_edit gets such records
instead, and no line of it is changed.

Examples:
  spillway guard session.jsonl --dry-run
  spillway guard session.jsonl --window 32000
  spillway guard messages.json --wire anthropic --max-bytes 20000 --json`)
    .action((file: string, flags: GuardFlags) => guardTranscript(file, flags));
}

async function guardTranscript(file: string, flags: GuardFlags): Promise<void> {
  const [{ openTranscript }, { guardFile }] = await Promise.all([
    import("../transcripts/open-transcript.ts"),
    import("../transcripts/guard-file.ts"),
  ]);
  const transcript = openTranscript(file, flags.wire);
  const { policy, dir: _dir, ...userOptions } = await optionsFromFlags(flags, { strict: true });
  // A dry run saves nothing.
  const place = flags.dryRun ? null : await openPlace(flags);
  const spillway = await createSpillway({
    ...(place === null ? {} : userOptions),
    store: place?.store ?? null,
    ledger: place?.ledger ?? null,
    policy,
    env: {},
  });
  const report = await guardFile(transcript, spillway, {
    by: wayOf(flags),
    dryRun: flags.dryRun ?? false,
    session: flags.session,
    window: flags.window,
  }).finally(() => place?.close());
  if (flags.json) return writeJson({ file, dryRun: flags.dryRun ?? false, ...report });
  const would = flags.dryRun ? "would be " : "";
  const sizes = `${sizeText(report.bytesBefore)} -> ${sizeText(report.bytesAfter)}`;
  const lines = [
    `${counted(report.changed, "message")} ${would}cut or repaired, ${counted(report.filled, "missing result")} ${would}filled in: ${sizes}`,
    ...(report.unread > 0 ? [`${counted(report.unread, "line")} could not be read, and stay as they are`] : []),
    ...(report.detailsLeft > 0
      ? [
          `details over 8,192 bytes, or a command's output over the limits, stay in ${counted(report.detailsLeft, "message")}: an edit cannot change them, --rewrite can`,
        ]
      : []),
    ...toldEnd(report),
  ];
  await writeLines(lines);
}
