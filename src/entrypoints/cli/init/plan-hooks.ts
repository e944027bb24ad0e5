import { existsSync } from "node:fs";
import { badInput } from "../../../errors.ts";
import { isRecord } from "../../../values.ts";
import type { Agent, HookFile, Whose } from "../../hook/agent.ts";
import { type FileChange, planChange, readBackup, readText } from "./change-file.ts";
import { JsonText } from "./edit-json.ts";

/** What was asked for. What is left out stays as an earlier set-up left it. */
export interface HookWish {
  wrapCommands?: boolean | undefined;
  remove?: boolean | undefined;
}

/** Plans an agent's hooks; null if they are as they should be. */
export function planHooks(agent: Agent, whose: Whose, { wrapCommands, remove }: HookWish): FileChange | null {
  if (wrapCommands && agent.whyUnwrapped !== undefined)
    throw badInput(`--wrap-commands is not for this agent: ${agent.whyUnwrapped}`);
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

/** Returns true if an agent's file has hooks of ours. */
export function hasHooks(file: HookFile): boolean {
  if (!existsSync(file.path)) return false;
  const text = readText(file.path);
  return "text" in file ? isOurText(text, file) : hookedEvents(text, file.hasComments).length > 0;
}

/** Returns true if a file begins with the line that ours begins with. */
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

/** Returns true if nothing is left but what we put in where there was no file. */
function isBare(text: string, { base = {} }: HookRows): boolean {
  return sameWords(text, JSON.stringify(base));
}

function sameWords(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => text.replaceAll(/\s/g, ""));
  return a === b;
}

/** Hooks in a settings file that others write to as well. */
export type HookRows = Extract<HookFile, { rows: object }>;

/** The settings with our hooks. What is already there of ours stays as it is, whatever flags it has been given. */
export function withHooks(text: string, { rows, base = {}, hasComments }: HookRows): string {
  const json = read(text, hasComments);
  for (const [key, value] of Object.entries(base)) if (json.value(key) === undefined) json.add([key], value);
  for (const [event, row] of Object.entries(rows))
    if (!rowsOf(json, event).some(isOurs)) json.add(["hooks", event, 0], row);
  return json.toString();
}

/** The settings without our hooks, or without those of some events. A row, a list or `hooks` that had nothing else goes too. */
export function withoutHooks(
  text: string,
  hasComments: boolean,
  only: (event: string) => boolean = () => true,
): string {
  const json = read(text, hasComments);
  const events = Object.keys((json.value("hooks") ?? {}) as object).filter(only);
  for (const event of events) {
    const rows = rowsOf(json, event);
    if (!rows.some(isOurs)) continue;
    for (const [index, row] of [...rows.entries()].reverse()) {
      if (!isOurs(row)) continue;
      const hooks = hooksOf(row);
      for (const [place, hook] of [...hooks.entries()].reverse())
        if (isOurs(hook)) json.remove(["hooks", event, index, "hooks", place]);
      if (hooks.every(isOurs)) json.remove(["hooks", event, index]);
    }
    if (rowsOf(json, event).length === 0) json.remove(["hooks", event]);
  }
  const hooks = json.value("hooks");
  if (events.length > 0 && isRecord(hooks) && Object.keys(hooks).length === 0) json.remove(["hooks"]);
  return json.toString();
}

/** The events that have a hook of ours. */
export function hookedEvents(text: string, hasComments: boolean): string[] {
  const json = read(text, hasComments);
  return Object.keys((json.value("hooks") ?? {}) as object).filter((event) => rowsOf(json, event).some(isOurs));
}

/** Throws if hooks do not stand in it as the agent has them. */
function read(text: string, hasComments: boolean): JsonText {
  const json = new JsonText(text, { hasComments });
  const hooks = json.value("hooks") ?? (json.value("hooks") === undefined ? {} : null);
  if (!isRecord(hooks)) throw new Error(`hooks must be an object; got ${JSON.stringify(hooks)}`);
  for (const [event, rows] of Object.entries(hooks))
    if (!Array.isArray(rows)) throw new Error(`hooks.${event} must be a list; got ${JSON.stringify(rows)}`);
  return json;
}

/** `read` has seen that these are lists. */
function rowsOf(json: JsonText, event: string): unknown[] {
  return (json.value("hooks", event) ?? []) as unknown[];
}

function hooksOf(row: unknown): unknown[] {
  return isRecord(row) && Array.isArray(row.hooks) ? row.hooks : [];
}

/** A row or one of its hooks that runs us. */
function isOurs(row: unknown): boolean {
  if (!isRecord(row)) return false;
  const { command = row.bash } = row;
  const runsUs = typeof command === "string" && /(^|[\\/])spillway(\.cmd)? hook\b/.test(command);
  return runsUs || hooksOf(row).some(isOurs);
}
