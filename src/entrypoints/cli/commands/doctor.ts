import { existsSync } from "node:fs";
import { access, constants, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { within } from "../../../deadline.ts";
import { messageOf, SpillwayError } from "../../../errors.ts";
import { loadConfig } from "../../../index.ts";
import { counted, withoutUserInfo } from "../../../values.ts";
import { sizeText } from "../amounts.ts";
import type { Command } from "../command.ts";
import { sourceText } from "../config-values.ts";
import { addPlaceFlag, type PlaceFlags } from "../open-place.ts";
import { addScreenFlags, onScreen, type Paints, type ScreenFlags } from "../screen.ts";
import { withStatus } from "../status-line.ts";
import { EXIT_NO } from "../tell.ts";
import { VERSION } from "../version.ts";
import { writeJson, writeOut } from "../write-out.ts";

interface DoctorFlags extends PlaceFlags, ScreenFlags {}

/** What was found of one thing. `todo` says how to mend it; it is missing if all is well. */
interface Finding {
  about: string;
  found: string;
  state: "ok" | "note" | "wrong";
  todo?: string;
}

const ok = (about: string, found: string): Finding => ({ about, found, state: "ok" });
const note = (about: string, found: string, todo?: string): Finding => ({
  about,
  found,
  state: "note",
  ...(todo && { todo }),
});
const wrong = (about: string, found: string, todo?: string): Finding => ({
  ...note(about, found, todo),
  state: "wrong",
});

/** `spillway doctor`: looks at all that Spillway needs here, and says what to do. */
export function addDoctorCommand(program: Command): void {
  const command = program
    .command("doctor")
    .description("look at all that Spillway needs here, and say what is wrong and what to do");
  addScreenFlags(addPlaceFlag(command))
    .option("--json", "print one JSON object, { findings }")
    .notes(`
Nothing is changed, except that a shared database is opened as every command does, which brings its tables to the newest
version. Addresses that are asked are those of the ledger and the store, and of a gateway on this machine if a variable such as
ANTHROPIC_BASE_URL names one. Ends with 1 if something is wrong.

Examples:
  spillway doctor
  spillway doctor --json | jq '.findings[] | select(.state != "ok")'`)
    .action((flags: DoctorFlags) => onScreen(flags, ({ paints }) => examine(flags, paints)));
}

async function examine(flags: DoctorFlags, paints: Paints): Promise<void> {
  const findings = await withStatus("looking", async () => {
    const place = await lookAtPlace(flags);
    return [
      await lookAtNode(),
      ...place,
      ...(await lookAtShared(flags)),
      await lookAtRipgrep(),
      ...(await lookAtConfig()),
      ...(await lookAtAgents()),
      ...(await lookAtGateways()),
    ];
  });
  if (findings.some(({ state }) => state === "wrong")) process.exitCode = EXIT_NO;
  if (flags.json) return writeJson({ version: VERSION, findings });
  const signs = { ok: paints.green("ok   "), note: "note ", wrong: paints.red("WRONG") };
  for (const { about, found, state, todo } of findings)
    await writeOut(
      `${signs[state]} ${paints.bold(about)}: ${found}\n${todo === undefined ? "" : `      -> ${todo}\n`}`,
    );
}

async function lookAtNode(): Promise<Finding> {
  const what = `spillway ${VERSION}, Node ${process.versions.node}, ${process.platform} ${process.arch}`;
  const { loadDriver } = await import("../../../storage/local/sqlite-connection.ts");
  try {
    const builtIn: unknown = process.getBuiltinModule?.("node:sqlite" as "node:fs");
    const driver: unknown = await loadDriver();
    const which = driver === builtIn ? "SQLite of this Node" : "SQLite of @photostructure/sqlite";
    return ok("versions", `${what}, ${which}`);
  } catch (error) {
    return wrong("versions", `${what}, no SQLite`, messageOf(error));
  }
}

/** Below this the next large output may not fit. */
const LOW_DISK_BYTES = 1024 ** 3;
/** What statfs calls network file systems: NFS, SMB. SQLite's locks do not hold there. */
const NETWORK_TYPES = new Set([0x6969, 0xff534d42, 0xfe534d42, 0x517b]);

async function lookAtPlace(flags: DoctorFlags): Promise<Finding[]> {
  const [{ dataFolder, hasStore }, { options }] = await Promise.all([
    import("../../../storage/local/data-folder.ts"),
    loadConfig({ ownOnly: true, lenient: true }),
  ]);
  const dir = flags.dir ?? options.dir ?? dataFolder();
  // The nearest folder that is there: the others are made when something is saved.
  let there = dir;
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  const isStore = hasStore(dir);
  const found: Finding[] = [];
  const isWritable = await access(there, constants.W_OK).then(
    () => true,
    () => false,
  );
  const status = await stat(there);
  if (!isWritable || !status.isDirectory()) {
    const why = isWritable ? "is a file and no folder" : "cannot be written";
    const todo = `name another folder with SPILLWAY_DIR${isWritable ? "" : `, or let this user write to ${there}`}`;
    found.push(wrong("store", `${there} ${why}, so nothing can be saved in ${dir}`, todo));
  } else if (isStore && process.platform !== "win32" && (status.mode & 0o077) !== 0) {
    found.push(wrong("store", `${dir} can be read by other users of this machine`, `chmod 700 ${dir}`));
  } else if (!isStore) found.push(ok("store", `${dir}: nothing is saved there yet`));
  else found.push(await openedStore(dir));
  const { bavail, bsize, type } = await statfs(there);
  const free = `${sizeText(bavail * bsize)} free for ${dir}`;
  const less = "make room, or let less stay: spillway gc --max-bytes 500MB";
  found.push(bavail * bsize < LOW_DISK_BYTES ? wrong("disk", free, less) : ok("disk", free));
  if (NETWORK_TYPES.has(type)) {
    const todo = "name a folder on a local disk with SPILLWAY_DIR; machines share a store over PostgreSQL and S3";
    found.push(wrong("disk", `${dir} is on a network file system, where SQLite's locks do not hold`, todo));
  }
  return found;
}

async function openedStore(dir: string): Promise<Finding> {
  const { openLocal } = await import("../../../storage/local/open-local.ts");
  try {
    const { store, close } = await openLocal(dir, { readsOnly: true });
    try {
      const newest = await store.list({ scope: "local", max: MOST_LISTED });
      // Each session that saved the same has a row; the content is there once.
      const sizes = new Map(newest.map(({ id, bytes }) => [id, bytes]));
      const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
      const more = newest.length === MOST_LISTED ? " or more" : "";
      return ok("store", `${dir}: ${counted(sizes.size, "output")}${more}, ${sizeText(bytes)}${more}`);
    } finally {
      await close();
    }
  } catch (error) {
    // What a database says ends with what to do; an error of the system does not.
    const todo = SpillwayError.is(error) ? undefined : "move the folder away to begin anew";
    return wrong("store", messageOf(error), todo);
  }
}

const MOST_LISTED = 1000;

/** What machines share. An address may hold a password and is never shown as it is. */
async function lookAtShared(flags: DoctorFlags): Promise<Finding[]> {
  const { options } = await loadConfig({ ownOnly: true, lenient: true });
  const { SPILLWAY_LEDGER, SPILLWAY_STORE } = process.env;
  const ledger = flags.ledger || SPILLWAY_LEDGER || options.ledger;
  const store = flags.store || SPILLWAY_STORE || options.store;
  const look = async (about: string, ask: () => Promise<string>): Promise<Finding> => {
    try {
      return ok(about, `${await within(ask(), SHARED_MS, `asking the ${about}`)} answers`);
    } catch (error) {
      const todo = "until it answers, outputs wait on this machine: spillway spool. Check the address and the server";
      return wrong(about, messageOf(error), todo);
    }
  };
  const findings = [
    ledger && look("shared ledger", () => askLedger(ledger)),
    store && look("shared store", () => askStore(store)),
  ];
  if (store && !ledger) {
    const found = "a store in S3 needs a ledger in PostgreSQL beside it";
    return [wrong("shared ledger", found, "set SPILLWAY_LEDGER or --ledger")];
  }
  return (await Promise.all(findings)).filter((finding) => typeof finding === "object");
}

const SHARED_MS = 5000;

async function askLedger(address: string): Promise<string> {
  const { openPostgres } = await import("../../../storage/remote/postgres.ts");
  const { all } = await import("../../../storage/sql.ts");
  const { place, kysely, read, close } = await openPostgres(address);
  try {
    await read(() => all(kysely.selectFrom("versions").select("version").limit(1)));
    return place;
  } finally {
    await close();
  }
}

async function askStore(address: string): Promise<string> {
  const { openBucket } = await import("../../../storage/remote/bucket.ts");
  const bucket = await openBucket(address);
  await bucket.list().next();
  return bucket.place;
}

async function lookAtRipgrep(): Promise<Finding> {
  const { loadSearcher } = await import("../../../drivers/searcher.ts");
  const { name } = await loadSearcher();
  if (name === "ripgrep") return ok("search", "by ripgrep");
  return note("search", "without ripgrep: it takes longer", "npm install @vscode/ripgrep");
}

async function lookAtConfig(): Promise<Finding[]> {
  const { sources, ignored, warnings } = await loadConfig({ lenient: true });
  const names = [...ignored.map((file) => `${sourceText(file)} (ignored)`), ...sources.map(sourceText)].join(", ");
  const found = names === "" ? "no config file and no variable: the defaults hold" : names;
  const mend = "mend it, then: spillway config check";
  return [ok("config", found), ...warnings.map((warning) => wrong("config", warning, mend))];
}

async function lookAtAgents(): Promise<Finding[]> {
  const [{ AGENT_NAMES, loadAgent }, { hasHooks }, { findAgents, howToInstall, whyNotFound }] = await Promise.all([
    import("../../hook/agents/index.ts"),
    import("../init/plan-hooks.ts"),
    import("../init/find-agents.ts"),
  ]);
  const findings: Finding[] = [];
  const here = await findAgents();
  const whyNotCalled = whyNotFound();
  for (const name of AGENT_NAMES) {
    const agent = await loadAgent(name);
    if (!here.includes(agent)) continue;
    const set: string[] = [];
    const unread: Finding[] = [];
    for (const whose of ["user", "project"] as const) {
      const file = agent.hooks(whose, { wrapCommands: false });
      try {
        if (hasHooks(file)) set.push(file.path);
      } catch (error) {
        const found = `${file.path} cannot be read: ${messageOf(error)}`;
        unread.push(wrong(name, found, "mend that file: its agent cannot read it either"));
      }
    }
    findings.push(...unread);
    const hooks = `hooks in ${set.join(", ")}`;
    if (set.length === 0) {
      if (unread.length === 0) findings.push(note(name, "here, without our hooks", `spillway init ${name}`));
    } else if (whyNotCalled === null) findings.push(ok(name, hooks));
    else findings.push(wrong(name, `${hooks} call "spillway", which ${whyNotCalled}`, howToInstall()));
  }
  return findings;
}

const BASE_VARIABLES = ["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"];
const ANSWER_MS = 2000;

async function lookAtGateways(): Promise<Finding[]> {
  const look = async (variable: string): Promise<Finding[]> => {
    const address = process.env[variable];
    if (!address) return [];
    if (!URL.canParse(address))
      return [wrong(variable, `${withoutUserInfo(address)} is no address`, "spillway serve prints what to set")];
    const { protocol, host, hostname } = new URL(address);
    if (!/^(127\.|localhost$|\[::1\]$)/.test(hostname))
      return [note(variable, `${host}: not asked, since it is elsewhere`)];
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer = await fetch(`${protocol}//${host}/healthz`, { signal }).catch(() => null);
    if (answer?.ok) return [ok(variable, `${host} answers`)];
    return [wrong(variable, `nobody answers at ${host}`, "start the gateway: spillway serve")];
  };
  return (await Promise.all(BASE_VARIABLES.map(look))).flat();
}
