import { badInput } from "../../../errors.ts";
import { counted } from "../../../values.ts";
import { sizeText, timeText } from "../amounts.ts";
import type { Command } from "../command.ts";
import { addPlaceFlag, type Place, type PlaceFlags, withPlace } from "../open-place.ts";
import { EXIT_NO } from "../tell.ts";
import { writeJson, writeOut } from "../write-out.ts";

interface SpoolFlags extends PlaceFlags {
  upload?: boolean;
  json?: boolean;
}

/** `spillway spool`: what waits on this machine for its upload. */
export function addSpoolCommand(program: Command): void {
  addPlaceFlag(program.command("spool").description("say what waits on this machine for its upload to the bucket"))
    .option("--upload", "try to upload it now")
    .option("--json", "print one JSON object, { artifacts, bytes, oldestMs, fault ... }")
    .notes(`
Outputs are saved on this machine first, and uploaded as soon as the bucket and the ledger take them. A process that
stays, such as serve, tries again by itself. With --upload the exit code is 1 if something still waits.

Example:
  spillway spool --upload`)
    .action((flags: SpoolFlags) => withPlace(flags, (place) => printSpool(place, flags)));
}

async function printSpool({ spool }: Place, { upload, json }: SpoolFlags): Promise<void> {
  if (spool === undefined) {
    throw badInput("nothing waits for an upload where outputs are kept in a folder; --store names a bucket");
  }
  if (upload) await spool.upload();
  const state = await spool.state();
  const { artifacts, bytes, oldestMs, fault } = state;
  if (upload && artifacts > 0) process.exitCode = EXIT_NO;
  if (json) return writeJson(state);
  const since = oldestMs === null ? "" : `, the oldest since ${timeText(oldestMs)}`;
  const why = fault === null ? "" : `the last upload failed: ${fault}\n`;
  const waits = artifacts === 1 ? "waits" : "wait";
  await writeOut(`${counted(artifacts, "artifact")} (${sizeText(bytes)}) ${waits} here${since}\n${why}`);
}
