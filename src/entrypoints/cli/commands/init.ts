import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { messageOf, SpillwayError } from "../../../errors.ts";
import { tell } from "../tell.ts";
import { writeOut } from "../write-out.ts";

interface InitFlags {
  user?: boolean;
  wrapCommands?: boolean;
  remove?: boolean;
  yes?: boolean;
  dryRun?: boolean;
}

const AGENTS = ["claude-code"];

/** `spillway init`: writes an agent's config. */
export function addInitCommand(program: Command): void {
  program
    .command("init")
    .description("set Spillway up in an agent: shows the change, asks, and writes it")
    .argument("<agent>", `which agent: ${AGENTS.join(", ")}`)
    .option("--user", "for all your projects (~/.claude/settings.json), not only this one (.claude/settings.json)")
    .option(
      "--wrap-commands",
      'also put Bash commands under "spillway run", in the mode bypassPermissions and where no deny or ask rule could match: keeps what the agent itself would cut',
    )
    .option("--remove", "take out what was put in")
    .option("--dry-run", "only show the change")
    .option("-y, --yes", "do not ask")
    .addHelpText(
      "after",
      `
What was in the file stays; the file as it was is kept beside it, as settings.json.before-spillway, until --remove puts
it back. If other settings were changed meanwhile, --remove takes out only its own and leaves that copy.

Examples:
  spillway init claude-code
  spillway init claude-code --user --wrap-commands --yes
  spillway init claude-code --remove`,
    )
    .action(setUp);
}

async function setUp(agent: string, flags: InitFlags): Promise<void> {
  if (!AGENTS.includes(agent)) {
    throw new SpillwayError("bad-input", `there is no set-up for "${agent}"; known are ${AGENTS.join(", ")}`);
  }
  const { withHooks, withoutHooks } = await import("../../hook/claude-settings.ts");
  const path = join(flags.user ? homedir() : process.cwd(), ".claude", "settings.json");
  const backup = `${path}.before-spillway`;
  const before = existsSync(path) ? readFileSync(path, "utf8") : "";
  const settings = readSettings(path, before);
  const changed = flags.remove
    ? withoutHooks(settings)
    : withHooks(settings, { wrapCommands: flags.wrapCommands ?? false });
  if (isSame(changed, settings)) return tell(`${path} is as it should be`);
  const undone = flags.remove ? undoneText(backup, changed) : null;
  const after = undone ?? `${JSON.stringify(changed, null, 2)}\n`;
  await writeOut(`${path}\n${lineChange(before, after)}`);
  if (flags.dryRun) return;
  if (!flags.yes && !(await isAgreed())) return tell("nothing was changed");
  // A file with our hooks in it is not what was there before us.
  if (!flags.remove && existsSync(path) && isSame(withoutHooks(settings), settings)) copyFileSync(path, backup);
  write(path, after);
  if (undone !== null) rmSync(backup, { force: true });
  const isWritten = `${path} is ${after === "" ? "removed" : "written"}`;
  tell(existsSync(backup) ? `${isWritten}; as it was: ${backup}` : isWritten);
}

/** The file as it was before us, empty if there was none; null if it has been changed since, other than by us. */
function undoneText(backup: string, without: Record<string, unknown>): string | null {
  if (!existsSync(backup)) return isSame(without, {}) ? "" : null;
  try {
    const text = readFileSync(backup, "utf8");
    return isSame(readSettings(backup, text), without) ? text : null;
  } catch {
    return null;
  }
}

function isSame(one: Record<string, unknown>, other: Record<string, unknown>): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function readSettings(path: string, text: string): Record<string, unknown> {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) throw new Error("it holds no object");
    const { hooks = {} } = value;
    if (!isObject(hooks)) throw new Error(`hooks must be an object; got ${JSON.stringify(hooks)}`);
    for (const [event, rows] of Object.entries(hooks))
      if (!Array.isArray(rows)) throw new Error(`hooks.${event} must be a list; got ${JSON.stringify(rows)}`);
    return value;
  } catch (error) {
    throw new SpillwayError("bad-input", `${path} is not read and not changed: ${messageOf(error)}`);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function isAgreed(): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new SpillwayError(
      "bad-input",
      "nobody is there to ask: add --yes to write this, or --dry-run to only see it",
    );
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const reply = await terminal.question("Write this? [y/N] ");
  terminal.close();
  return /^y(es)?$/i.test(reply.trim());
}

/** Nothing to write is no file. */
function write(path: string, after: string): void {
  if (after === "") return rmSync(path, { force: true });
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, after);
  renameSync(temporary, path);
}

/** The lines that go and come, those at both ends left out that stay. */
function lineChange(before: string, after: string): string {
  const [old, fresh] = [before, after].map((text) => text.split("\n").slice(0, text === "" ? 0 : undefined)) as [
    string[],
    string[],
  ];
  let start = 0;
  while (start < old.length && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < Math.min(old.length, fresh.length) - start && old.at(-1 - end) === fresh.at(-1 - end)) end++;
  const rows = [
    ...old.slice(start, old.length - end).map((line) => `- ${line}`),
    ...fresh.slice(start, fresh.length - end).map((line) => `+ ${line}`),
  ];
  return `${rows.join("\n")}\n`;
}
