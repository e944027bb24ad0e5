import type { Limits } from "../../contract/limits.ts";

/**
 * An agent whose tools Spillway bounds through a hook. `spillway init` and `spillway hook` ask this value and never test an
 * agent's name; agents/ has a file for each.
 */
export interface Agent {
  /** Printed in the help of `spillway init`: which file is written, what it covers and what not. */
  about: string;
  /** Its command. If this is on the PATH or its folder of settings is there, the agent is in use. */
  command: string;
  /** The folder of its settings. */
  folder(whose: Whose): string;
  /** Where our hooks go, and what they are. */
  hooks(whose: Whose, choice: HookChoice): HookFile;
  /** Why commands cannot be wrapped, or need not be; undefined if they can. */
  whyUnwrapped?: string;
  /** What is left to do once the hooks are written or removed. */
  afterwards?(hookFile: string, isRemoved: boolean): Promise<Afterwards>;
  /** The files in which its MCP servers stand. Some of them may not exist. */
  mcpFiles(whose: Whose): McpFile[];
  /** What an event that came on standard input is about; null if Spillway has no answer to it. */
  readEvent(event: object): CommandCall | ToolResult | null;
}

/** For all projects of the user, or for the project in the current folder. */
export type Whose = "user" | "project";

/** Which hooks to set. */
export interface HookChoice {
  /** Also put shell commands under `spillway run`, before they run. */
  wrapCommands: boolean;
}

/** Hooks as rows of a settings file that others write to as well, or as a file of our own. */
export type HookFile =
  | {
      path: string;
      /** For each event the row that is added to its list under `hooks`. */
      rows: Record<string, object>;
      /** What the file must also have at its top. */
      base?: Record<string, unknown>;
      /** True if the agent reads comments and trailing commas. */
      hasComments: boolean;
    }
  | { path: string; text: string };

/** What is left to do after the hooks are written. */
export interface Afterwards {
  /** Another file to change. */
  file?: { path: string; change(text: string): string };
  /** What to tell the user. */
  note?: string;
}

/** A file in which MCP servers stand. */
export interface McpFile {
  path: string;
  format: "json" | "toml";
  /** Where in the file servers stand by name; `*` is any key. */
  at: readonly (readonly string[])[];
}

/** A shell command that the agent is about to run, and that it lets a hook change. */
export interface CommandCall {
  kind: "command";
  /** The agent's name for its shell tool. */
  tool: string;
  command: string;
  /** Returns true if a rule of the agent could match any of these words, which are the command and those we add. Throws if the rules cannot be read. */
  isRuled(words: string): Promise<boolean>;
  /** Tells the agent to run another command instead, and its model why. */
  answer(command: string, note: string): object;
}

/** What a tool gave. */
export interface ToolResult {
  kind: "result";
  tool: string;
  session: string | undefined;
  call: string | undefined;
  /** What made it, for people who look for it later: the command of a shell, or the tool's arguments. */
  made: { command?: string; args?: unknown; folder?: string };
  /** A text, blocks, or an object that holds texts. */
  response: unknown;
  /** Where the agent keeps the whole, if the response has only a part of it. */
  whole?: AgentFile | undefined;
  /** The file in which the agent keeps the conversation, a JSON value on each line or as a whole. */
  transcript?: string | undefined;
  /** True if the agent counts the lines of the response itself, so that their numbers would be wrong after a gap. */
  isNumbered?: boolean;
  /** The exit code of a command, if the response does not say it. */
  exitCode?: number | undefined;
  /** A text that the model gets beside the response. It counts against the limits. */
  beside?: string;
  /** The longest response that the agent shows: of a longer one it shows the beginning, without our marker. */
  most?: Limits | undefined;
  /** Tells the agent to show its model another response, which has the same shape. */
  answer(response: unknown): object;
}

/** A file in which an agent keeps the whole of a result. */
export interface AgentFile {
  path: string;
  /** The part that stands in the response, or how many characters it says there are. The file is only read if that is so. */
  part: string | { chars: number };
  /** The file is only read if it was written at this time or later. */
  sinceMs?: number;
  /** The response with another text in place of the part, and without the path. */
  put(text: string): unknown;
}
