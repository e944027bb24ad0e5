import { badInput } from "../../../errors.ts";
import type { CopyReport } from "../../../storage/copy-store.ts";
import type { Local } from "../../../storage/local/open-local.ts";
import { counted } from "../../../values.ts";
import { sizeText } from "../amounts.ts";
import type { Command } from "../command.ts";
import { addPlaceFlag, openPlace, type PlaceFlags } from "../open-place.ts";
import { startStatus } from "../status-line.ts";
import { EXIT_NO, tell } from "../tell.ts";
import { writeJson, writeOut } from "../write-out.ts";

interface CopyFlags extends PlaceFlags {
  from?: string[];
  to?: string[];
  json?: boolean;
}

/** `spillway copy`: everything from one store to another. */
export function addCopyCommand(program: Command): void {
  const command = addPlaceFlag(
    program.command("copy").description("copy everything from one store to another, with its ids"),
  );
  command.options.find(({ long }) => long === "--scope")?.hideHelp();
  command
    .option("--from <places...>", "the store to copy: a folder, or a ledger's address, with a bucket's or without")
    .option("--to <places...>", "the store that gets it, in the same form")
    .option("--json", "print one JSON object, { artifacts, bytes, events, left ... }")
    .notes(`
A place is a folder, or postgres://... for the ledger and s3://... for the outputs. The one that is not named is the one that
other commands use, so that a password can stay in SPILLWAY_LEDGER. Artifacts, events, sums, sessions and frozen forms of every
scope are copied. Nothing is removed on either side. If a copy was ended, start it again: it goes on where it was. A copy
that is repeated later adds what is new. The exit code is 1 if an output could not be read.

Examples:
  spillway copy --from ~/.local/share/spillway --to postgres://me@db.example/spillway s3://outputs/team
  SPILLWAY_LEDGER=postgres://... SPILLWAY_STORE=s3://... spillway copy --from /var/lib/spillway
  spillway copy --to /backup/spillway`)
    .action(copy);
}

async function copy(flags: CopyFlags): Promise<void> {
  const { from, to, json, ...usual } = flags;
  if (flags.scope !== undefined) {
    throw badInput(
      `copy copies every scope, so it does not take --scope; "spillway export --scope ${flags.scope}" writes one`,
    );
  }
  if (from === undefined && to === undefined) {
    throw badInput("say what to copy: --from a store, --to a store, or both");
  }
  const source = await openSide("--from", from, usual);
  try {
    const target = await openSide("--to", to, usual, source.store.secret);
    try {
      const report = await copyAll(source, target);
      if (report.left.length > 0) process.exitCode = EXIT_NO;
      for (const { id, reason } of json ? [] : report.left) tell(`${id} is left: ${reason}`);
      await (json ? writeJson(report) : writeOut(`${said(report)}\n`));
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function copyAll(source: Local, target: Local): Promise<CopyReport> {
  const { copyStore } = await import("../../../storage/copy-store.ts");
  let last = "";
  const status = startStatus((seconds) => `copying ${seconds}, ${last}`);
  try {
    await source.spool?.upload();
    return await copyStore(source, target, (report) => {
      last = said(report);
      status.tick();
    });
  } finally {
    status.stop();
  }
}

function said({ artifacts, bytes, alreadyThere, events, sessions, left }: CopyReport): string {
  const parts = [`${counted(artifacts, "artifact")} (${sizeText(bytes)})`, counted(events, "event")];
  if (sessions > 0) parts.push(counted(sessions, "session"));
  if (alreadyThere > 0) parts.push(`${alreadyThere} there already`);
  if (left.length > 0) parts.push(`${left.length} left`);
  return parts.join(", ");
}

/** Opens the store that words name, or the usual one. Nothing is removed from it to make room. */
async function openSide(
  flag: string,
  words: string[] | undefined,
  usual: PlaceFlags,
  firstSecret?: Uint8Array,
): Promise<Local> {
  const how = { retention: "off" as const, firstSecret };
  if (words === undefined) return openPlace(usual, how);
  const [{ openLocal }, { hasStore }] = await Promise.all([
    import("../../../storage/local/open-local.ts"),
    import("../../../storage/local/data-folder.ts"),
  ]);
  const { dir, ledger, store } = named(flag, words);
  // A folder that is misspelt must not become an empty store that is copied.
  if (firstSecret === undefined && ledger === undefined && !hasStore(dir)) {
    throw badInput(`there is no store in ${dir}: nothing was ever saved there. Check ${flag}`);
  }
  return openLocal(dir, { ...how, ledger, store });
}

/** Reads where a store is: each word is known by how it begins. */
function named(flag: string, words: string[]): Pick<PlaceFlags, "dir" | "ledger" | "store"> {
  const flags: Pick<PlaceFlags, "dir" | "ledger" | "store"> = {};
  for (const word of words) {
    const kind = /^postgres(ql)?:/i.test(word) ? "ledger" : /^s3:/i.test(word) ? "store" : "dir";
    if (flags[kind] !== undefined || word === "") {
      throw badInput(`${flag} takes at most a folder, a ledger's address and a bucket's address`);
    }
    flags[kind] = word;
  }
  return flags;
}
