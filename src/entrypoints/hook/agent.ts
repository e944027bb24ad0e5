/**
 * An agent whose tools Spillway bounds through a hook. `spillway init` and `spillway hook` ask this value and never test an
 * agent's name; agents/ has a file for each.
 */
export interface Agent {
  /** Printed in the help of `spillway init`: which files are written, and which commands `--wrap-commands` is about. */
  about: string;
  /** The path of the file that has the hooks: for all projects of the user, or for the project in the current folder. */
  settingsPath(whose: "user" | "project"): string;
  settings: SettingsFormat;
  /** What an event that came on standard input is about; null if Spillway has no answer to it. */
  readEvent(event: object): CommandCall | ToolResult | null;
}

/** How the hooks stand in an agent's settings. Every function takes the text of the file, which is empty if there is none. */
export interface SettingsFormat {
  /** The same settings as the other two functions would write them. Throws if the text cannot be read. */
  normalize(text: string): string;
  /** The settings with our hooks. Throws if the agent cannot do what was chosen. */
  withHooks(text: string, choice: HookChoice): string;
  /** The settings without our hooks; empty text removes the file. */
  withoutHooks(text: string): string;
}

/** Which hooks to set. */
export interface HookChoice {
  /** Also put shell commands under `spillway run`, before they run. */
  wrapCommands: boolean;
}

/** A shell command that the agent is about to run, and that it lets a hook change. */
export interface CommandCall {
  kind: "command";
  /** The agent's name for its shell tool. */
  tool: string;
  command: string;
  /** Whether a rule of the agent could match a command or any part of it. Throws if the rules cannot be read. */
  isRuled(command: string): Promise<boolean>;
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
  /** Whether the agent counts the lines of the response itself, so that their numbers would be wrong after a gap. */
  isNumbered: boolean;
  /** Tells the agent to show its model another response, which has the same shape. */
  answer(response: unknown): object;
}

/** A file in which an agent keeps the whole of a result, as a field of the event names it. */
export interface AgentFile {
  path: string;
  /** The part that stands in the response. The file is only read if it begins or ends with it. */
  part: string;
  /** The response with another text in place of the part, and without the path. */
  put(text: string): unknown;
}
