import { homedir } from "node:os";
import { Argument } from "commander";
import { badInput } from "../../../errors.ts";
import { type LoadedConfig, loadConfig } from "../../../index.ts";
import { counted, tried } from "../../../values.ts";
import type { Command } from "../command.ts";
import { type ConfigValue, policyValues, sourceText, writtenInFile } from "../config-values.ts";
import { addScreenFlags, onScreen, type Screen, type ScreenFlags } from "../screen.ts";
import { alignTable, cell } from "../table.ts";
import { EXIT_BAD_INPUT, tell } from "../tell.ts";
import { writeJson, writeOut } from "../write-out.ts";

interface ConfigFlags extends ScreenFlags {
  tool?: string;
}

const WHOSE = { project: "the project's file", user: "your own file", environment: "the environment" };

/** `spillway config`: which files count, what is wrong in them, and what they set. */
export function addConfigCommand(program: Command): void {
  const command = program
    .command("config")
    .description(
      "check: say which config files and variables are in force, and what is wrong in them; show: what they set",
    )
    .addArgument(new Argument("<check|show>", "what to do").choices(["check", "show"]))
    .argument("[file]", "a config file to read instead of those that would be read here");
  addScreenFlags(command)
    .option("--tool <name>", "with show: what holds for this tool")
    .option("--json", "print one JSON object, { sources, problems, notes } or { values, problems }")
    .notes(`
The exit code is 2 if anything is wrong. Other commands go on then: they say what is wrong, and leave it out. A note
is no mistake: such as a project's limit that has no effect, since a tighter one holds. show says of each value where
it comes from: a file, the environment, or the default. Flags of a command win over all of them.

Examples:
  spillway config check
  spillway config check ./spillway.yaml --json
  spillway config show
  spillway config show --tool run_command`)
    .action(async (action: "check" | "show", file: string | undefined, flags: ConfigFlags) => {
      if (action === "check" && flags.tool !== undefined)
        throw badInput("--tool goes with show: spillway config show --tool NAME");
      const loaded = await loadConfig({ lenient: true, tellsAll: true, file });
      await onScreen(flags, (screen) => (action === "show" ? show(loaded, flags, screen) : check(loaded, flags)));
      if (loaded.warnings.length > 0) process.exitCode = EXIT_BAD_INPUT;
    });
}

async function check(
  { sources, ignored, warnings: problems, notes }: LoadedConfig,
  { json }: ConfigFlags,
): Promise<void> {
  if (json) return writeJson({ sources: sources.map(({ kind, path }) => ({ kind, path })), problems, notes });
  const named = ({ kind, path }: (typeof ignored)[number]) => (path === null ? WHOSE[kind] : `${path}: ${WHOSE[kind]}`);
  const lines = [...ignored.map((file) => `${named(file)}, ignored`), ...sources.map(named)];
  await writeOut(`${(lines.length > 0 ? lines : ["no config file and no variable: the defaults hold"]).join("\n")}\n`);
  problems.forEach((problem) => tell(problem));
  notes.forEach((note) => tell(`note: ${note}`));
  tell(problems.length === 0 ? "nothing is wrong" : counted(problems.length, "problem"));
}

async function show(loaded: LoadedConfig, { tool, json }: ConfigFlags, { paints, width }: Screen): Promise<void> {
  const values = [...(tool === undefined ? await placeValues(loaded) : []), ...policyValues(loaded.sources, tool)];
  if (json) return writeJson({ values, problems: loaded.warnings });
  const rows = values.map((each) => {
    const { name, value } = writtenInFile(each);
    return [name, ...[value, each.from].map((text) => cell(width === null ? text : withTilde(text), MAX_VALUE_CHARS))];
  });
  const paint = (_text: string, row: number, column: number) =>
    row === 0 ? paints.bold : column === 2 && values[row - 1]?.from === "default" ? paints.dim : undefined;
  await writeOut(alignTable([["NAME", "VALUE", "FROM"], ...rows], new Set(), { width, cuts: [1, 2], paint }));
  loaded.warnings.forEach((problem) => tell(problem));
}

function withTilde(path: string): string {
  const home = tried(homedir);
  return home !== null && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** Enough for a path; one that is longer is cut. */
const MAX_VALUE_CHARS = 300;

/** What is kept, and where: only the user's own file and the environment say that. */
async function placeValues({ options, sources }: LoadedConfig): Promise<ConfigValue[]> {
  const { dataFolder } = await import("../../../storage/local/data-folder.ts");
  const file = sources.findLast(({ kind }) => kind === "user");
  const own = file === undefined ? "the environment" : sourceText(file);
  const value = (name: string, set: unknown, usual: string): ConfigValue =>
    set === undefined
      ? { name, value: usual, from: "default" }
      : { name, value: typeof set === "string" ? set : JSON.stringify(set), from: own };
  const dir = process.env["SPILLWAY_DIR"]
    ? { name: "dir", value: dataFolder(), from: "SPILLWAY_DIR" }
    : value("dir", options.dir, dataFolder());
  const { SPILLWAY_LEDGER, SPILLWAY_STORE } = process.env;
  const shared = (name: "ledger" | "store", variable: string | undefined, what: string): ConfigValue =>
    variable
      ? { name, value: what, from: `SPILLWAY_${name.toUpperCase()}` }
      : value(name, options[name] && what, "in dir");
  // Addresses and rules may have secrets in them. doctor names the server.
  return [
    dir,
    shared("ledger", SPILLWAY_LEDGER, "a PostgreSQL database"),
    shared("store", SPILLWAY_STORE, "a bucket"),
    value("events", options.events, "no file"),
    value("runs", options.runs, "no folder"),
    value("keep", options.keep, "cut"),
    value(
      "redact",
      typeof options.redact === "object"
        ? `${counted(options.redact.rules.length, "rule")} of your own`
        : options.redact,
      "on",
    ),
    value("retention", options.retention, "7 days, 10 GiB, 1 GiB a session"),
    value("summarizer", options.summarizer?.model, "none"),
  ];
}
