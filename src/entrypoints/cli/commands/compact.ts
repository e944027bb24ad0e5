import { badInput } from "../../../errors.ts";
import { NUMBERS } from "../../../stages/policy/defaults.ts";
import { counted, grouped } from "../../../values.ts";
import { sizeText } from "../amounts.ts";
import { type Command, writeLines } from "../command.ts";
import { toldEnd, wholeNumber } from "../flags.ts";
import { writeJson } from "../write-out.ts";

interface CompactFlags {
  maxLines: number;
  wire?: string;
  dryRun?: boolean;
  json?: boolean;
}

/** `spillway compact`: shortens a transcript to its last lines. */
export function addCompactCommand(program: Command): void {
  const { default: most, floor } = NUMBERS.transcriptLines;
  program
    .command("compact")
    .description("shorten a transcript to its header and its last lines, keeping the old one as a .bak")
    .argument("<file>", "JSON lines of a pi or OpenClaw session, or JSON of any message format")
    .option("--max-lines <n>", "keep this many lines, the header included", wholeNumber("--max-lines"), most)
    .wireFlag()
    .option("--dry-run", "say what would be done, and do nothing")
    .option("--json", "print one JSON object")
    .notes(`
If a call is removed, its result is removed too. Parents and other references are set to what is still there. In a JSON file that
is a list, messages are counted, and a system message at its start stays. No model is asked. If you want a summary of the older
part, use compact() of the library.

Examples:
  spillway compact session.jsonl
  spillway compact session.jsonl --max-lines 100 --dry-run`)
    .action((file: string, flags: CompactFlags) => {
      if (flags.maxLines >= floor) return compactTranscript(file, flags);
      throw badInput(`--max-lines must be ${floor} or more; got ${flags.maxLines}`);
    });
}

async function compactTranscript(file: string, flags: CompactFlags): Promise<void> {
  const [{ openTranscript }, { compactFile }] = await Promise.all([
    import("../transcripts/open-transcript.ts"),
    import("../transcripts/compact-file.ts"),
  ]);
  const dryRun = flags.dryRun ?? false;
  const report = await compactFile(openTranscript(file, flags.wire), { maxLines: flags.maxLines, dryRun });
  if (flags.json) return writeJson({ file, dryRun, ...report });
  const { before, after, droppedResults, repaired, bytesBefore, bytesAfter } = report;
  const would = dryRun ? "would stay" : "stay";
  const lines = [
    `${grouped(after)} of ${counted(before, "line")} ${would}: ${sizeText(bytesBefore)} -> ${sizeText(bytesAfter)}`,
    ...(droppedResults > 0
      ? [`${counted(droppedResults, "result")} went with ${droppedResults === 1 ? "its call" : "their calls"}`]
      : []),
    ...(repaired > 0 ? [`references set anew in ${counted(repaired, "line")}`] : []),
    ...toldEnd(report),
  ];
  await writeLines(lines);
}
