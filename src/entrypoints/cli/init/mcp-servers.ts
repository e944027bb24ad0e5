import { isRecord } from "../../../values.ts";
import type { McpFile } from "../../hook/agent.ts";
import { JsonText, type Step } from "./edit-json.ts";
import { scanToml, type TomlValue } from "./scan-toml.ts";

/** The settings after the change, and what became of the servers in them. */
export interface ServerChange {
  text: string;
  changed: string[];
  /** Servers that are reached over HTTP, to which the agent brings its own sign-in. */
  remote: string[];
  /** One of the servers that are here in every project offers `recall` and `search`. */
  offers: boolean;
}

/** A server that an agent starts: where its command stands in the text. */
interface StartedServer {
  name: string;
  /** The list that it stands in: the servers of a list are started together. */
  list: string;
  /** Its list is one of several, for one project each. */
  isProjects: boolean;
  isDisabled: boolean;
  /** The command's text, or the list that has the command and its arguments. */
  command: Span & { text?: string; items?: Item[] };
  /** The list of arguments; null if there is none. */
  args: (Span & { items: Item[] }) | null;
  /** Where a list of arguments is put in, and the text before the list. */
  newArgs: { at: number; before: string };
}

interface Span {
  start: number;
  end: number;
}

interface Item extends Span {
  text?: string | undefined;
}

/** Says that another server of the agent offers `recall` and `search`. */
const NO_READ_BACK = "--no-read-back";

/**
 * Puts the proxy before every server that the agent starts. Only a few words are put in: nothing else is changed. Of the
 * servers that are started together the first offers `recall` and `search`, unless one of them does already, or
 * `isOffered` says that one in another file does.
 */
export function withProxy(text: string, file: McpFile, isOffered = false): ServerChange {
  const { started } = serversIn(text, file);
  const offering = new Set<string>(isOffered ? [EVERYWHERE] : []);
  for (const server of started) if (offers(server)) offering.add(placeOf(server));
  const made = change(text, file, (server) => {
    const { command, args, newArgs } = server;
    if (isOurName(wordsOf(server)[0])) return null;
    const isNeeded = !server.isDisabled && !offering.has(EVERYWHERE) && !offering.has(placeOf(server));
    if (isNeeded) offering.add(placeOf(server));
    const flags = isNeeded ? `"mcp","--",` : `"mcp","${NO_READ_BACK}","--",`;
    const words = (raw: string) => `${flags}${raw}`;
    if (command.items !== undefined)
      return [{ start: command.start + 1, end: command.start + 1, text: `"spillway",${flags}` }];
    const raw = text.slice(command.start, command.end);
    const renamed = { start: command.start, end: command.end, text: '"spillway"' };
    // The blank tells a list that we made from an empty one.
    if (args === null)
      return [renamed, { start: newArgs.at, end: newArgs.at, text: `${newArgs.before}[ ${words(raw)}]` }];
    const at = args.start + 1;
    return [renamed, { start: at, end: at, text: words(raw) + (args.items.length > 0 ? "," : "") }];
  });
  return { ...made, offers: offering.has(EVERYWHERE) };
}

/** Returns true if a server that is started in every project offers `recall` and `search`. */
export function offersIn(text: string, file: McpFile): boolean {
  return serversIn(text, file).started.some((server) => offers(server) && !server.isProjects);
}

/** The place of servers that are started in every project. */
const EVERYWHERE = "";

function placeOf({ isProjects, list }: StartedServer): string {
  return isProjects ? list : EVERYWHERE;
}

function wordsOf({ command, args }: StartedServer): (string | undefined)[] {
  if (command.items !== undefined) return command.items.map(({ text }) => text);
  return [command.text, ...(args?.items ?? []).map(({ text }) => text)];
}

/** Both the proxy and `spillway tools` offer `recall` and `search`. */
function offers(server: StartedServer): boolean {
  const [command, what, ...rest] = wordsOf(server);
  if (!isOurName(command) || server.isDisabled) return false;
  const flags = rest.slice(0, rest.includes("--") ? rest.indexOf("--") : undefined);
  return what === "tools" || (what === "mcp" && !flags.includes(NO_READ_BACK));
}

/** Takes the proxy out again, to the byte. Flags that it was given go with it. */
export function withoutProxy(text: string, file: McpFile): Omit<ServerChange, "offers"> {
  return change(text, file, ({ command, args, newArgs }) => {
    const list = command.items === undefined ? args : { ...command, items: command.items };
    const items = list?.items ?? [];
    const first = command.items === undefined ? 0 : 1;
    const dashes = items.findIndex(({ text: word }) => word === "--");
    const isProxied = isOurName(command.text ?? items[0]?.text) && items[first]?.text === "mcp" && dashes > 0;
    const original = items[dashes + 1];
    if (!isProxied || list === null || original === undefined) return null;
    const start = list.start + 1;
    if (command.items !== undefined) return [{ start, end: original.start, text: "" }];
    const renamed = { start: command.start, end: command.end, text: text.slice(original.start, original.end) };
    const isMade = items.length === dashes + 2 && text[start] === " ";
    if (isMade) return [renamed, { start: newArgs.at, end: list.end, text: "" }];
    const comma = items.length > dashes + 2 ? text.indexOf(",", original.end) + 1 : original.end;
    return [renamed, { start, end: comma, text: "" }];
  });
}

