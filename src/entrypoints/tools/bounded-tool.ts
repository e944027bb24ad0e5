import { messageOf } from "../../errors.ts";
import { namedArguments } from "../../recall/index.ts";
import type { Spillway } from "../../spillway.ts";
import type { Commands } from "./commands.ts";
import type { Roots } from "./roots.ts";
import type { SessionHistories } from "./session-histories.ts";

/** A tool whose output is bounded at its source. It depends on no framework. */
export interface BoundedTool {
  name: string;
  description: string;
  /** JSON Schema of its arguments. */
  inputSchema: { type: "object"; properties: Record<string, unknown>; required?: string[] };
  /** MCP's hints about what it does; without them it only reads. */
  annotations?: Record<string, boolean>;
  /** Gives what the model reads. Never throws: a fault becomes an answer in words. */
  call(args: unknown, signal?: AbortSignal): Promise<ToolAnswer>;
}

/** What a tool answers. */
export interface ToolAnswer {
  text: string;
  isError: boolean;
}

/** What tools work with. */
export interface ToolPlace {
  spillway: Spillway;
  roots: Roots;
  session?: string | undefined;
  /** Lets tools run commands; without it they only read. */
  commands?: Commands | undefined;
  /** Lets a tool read other sessions' transcripts. */
  histories?: SessionHistories | undefined;
  /** The names of the wanted tools; all if it is not given. */
  only?: readonly string[] | undefined;
}

/** Arguments as a model gave them, checked one by one. */
export interface Arguments {
  text(name: string): string | undefined;
  requiredText(name: string): string;
  /** A whole number from `least` (0 if it is not given); one over `most` counts as `most`. */
  count(name: string, usual: number, most: number, least?: number): number;
  flag(name: string): boolean;
}

const MAX_FAULT_CHARS = 1000;
const MAX_VALUE_CHARS = 40;

/** Makes a tool of a function; what the function throws becomes an answer. `hidden` arguments are taken and not listed. */
export function boundedTool(
  about: Omit<BoundedTool, "call">,
  run: (args: Arguments, signal: AbortSignal | undefined) => Promise<string | ToolAnswer>,
  hidden: readonly string[] = [],
): BoundedTool {
  const names = [...Object.keys(about.inputSchema.properties), ...hidden];
  return {
    ...about,
    async call(args, signal) {
      try {
        const answer = await run(readArguments(namedArguments(args, names)), signal);
        return typeof answer === "string" ? { text: answer, isError: false } : answer;
      } catch (error) {
        return { text: faultText(error).slice(0, MAX_FAULT_CHARS).toWellFormed(), isError: true };
      }
    },
  };
}

/** The system's reasons in words; a model can do nothing with their codes. */
const REASONS: Record<string, string> = {
  ENOENT: "it is not there any more",
  ENOTDIR: "it is a file, not a folder",
  EISDIR: "it is a folder, not a file",
  EACCES: "there is no permission to read it",
  EPERM: "there is no permission to read it",
  ELOOP: "it is a link that leads to itself",
  ENAMETOOLONG: "its name is too long",
  EMFILE: "too many files are open; try again later",
  ENFILE: "too many files are open; try again later",
};

function faultText(error: unknown): string {
  if (!(error instanceof Error) || !("errno" in error || "syscall" in error)) return messageOf(error);
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall?.startsWith("spawn")) return "a program that this tool needs could not be started";
  return `this cannot be read: ${REASONS[code ?? ""] ?? "the system gave an error"}`;
}

function readArguments(given: Record<string, unknown>): Arguments {
  const text = (name: string) => {
    const value = given[name];
    if (value === undefined || typeof value === "string") return value;
    throw new Error(`${name} must be text; got ${typeof value}`);
  };
  return {
    text,
    requiredText(name) {
      const value = text(name);
      if (value === undefined || value === "") throw new Error(`${name} is missing`);
      return value;
    },
    count(name, usual, most, least = 0) {
      const value = given[name] ?? usual;
      const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
      if (typeof number === "number" && Number.isSafeInteger(number) && number >= least) return Math.min(number, most);
      const from = least === Number.MIN_SAFE_INTEGER ? "" : ` from ${least}`;
      throw new Error(`${name} must be a whole number${from}; got ${shown(value)}`);
    },
    flag(name) {
      const value = given[name];
      if (value === undefined || value === false || value === "false") return false;
      if (value === true || value === "true") return true;
      throw new Error(`${name} must be true or false; got ${shown(value)}`);
    },
  };
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? typeof value).slice(0, MAX_VALUE_CHARS);
}
