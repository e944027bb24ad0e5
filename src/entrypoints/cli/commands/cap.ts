import { badInput } from "../../../errors.ts";
import { createSpillway } from "../../../index.ts";
import { NUMBERS } from "../../../stages/policy/defaults.ts";
import { counted, grouped } from "../../../values.ts";
import { readBytes, sizeText } from "../amounts.ts";
import type { Command } from "../command.ts";
import { wholeNumber } from "../flags.ts";
import { tell } from "../tell.ts";
import { writeJson } from "../write-out.ts";

interface CapFlags {
  limit?: number;
  maxBytes: number;
  offset?: number;
  around?: string;
  tools: boolean;
  wire?: string;
  json?: boolean;
  quiet?: boolean;
}

/** `spillway cap`: a transcript's newest messages, small enough for another agent. */
export function addCapCommand(program: Command): void {
  program
    .command("cap")
    .description("print a transcript's newest messages as JSON, small enough for another agent")
    .argument("<file>", "JSON lines of a pi or OpenClaw session, or JSON of any message format")
    .option("--limit <n>", "print at most this many messages", wholeNumber("--limit"))
    .option("--max-bytes <size>", "print at most this much JSON, such as 80KiB", readBytes, NUMBERS.capBytes.default)
    .option(
      "--offset <n>",
      "leave out this many of the newest messages: `next` of the page before",
      wholeNumber("--offset"),
    )
    .option("--around <id>", "print the messages around the one with this id")
    .option("--no-tools", "leave out messages of tool results")
    .wireFlag()
    .option("--json", "print one JSON object, { messages, truncated, bytes, next, total ... }")
    .option("-q, --quiet", "print no summary on standard error")
    .notes(`
Texts are cut to 4,000 characters, details and image data left out, then the oldest messages until the rest has room. The
file is not changed.

Examples:
  spillway cap session.jsonl --limit 50
  spillway cap session.jsonl --max-bytes 20KiB --json | jq .next
  spillway cap session.jsonl --around 1f3b9c02`)
    .action((file: string, flags: CapFlags) => capTranscript(file, flags));
}

async function capTranscript(file: string, flags: CapFlags): Promise<void> {
  const [{ openTranscript, readSnapshot }, { messagesOf }] = await Promise.all([
    import("../transcripts/open-transcript.ts"),
    import("../transcripts/cap-file.ts"),
  ]);
  const { limit, maxBytes, offset, around, tools: includeTools } = flags;
  const transcript = openTranscript(file, flags.wire);
  const spillway = await createSpillway({ store: null, ledger: null, env: {} });
  const capped = readSnapshot(transcript.path, (snapshot) => {
    const { messages, placeOf } = messagesOf(transcript, snapshot);
    const place = around === undefined ? undefined : (placeOf(around) ?? around);
    if (typeof place === "number" && !includeTools) {
      throw badInput("--around and --no-tools exclude each other: give one");
    }
    return spillway.cap(messages, { limit, maxBytes, offset, around: place, includeTools });
  });
  await writeJson(flags.json ? capped : capped.messages);
  if (flags.quiet || flags.json) return;
  const { messages, total, bytes, next } = capped;
  const more = next === null ? "" : `; older ones: --offset ${next}`;
  tell(`${grouped(messages.length)} of ${counted(total, "message")}, ${sizeText(bytes)}${more}`);
}