type Splice = Span & { text: string };

function change(
  text: string,
  file: McpFile,
  splicesFor: (server: StartedServer) => Splice[] | null,
): Omit<ServerChange, "offers"> {
  const { started, remote } = serversIn(text, file);
  const changed: string[] = [];
  const splices = started.flatMap((server) => {
    const made = splicesFor(server);
    if (made !== null) changed.push(server.name);
    return made ?? [];
  });
  let after = text;
  for (const { start, end, text: put } of splices.sort((a, b) => b.start - a.start || b.end - a.end))
    after = after.slice(0, start) + put + after.slice(end);
  return { text: after, changed, remote };
}

function serversIn(text: string, file: McpFile): Servers {
  return file.format === "json" ? jsonServers(text, file) : tomlServers(text, file);
}

interface Servers {
  started: StartedServer[];
  remote: string[];
}

function jsonServers(text: string, { at }: McpFile): Servers {
  const json = new JsonText(text, { hasComments: true });
  const servers: Servers = { started: [], remote: [] };
  const lists = at.flatMap((steps) => {
    return expand(json, steps).map((path) => ({ path, isProjects: steps.includes("*") }));
  });
  for (const { path, isProjects } of lists) {
    for (const [name, server] of Object.entries(objectAt(json, path))) {
      const here = [...path, name];
      const command = isRecord(server) ? server.command : undefined;
      if (typeof command !== "string" && !Array.isArray(command)) {
        servers.remote.push(name);
        continue;
      }
      const spanOf = (...steps: Step[]): Span => {
        const [start, end] = json.range(...here, ...steps) ?? [0, 0];
        return { start, end };
      };
      const items = (key: string): Item[] =>
        (json.value(...here, key) as unknown[]).map((word, index) => ({
          ...spanOf(key, index),
          text: typeof word === "string" ? word : undefined,
        }));
      const span = spanOf("command");
      const args = isRecord(server) ? server.args : undefined;
      servers.started.push({
        name,
        list: JSON.stringify(path),
        isProjects,
        isDisabled: isRecord(server) && (server.disabled === true || server.enabled === false),
        command: typeof command === "string" ? { ...span, text: command } : { ...span, items: items("command") },
        args: Array.isArray(args) ? { ...spanOf("args"), items: items("args") } : null,
        newArgs: { at: span.end, before: ', "args": ' },
      });
    }
  }
  return servers;
}

/** The paths that a path with `*` stands for. */
function expand(json: JsonText, steps: readonly string[], before: string[] = []): string[][] {
  const [step, ...rest] = steps;
  if (step === undefined) return [before];
  const keys = step === "*" ? Object.keys(objectAt(json, before)) : [step];
  return keys.flatMap((key) => expand(json, rest, [...before, key]));
}

function objectAt(json: JsonText, path: readonly string[]): Record<string, unknown> {
  const value = json.value(...path);
  return isRecord(value) ? value : {};
}

function tomlServers(text: string, { at }: McpFile): Servers {
  const values = scanToml(text);
  const servers: Servers = { started: [], remote: [] };
  for (const steps of at) {
    const inside = values.filter(
      ({ path }) => path.length > steps.length && steps.every((step, i) => path[i] === step),
    );
    const names = new Set(inside.map(({ path }) => path[steps.length] ?? ""));
    for (const name of names) {
      const valueOf = (key: string): TomlValue | undefined =>
        inside.find(
          ({ path }) => path.length === steps.length + 2 && path[steps.length] === name && path.at(-1) === key,
        );
      const [command, args] = [valueOf("command"), valueOf("args")];
      if (command?.text === undefined) {
        if (valueOf("url") !== undefined) servers.remote.push(name);
        continue;
      }
      const key = `${command.key.replace(/command(?=["']?$)/, "args")} = `;
      const enabled = valueOf("enabled");
      servers.started.push({
        name,
        list: steps.join("."),
        isProjects: false,
        isDisabled: enabled !== undefined && text.slice(enabled.start, enabled.end) === "false",
        command,
        args: args?.items === undefined ? null : { ...args, items: args.items },
        newArgs: { at: command.end, before: (command.isInline ? ", " : "\n") + key },
      });
    }
  }
  return servers;
}

function isOurName(command: string | undefined): boolean {
  return command !== undefined && /(^|[\\/])spillway(\.cmd)?$/.test(command);
}
