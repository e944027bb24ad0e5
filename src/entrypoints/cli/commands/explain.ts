import { SpillwayError } from "../../../errors.ts";
import { createSpillway } from "../../../index.ts";
import { savedMade } from "../../../recall/open-artifact.ts";
import { counted } from "../../../values.ts";
import { sizeText } from "../amounts.ts";
import type { Command } from "../command.ts";
import {
  addCallFlags,
  addPolicyFlags,
  type CallFlags,
  callOptions,
  optionsFromFlags,
  type PolicyFlags,
} from "../flags.ts";
import { addPlaceFlag, type PlaceFlags, type ReadPlace, readArtifact, readPlace, resolveId } from "../open-place.ts";
import { addScreenFlags, onScreen, type Screen, type ScreenFlags, wrapped } from "../screen.ts";
import { watched } from "../status-line.ts";
import { explainText } from "../summarize.ts";
import { writeJson, writeOut } from "../write-out.ts";

interface ExplainFlags extends PolicyFlags, PlaceFlags, CallFlags, ScreenFlags {
  tool?: string;
}

/** `spillway explain`: why a saved output is cut as it is. */
export function addExplainCommand(program: Command): void {
  const command = program
    .command("explain")
    .description("say which parts of a saved output a model sees under the limits of now, and why")
    .argument("<id>", "the artifact; its first 6 characters are enough, and last is the newest");
  addScreenFlags(addPlaceFlag(addCallFlags(addPolicyFlags(command))))
    .option("--tool <name>", "the tool whose limits apply (default: the one that gave the output)")
    .option("--json", "print one JSON object, the receipt with `explained`")
    .notes(`
The output is cut anew, as it was saved: nothing is changed or recorded. With other flags it shows what another limit or
strategy would keep.

Examples:
  spillway explain last
  spillway explain k3v7q2 --max-lines 50 --strategy signal`)
    .action((id: string, flags: ExplainFlags) =>
      onScreen(flags, (screen) => readPlace(flags, (place) => explain(place, id, flags, screen))),
    );
}

async function explain(place: ReadPlace, typed: string, flags: ExplainFlags, { paints, width }: Screen): Promise<void> {
  const { policy } = await optionsFromFlags(flags, { warn: () => {} });
  const artifact = await place.store.find(await resolveId(place, typed), place.scope);
  if (artifact === null) throw new SpillwayError("unknown-artifact", `${typed} was removed just now`);
  const { id, bytes, command, exitCode } = artifact;
  const tool = flags.tool ?? artifact.tool ?? "run_command";
  const spillway = await createSpillway({ store: null, ledger: null, policy, env: {}, redact: "off" });
  const { receipt } = await spillway.admit({
    tool,
    output: watched("reading", readArtifact(place, id, { from: 0, to: bytes })),
    explain: true,
    ...callOptions(flags),
    ...savedMade(command),
    ...(exitCode !== null && { exitCode }),
  });
  if (flags.json) return writeJson(receipt);
  const { strategy, total, shown, cutBy, explained = [] } = receipt;
  const size = `${counted(total.lines, "line")}, ${sizeText(total.bytes)}`;
  const kept = `${counted(shown.lines, "line")}, ${sizeText(shown.bytes)}`;
  const became =
    cutBy === null ? `all of it is shown, ${size}` : `cut by ${cutBy} with strategy ${strategy}, ${size} -> ${kept}`;
  const line = `${id} of ${tool}: ${became}\n`;
  await writeOut((width === null ? line : wrapped(line, width)).replace(id, paints.bold));
  await writeOut(explainText(explained, paints, width));
}
