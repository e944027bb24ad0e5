import type { Limits } from "../../contract/limits.ts";
import { messageOf } from "../../errors.ts";
import { namedArguments } from "../../recall/index.ts";
import type { Spillway } from "../../spillway.ts";
import type { Commands } from "./commands.ts";
import type { Roots } from "./roots.ts";

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

/** Which messages of a session are wanted. */
export interface HistoryWant {
  limit: number;
  offset: number;
  includeTools: boolean;
  /** The most bytes of the messages as JSON. */
  maxBytes: number;
}

/** A session's newest messages, as `spillway.cap` gives them. */
export interface SessionHistory {
  messages: unknown[];
  truncated: boolean;
  droppedMessages: boolean;
  contentTruncated: boolean;
  bytes: number;
  /** The offset of the page before; null if there is none. */
  next: number | null;
}

/** The transcripts of sessions. */
export interface SessionHistories {
  /** The folder they are in. */
  roots: Roots;
  /** Reads one of its files through `spillway.cap`. */
  read(file: string, want: HistoryWant): Promise<SessionHistory>;
}

/** Whose limits apply. */
interface FittingAbout {
  tool: string;
  /** Tighter ones that this answer has to keep too. */
  size?: Limits;
}

/** Returns true if nothing of an answer would be cut. */
export async function fitsLimits({ spillway, session }: ToolPlace, about: FittingAbout, output: string) {
  const { limits, off } = spillway.resolve(about.tool);
  const { maxBytes = Infinity, maxChars = Infinity } = limits;
  // A text that is far too long is not worth a closer look.
  if (!off && output.length > Math.min(maxBytes, maxChars)) return false;
  const plain = { strategy: "head", fold: false, summarize: false };
  const { receipt } = await spillway.admit({ ...about, ...plain, session, output, isUpdate: true });
  return receipt.omitted.bytes === 0;
}

/**
 * Admits the longest of a tool's answers that is within its limits: `write(n)` is the answer with n rows, and says of just
 * these rows what is shown. So nothing is cut afterwards, and what the answer tells of itself is true.
 */
export async function admitFitting(
  place: ToolPlace,
  about: FittingAbout,
  most: number,
  write: (rows: number) => string,
): Promise<string> {
  let least = 0;
  let over = most + 1;
  for (let rows = most; least < over - 1; rows = (least + over) >> 1) {
    if (await fitsLimits(place, about, write(rows))) least = rows;
    else over = rows;
  }
  return (await place.spillway.admit({ ...about, session: place.session, output: write(least) })).text;
}
