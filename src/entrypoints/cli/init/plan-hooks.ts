import { existsSync } from "node:fs";
import { SpillwayError } from "../../../errors.ts";
import type { Agent, HookFile, Whose } from "../../hook/agent.ts";
import { backupOf, type FileChange, planChange, readText } from "./change-file.ts";
import { type HookRows, hookedEvents, withHooks, withoutHooks } from "./hook-rows.ts";

/** What was asked for. What is left out stays as an earlier set-up left it. */
export interface HookWish {
  wrapCommands?: boolean | undefined;
  remove?: boolean | undefined;
}

/** Plans an agent's hooks; null if they are as they should be. */
export function planHooks(agent: Agent, whose: Whose, { wrapCommands, remove }: HookWish): FileChange | null {
  if (wrapCommands && agent.whyUnwrapped !== undefined)
    throw new SpillwayError("bad-input", `--wrap-commands is not for this agent: ${agent.whyUnwrapped}`);
  const file = agent.hooks(whose, { wrapCommands: wrapCommands ?? false });
  const { path } = file;
  if ("text" in file) return planChange(path, () => (remove ? "" : file.text));
  if (remove) return planChange(path, (text) => undone(agent, whose, text));
  return planChange(path, (text) => {
    const added = withHooks(text, file);
    // Hooks of an event that this choice does not have were set by another one.
    return wrapCommands === false ? withoutHooks(added, file.hasComments, (event) => !(event in file.rows)) : added;
  });
}

/** Whether an agent's file has hooks of ours. */
export function hasHooks(file: HookFile): boolean {
  if (!existsSync(file.path)) return false;
  return "text" in file || hookedEvents(readText(file.path), file.hasComments).length > 0;
}

/** The settings without our hooks: to the byte as they were, if nobody else has changed them since. */
function undone(agent: Agent, whose: Whose, text: string): string {
  const [file, wrapped] = [false, true].map((wrapCommands) => agent.hooks(whose, { wrapCommands })) as [
    HookRows,
    HookRows,
  ];
  if (hookedEvents(text, file.hasComments).length === 0) return text;
  const rest = withoutHooks(text, file.hasComments);
  const backup = backupOf(file.path);
  if (!existsSync(backup)) return isBare(rest, file) ? "" : rest;
  const before = readText(backup);
  const isOnlyOurs = [file, wrapped].some((each) => withHooks(before, each) === text) || sameWords(before, rest);
  return isOnlyOurs ? before : rest;
}

/** Whether nothing is left but what we put in where there was no file. */
function isBare(text: string, { base = {} }: HookRows): boolean {
  return sameWords(text, JSON.stringify(base));
}

function sameWords(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => text.replaceAll(/\s/g, ""));
  return a === b;
}
