import { existsSync } from "node:fs";
import { SpillwayError } from "../../../errors.ts";
import type { Agent, HookFile, Whose } from "../../hook/agent.ts";
import { type FileChange, planChange, readBackup, readText } from "./change-file.ts";
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
  if ("text" in file) {
    // A file of somebody else is replaced and kept, and is never removed.
    const change = planChange(path, whose, (text) => {
      if (!remove) return file.text;
      return isOurText(text, file) ? (readBackup(path) ?? "") : text;
    });
    return change && { ...change, isOurs: isOurText(change.before, file) };
  }
  if (remove) return planChange(path, whose, (text) => undone(agent, whose, text));
  return planChange(path, whose, (text) => {
    const added = withHooks(text, file);
    // Hooks of an event that this choice does not have were set by another one.
    return wrapCommands === false ? withoutHooks(added, file.hasComments, (event) => !(event in file.rows)) : added;
  });
}

/** Whether an agent's file has hooks of ours. */
export function hasHooks(file: HookFile): boolean {
  if (!existsSync(file.path)) return false;
  const text = readText(file.path);
  return "text" in file ? isOurText(text, file) : hookedEvents(text, file.hasComments).length > 0;
}

/** Whether a file begins with the line that ours begins with. */
function isOurText(text: string, ours: { text: string }): boolean {
  return text.split(/\r?\n/, 1)[0] === ours.text.split("\n", 1)[0];
}

/** The settings without our hooks: to the byte as they were, if nobody else has changed them since. */
function undone(agent: Agent, whose: Whose, text: string): string {
  const [file, wrapped] = [false, true].map((wrapCommands) => agent.hooks(whose, { wrapCommands })) as [
    HookRows,
    HookRows,
  ];
  if (hookedEvents(text, file.hasComments).length === 0) return text;
  const rest = withoutHooks(text, file.hasComments);
  const before = readBackup(file.path);
  if (before === null) return isBare(rest, file) ? "" : rest;
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
