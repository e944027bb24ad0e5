import { isRecord } from "../../values.ts";
import type { HookChoice, SettingsFormat } from "./agent.ts";

/** A file of settings, as far as hooks go; everything else in it stays. */
type Settings = Record<string, unknown>;

interface HookRow {
  matcher?: string;
  hooks?: { type?: string; command?: string; timeout?: number }[];
}

/** Settings in JSON with a list of rows for each event under `hooks`, as several agents have them. */
export function hookSettings(rowsFor: (choice: HookChoice) => Record<string, HookRow>): SettingsFormat {
  return {
    normalize: (text) => print(parse(text)),
    withHooks: (text, choice) => print(add(parse(text), rowsFor(choice))),
    withoutHooks: (text) => print(remove(parse(text))),
  };
}

function parse(text: string): Settings {
  if (text.trim() === "") return {};
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) throw new Error("it holds no object");
  const { hooks = {} } = value;
  if (!isRecord(hooks)) throw new Error(`hooks must be an object; got ${JSON.stringify(hooks)}`);
  for (const [event, rows] of Object.entries(hooks))
    if (!Array.isArray(rows)) throw new Error(`hooks.${event} must be a list; got ${JSON.stringify(rows)}`);
  return value;
}

function print(settings: Settings): string {
  return `${JSON.stringify(settings, null, 2)}\n`;
}

function add(settings: Settings, rows: Record<string, HookRow>): Settings {
  const clean = remove(settings);
  const hooks = hooksOf(clean);
  const added = Object.entries(rows).map(([event, row]) => [event, [...(hooks[event] ?? []), row]]);
  return { ...clean, hooks: { ...hooks, ...Object.fromEntries(added) } };
}

/** Takes our commands out, and a row, an event or `hooks` that had nothing else. */
function remove(settings: Settings): Settings {
  const kept = Object.entries(hooksOf(settings)).flatMap(([event, rows]): [string, HookRow[]][] => {
    const others = rows.flatMap((row) => {
      if (!row.hooks?.some(isOurs)) return [row];
      const hooks = row.hooks.filter((hook) => !isOurs(hook));
      return hooks.length > 0 ? [{ ...row, hooks }] : [];
    });
    return others.length > 0 || rows.length === 0 ? [[event, others]] : [];
  });
  const { hooks, ...rest } = settings;
  if (hooks === undefined) return settings;
  return kept.length > 0 || Object.keys(hooks as object).length === 0
    ? { ...settings, hooks: Object.fromEntries(kept) }
    : rest;
}

/** `parse` has seen that these are lists. */
function hooksOf({ hooks = {} }: Settings): Record<string, HookRow[]> {
  return hooks as Record<string, HookRow[]>;
}

function isOurs({ command }: { command?: string }): boolean {
  return typeof command === "string" && /(^|[\\/])spillway(\.cmd)? hook\b/.test(command);
}
