import { counted } from "../../../values.ts";
import { sizeText } from "../amounts.ts";
import { type Command, writeLines } from "../command.ts";
import { addPlaceFlag, type PlaceFlags, type ReadPlace, readPlace } from "../open-place.ts";
import { withStatus } from "../status-line.ts";
import { EXIT_NO } from "../tell.ts";
import { writeJson } from "../write-out.ts";

interface VerifyFlags extends PlaceFlags {
  json?: boolean;
}

/** `spillway verify`: reads every saved byte and compares hashes. */
export function addVerifyCommand(program: Command): void {
  addPlaceFlag(program.command("verify").description("read every saved byte and compare it with its hash"))
    .option("--json", "print one JSON object, { checked, damaged, missing, orphaned ... }")
    .notes(`
Ends with 1 if something is damaged or missing.

Example:
  spillway verify`)
    .action((flags: VerifyFlags) => readPlace(flags, (place) => verify(place, flags)));
}

async function verify({ store }: ReadPlace, { json }: VerifyFlags): Promise<void> {
  const report = await withStatus("reading what is saved", () => store.verify());
  const bad = [...report.damaged, ...report.missing];
  if (bad.length > 0) process.exitCode = EXIT_NO;
  if (json) return writeJson(report);
  const lines = [
    ...bad.map(({ id, reason }) => `${id}: ${reason}`),
    ...report.orphaned.map((path) => `${path}: belongs to nothing; gc removes it after a while`),
    `${counted(report.checked, "artifact")}, ${sizeText(report.checkedBytes)}: ${bad.length === 0 ? "all as they were saved" : `${bad.length} damaged or missing`}`,
  ];
  await writeLines(lines);
}
