import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { messageOf, SpillwayError } from "../../../errors.ts";
import type { SettingsFormat } from "../../hook/agent.ts";
import { AGENT_NAMES, loadAgent } from "../../hook/agents/index.ts";
import { tell } from "../tell.ts";
import { writeOut } from "../write-out.ts";

interface InitFlags {
  user?: boolean;
  wrapCommands?: boolean;
  remove?: boolean;
  yes?: boolean;
  dryRun?: boolean;
}

/** `spillway init`: writes an agent's config. */
export async function addInitCommand(program: Command): Promise<void> {
  const agents = await Promise.all(AGENT_NAMES.map(loadAgent));
  program
    .command("init")
    .description("set Spillway up in an agent: shows the change, asks, and writes it")
    .argument("<agent>", `which agent: ${AGENT_NAMES.join(", ")}`)
    .option("--user", "for all your projects, not only this one")
    .option("--wrap-commands", 'also put commands under "spillway run": keeps what the agent itself would cut')
    .option("--remove", "take out what was put in")
    .option("--dry-run", "only show the change")
    .option("-y, --yes", "do not ask")
    .addHelpText(
      "after",
      `
What was in the file stays; the file as it was is kept beside it, with .before-spillway after its name, until --remove puts
it back. If other settings were changed meanwhile, --remove takes out only its own and leaves that copy.

${agents.map(({ about }) => about).join("\n\n")}

Examples:
  spillway init claude-code
  spillway init claude-code --user --wrap-commands --yes
  spillway init claude-code --remove`,
    )
    .action(setUp);
}

async function setUp(name: string, flags: InitFlags): Promise<void> {
  const { settings, settingsPath } = await loadAgent(name);
  const path = settingsPath(flags.user ? "user" : "project");
  const backup = `${path}.before-spillway`;
  const before = existsSync(path) ? readFileSync(path, "utf8") : "";
  const unchanged = normalized(settings, path, before);
  const changed = flags.remove
    ? settings.withoutHooks(before)
    : settings.withHooks(before, { wrapCommands: flags.wrapCommands ?? false });
  if (changed === unchanged) return tell(`${path} is as it should be`);
  const undone = flags.remove ? undoneText(settings, backup, changed) : null;
  const after = undone ?? changed;
  await writeOut(`${path}\n${lineChange(before, after)}`);
  if (flags.dryRun) return;
  if (!flags.yes && !(await isAgreed())) return tell("nothing was changed");
  // A file with our hooks in it is not what was there before us.
  if (!flags.remove && existsSync(path) && settings.withoutHooks(before) === unchanged) copyFileSync(path, backup);
  write(path, after);
  if (undone !== null) rmSync(backup, { force: true });
  const isWritten = `${path} is ${after === "" ? "removed" : "written"}`;
  tell(existsSync(backup) ? `${isWritten}; as it was: ${backup}` : isWritten);
}

/** The file as it was before us, empty if there was none; null if it has been changed since, other than by us. */
function undoneText(settings: SettingsFormat, backup: string, without: string): string | null {
  try {
    const text = existsSync(backup) ? readFileSync(backup, "utf8") : "";
    return settings.normalize(text) === without ? text : null;
  } catch {
    return null;
  }
}

function normalized(settings: SettingsFormat, path: string, text: string): string {
  try {
    return settings.normalize(text);
  } catch (error) {
    throw new SpillwayError("bad-input", `${path} is not read and not changed: ${messageOf(error)}`);
  }
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

/** Writes the file under another name and renames it. If there is nothing to write, the file is removed. */
function write(path: string, after: string): void {
  if (after === "") return rmSync(path, { force: true });
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, after);
  renameSync(temporary, path);
}

/** The lines that go and those that come, without the lines at both ends that stay. */
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
