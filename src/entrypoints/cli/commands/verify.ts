import type { Command } from "commander";
import { counted } from "../../../values.ts";
import { sizeText } from "../amounts.ts";
import { addPlaceFlag, type PlaceFlags, type ReadPlace, readPlace } from "../open-place.ts";
import { withStatus } from "../status-line.ts";
import { writeJson, writeOut } from "../write-out.ts";

interface VerifyFlags extends PlaceFlags {
  json?: boolean;
}

/** The exit code if something is damaged or missing. */
const EXIT_DAMAGED = 1;

/** `spillway verify`: reads every saved byte and compares hashes. */
export function addVerifyCommand(program: Command): void {
  addPlaceFlag(program.command("verify").description("read every saved byte and compare it with its hash"))
    .option("--json", "print one JSON object, { checked, damaged, missing, orphaned ... }")
    .addHelpText("after", "\nEnds with 1 if something is damaged or missing.\n\nExample:\n  spillway verify")
    .action((flags: VerifyFlags) => readPlace(flags, (place) => verify(place, flags)));
}

async function verify({ store }: ReadPlace, { json }: VerifyFlags): Promise<void> {
  const report = await withStatus("reading what is saved", () => store.verify());
  const bad = [...report.damaged, ...report.missing];
  if (bad.length > 0) process.exitCode = EXIT_DAMAGED;
  if (json) return writeJson(report);
  const lines = [
    ...bad.map(({ id, reason }) => `${id}: ${reason}`),
    ...report.orphaned.map((path) => `${path}: belongs to nothing; gc removes it after a while`),
    `${counted(report.checked, "artifact")}, ${sizeText(report.checkedBytes)}: ${bad.length === 0 ? "all as they were saved" : `${bad.length} damaged or missing`}`,
  ];
  await writeOut(lines.map((line) => `${line}\n`).join(""));
}
