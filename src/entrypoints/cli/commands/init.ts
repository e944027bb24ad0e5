import { existsSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { Argument } from "commander";
import { badInput } from "../../../errors.ts";
import type { Agent, HookFile, Whose } from "../../hook/agent.ts";
import { AGENT_NAMES, loadAgent } from "../../hook/agents/index.ts";
import type { Command } from "../command.ts";
import { backupOf, describeChange, type FileChange, planChange, writeChange } from "../init/change-file.ts";
import { findAgents, whyNotCallable, whyNotHere } from "../init/find-agents.ts";
import { tell } from "../tell.ts";
import { writeOut } from "../write-out.ts";

interface InitFlags {
  list?: boolean;
  user?: boolean;
  project?: boolean;
  wrapCommands?: boolean;
  remove?: boolean;
  yes?: boolean;
  dryRun?: boolean;
}

const ALL = "all";
const MCP = "mcp";

/** `spillway init`: writes agents' config. */
export async function addInitCommand(program: Command): Promise<void> {
  const agents = await Promise.all(AGENT_NAMES.map(loadAgent));
  const agent = new Argument("[agent]", "all: every agent that is here; mcp: MCP servers; none: writes a config");
  agent.argChoices = [...AGENT_NAMES, ALL, MCP]; // for help and completions; a wrong name is told by the code that reads it
  program
    .command("init")
    .description(
      "set Spillway up in an agent: shows the change, asks, and writes it; without an agent, writes a spillway.yaml",
    )
    .addArgument(agent)
    .option("--list", "say which agents are here, and where Spillway is set up")
    .option("--user", "for all your projects, not only this one")
    .option("--project", "for this project only (the default; for mcp both are)")
    .option("--wrap-commands", 'also put commands under "spillway run": keeps what the agent itself would cut')
    .option("--no-wrap-commands", "no longer do that")
    .option("--remove", "take out what was put in")
    .option("--dry-run", "only show the change")
    .option("-y, --yes", "do not ask")
    .notes(`
What was in a file stays, comments too. The file as it was is kept beside it, with .before-spillway after its name, until
--remove puts it back. If you changed other settings meanwhile, --remove takes out only what init wrote and leaves that copy.
What an earlier init has set up stays, unless a flag says otherwise.

${agents.map(({ about }) => about).join("\n\n")}

mcp: puts "spillway mcp --" before every MCP server that these agents start, in all their files. The first one of each agent
offers recall and search. Servers that are reached over HTTP stay as they are.

Examples:
  spillway init
  spillway init --list
  spillway init claude-code
  spillway init all --user --yes
  spillway init codex --user --wrap-commands
  spillway init mcp --dry-run
  spillway init claude-code --remove`)
    .action(setUp);
}

async function setUp(name: string | undefined, flags: InitFlags): Promise<void> {
  if (flags.user && flags.project) throw badInput("say either --user or --project, not both");
  if (flags.list) return list();
  if (name === undefined) {
    if (!process.stdin.isTTY || flags.remove) {
      throw badInput(
        `say which agent: ${AGENT_NAMES.join(", ")}, ${ALL} or ${MCP}; --list tells which are here. On a terminal, ` +
          "init without an agent asks three questions and writes a spillway.yaml",
      );
    }
    const { askConfig } = await import("../init/ask-config.ts");
    return askConfig(flags);
  }
  if (name !== ALL && name !== MCP && !AGENT_NAMES.includes(name))
    throw badInput(`there is no set-up for "${name}"; known are ${AGENT_NAMES.join(", ")}, ${ALL} and ${MCP}`);
  const missing = flags.remove ? null : whyNotCallable();
  if (missing !== null) tell(missing);
  if (name === MCP) return setUpServers(flags);
  if (name === ALL) return setUpHooks(await findAgents(), true, flags);
  const agent = await loadAgent(name);
  const absent = flags.remove ? null : whyNotHere(agent);
  if (absent !== null) tell(`${name} was not found here: ${absent}. The hooks work once it is installed`);
  await setUpHooks([agent], false, flags);
}

async function setUpHooks(agents: Agent[], isAll: boolean, flags: InitFlags): Promise<void> {
  const whose: Whose = flags.user ? "user" : "project";
  const isRemoval = flags.remove ?? false;
  if (agents.length === 0) return tell(`no agent is here; known are ${AGENT_NAMES.join(", ")}`);
  const { planHooks } = await import("../init/plan-hooks.ts");
  const planned = agents.map((agent) => {
    const wrapCommands = isAll && agent.whyUnwrapped !== undefined ? undefined : flags.wrapCommands;
    const file = agent.hooks(whose, { wrapCommands: false });
    return { agent, file, change: planHooks(agent, whose, { ...flags, wrapCommands }) };
  });
  const changes = planned.flatMap(({ change }) => change ?? []);
  for (const { file, change } of planned) {
    if (change !== null) continue;
    const isForeign = "text" in file && existsSync(file.path);
    const left = isForeign ? "stays: spillway init did not write it" : "has nothing of ours";
    tell(`${file.path} ${isRemoval ? left : "is as it should be"}`);
  }
  if (!(await isWanted(changes, flags))) return;
  for (const { agent, file, change } of planned) {
    if (change !== null) write(change, isRemoval);
    const { file: more, note } = (await agent.afterwards?.(file.path, isRemoval)) ?? {};
    const next = more === undefined ? null : planChange(more.path, "user", more.change);
    if (next !== null) {
      await writeOut(describeChange(next));
      write(next, isRemoval);
    }
    if (note !== undefined) tell(note);
  }
}

async function setUpServers(flags: InitFlags): Promise<void> {
  const whoses: Whose[] = flags.user ? ["user"] : flags.project ? ["project"] : ["user", "project"];
  const agents = await Promise.all(AGENT_NAMES.map(loadAgent));
  const { offersIn, withoutProxy, withProxy } = await import("../init/mcp-servers.ts");
  const changes: FileChange[] = [];
  for (const agent of agents) {
    // An agent starts the servers of the user in every project, so one of them is enough to offer recall and search.
    let isOffered = false;
    for (const whose of ["user", "project"] as const) {
      for (const file of agent.mcpFiles(whose).filter(({ path }) => existsSync(path))) {
        const isAsked = whoses.includes(whose);
        let remote: string[] = [];
        const change = planChange(file.path, whose, (text) => {
          if (flags.remove) return isAsked ? withoutProxy(text, file).text : text;
          const made = withProxy(text, file, isOffered);
          isOffered = isAsked ? made.offers : isOffered || offersIn(text, file);
          ({ remote } = made);
          return isAsked ? made.text : text;
        });
        if (remote.length > 0 && isAsked)
          tell(`${file.path}: left as they are, since they are reached over HTTP: ${remote.join(", ")}`);
        if (change !== null) changes.push(change);
      }
    }
  }
  if (changes.length === 0)
    return tell(flags.remove ? "no MCP server has our proxy" : "there is no MCP server without our proxy");
  if (!(await isWanted(changes, flags))) return;
  for (const change of changes) write(change, flags.remove ?? false);
}

/** Shows the changes, and asks if they should be made. */
async function isWanted(changes: FileChange[], flags: InitFlags): Promise<boolean> {
  for (const change of changes) await writeOut(describeChange(change));
  if (flags.dryRun) {
    await writeOut("Nothing was written.\n");
    return false;
  }
  if (changes.length === 0 || flags.yes) return true;
  if (!process.stdin.isTTY) {
    throw badInput("nobody is there to ask: add --yes to write this, or --dry-run to only see it");
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const reply = await terminal.question("Write this? [y/N] ");
  terminal.close();
  const isYes = /^y(es)?$/i.test(reply.trim());
  if (!isYes) tell("nothing was changed");
  return isYes;
}

function write(change: FileChange, isRemoval: boolean): void {
  writeChange(change, isRemoval);
  const isWritten = `${change.path} is ${change.after === "" ? "removed" : "written"}`;
  const backup = backupOf(change.path);
  tell(existsSync(backup) ? `${isWritten}; as it was: ${backup}` : isWritten);
}

async function list(): Promise<void> {
  const { hasHooks } = await import("../init/plan-hooks.ts");
  const here = await findAgents();
  for (const name of AGENT_NAMES) {
    const agent = await loadAgent(name);
    if (!here.includes(agent)) {
      await writeOut(`${name}: not here\n`);
      continue;
    }
    await writeOut(`${name}\n`);
    for (const [whose, words] of [
      ["user", "all projects"],
      ["project", "this project"],
    ] as const) {
      const file = agent.hooks(whose, { wrapCommands: false });
      await writeOut(`  ${words}: ${stateOf(file, hasHooks)} ${file.path}\n`);
    }
  }
}

function stateOf(file: HookFile, hasHooks: (file: HookFile) => boolean): string {
  try {
    if (hasHooks(file)) return "set up in";
    return existsSync(file.path) ? "not set up; init would change" : "not set up; init would write";
  } catch (error) {
    return `cannot be read (${error instanceof Error ? error.message : String(error)}):`;
  }
}
