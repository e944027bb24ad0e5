import { messageOf } from "../../errors.ts";
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
  count(name: string, usual: number, most: number): number;
  flag(name: string): boolean;
}

const MAX_FAULT_CHARS = 1000;

/** Makes a tool of a function; what the function throws becomes an answer. */
export function boundedTool(
  about: Omit<BoundedTool, "call">,
  run: (args: Arguments, signal: AbortSignal | undefined) => Promise<string | ToolAnswer>,
): BoundedTool {
  return {
    ...about,
    async call(args, signal) {
      try {
        const answer = await run(readArguments(args), signal);
        return typeof answer === "string" ? { text: answer, isError: false } : answer;
      } catch (error) {
        return { text: messageOf(error).slice(0, MAX_FAULT_CHARS).toWellFormed(), isError: true };
      }
    },
  };
}

function readArguments(args: unknown): Arguments {
  const given: Record<string, unknown> = typeof args === "object" && args !== null ? { ...args } : {};
  const text = (name: string) => {
    const value = given[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value === "string") return value;
    throw new Error(`${name} must be text; got ${typeof value}`);
  };
  return {
    text,
    requiredText(name) {
      const value = text(name);
      if (value === undefined || value === "") throw new Error(`${name} is missing`);
      return value;
    },
    count(name, usual, most) {
      const value = given[name] ?? usual;
      const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
      if (typeof number === "number" && Number.isSafeInteger(number) && number >= 0) return Math.min(number, most);
      throw new Error(`${name} must be a whole number from 0; got ${String(value).slice(0, 40)}`);
    },
    flag: (name) => given[name] === true || given[name] === "true",
  };
}
