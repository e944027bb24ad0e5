import { InvalidArgumentError } from "commander";
import { createSpillway, type PruneReport, type Spillway } from "../../../index.ts";
import { counted, grouped } from "../../../values.ts";
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
  wholeNumber,
} from "../flags.ts";
import { addPlaceFlag, lookPlace, openPlace, type PlaceFlags } from "../open-place.ts";
import { writeJson } from "../write-out.ts";

interface PruneFlags extends PolicyFlags, PlaceFlags, TranscriptFlags {
  request?: number;
  window?: number;
  model?: string;
  mode?: Mode;
  session?: string;
}

type Mode = "adaptive" | "aggressive" | "off";

/** `spillway prune`: lightens old results. */
export function addPruneCommand(program: Command): void {
  const command = program
    .command("prune")
    .description("lighten the old results of a transcript, as its next request would show them")
    .argument("<file>", "JSON lines of a pi or OpenClaw session, or JSON of any message format");
  addTranscriptFlags(addPlaceFlag(addPolicyFlags(command)))
    .option("--request <n>", "print the n-th request as it would be sent, and change nothing", wholeNumber("--request"))
    .option("--window <tokens>", "the model's context in tokens", readWindow)
    .option("--model <name>", "the model's name, by which its window is found")
    .option("--mode <name>", "how much is pruned: adaptive (default), aggressive or off", readMode)
    .option("--session <name>", "the session that saved outputs belong to")
    .notes(`
The file is replaced in one step, and the old one is kept as a .bak. A pi session that knows context_edit gets such records
instead, and no line of it is changed.

Examples:
  spillway prune session.jsonl --dry-run
  spillway prune session.jsonl --mode aggressive
  spillway prune session.jsonl --request 12 --window 32000 --json | jq .report.why`)
    .action((file: string, flags: PruneFlags) => pruneTranscript(file, flags));
}

async function pruneTranscript(file: string, flags: PruneFlags): Promise<void> {
  const [{ openTranscript }, { pruneFile, pruneRequest }] = await Promise.all([
    import("../transcripts/open-transcript.ts"),
    import("../transcripts/prune-file.ts"),
  ]);
  const transcript = openTranscript(file, flags.wire);
  const { policy, dir: _dir, ...userOptions } = await optionsFromFlags(flags, { strict: true });
  const dryRun = flags.dryRun ?? false;
  const options = {
    window: flags.window,
    model: flags.model,
    session: flags.session,
    ...(flags.mode !== undefined && { pruning: { mode: flags.mode } }),
  };
  const { request } = flags;
  // What is only looked at is shown as earlier requests showed it, and nothing is written anywhere.
  const look = <T>(act: (spillway: Spillway) => Promise<T>) =>
    lookPlace(flags, async ({ ledger }) => {
      const reading = { ...ledger, record: async () => {}, saveProjection: async () => {} };
      return act(await createSpillway({ store: null, ledger: reading, policy, env: {} }));
    });
  if (request !== undefined) {
    const prepared = await look((spillway) => pruneRequest(transcript, spillway, options, request));
    return writeJson(flags.json ? prepared : prepared.messages);
  }
  const pruneKeeping = async <T>(act: (spillway: Spillway) => Promise<T>) => {
    const { store, ledger, close } = await openPlace(flags);
    return act(await createSpillway({ ...userOptions, store, ledger, policy, env: {} })).finally(close);
  };
  const prune = (spillway: Spillway) => pruneFile(transcript, spillway, { ...options, by: wayOf(flags), dryRun });
  const pruned = dryRun ? await look(prune) : await pruneKeeping(prune);
  if (flags.json) return writeJson({ file, dryRun, ...pruned });
  const { report } = pruned;
  const sizes = `${grouped(report.before.tokens)} -> ${grouped(report.after.tokens)} tokens`;
  const lines = [
    `${counted(pruned.changed, "message")} ${dryRun ? "would be " : ""}lightened: ${sizes}`,
    ...toldResults("results", report.results),
    ...toldResults("arguments of calls", { insured: 0, batched: 0, ...report.calls }),
    ...(report.media.leftOut === 0 ? [] : [`images, sounds and files: ${grouped(report.media.leftOut)} left out`]),
    report.why,
    ...toldEnd(pruned),
  ];
  await writeLines(lines);
}

/** Tells how many of them were pruned, and how many earlier requests had pruned. The latter count in neither size. */
function toldResults(what: string, { insured, batched, trimmed, cleared, replayed }: PruneReport["results"]): string[] {
  const parts = [
    [insured + batched, "cut to their limits"],
    [trimmed, "trimmed"],
    [cleared, "cleared"],
    [replayed, "as earlier requests showed them"],
  ] as const;
  const told = parts.filter(([count]) => count > 0).map(([count, what]) => `${grouped(count)} ${what}`);
  return told.length === 0 ? [] : [`${what}: ${told.join(", ")}`];
}

function readMode(text: string): Mode {
  if (text === "adaptive" || text === "aggressive" || text === "off") return text;
  throw new InvalidArgumentError(`--mode takes adaptive, aggressive or off; got "${text}"`);
}
