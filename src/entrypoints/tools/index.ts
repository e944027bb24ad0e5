import { badInput } from "../../errors.ts";
import { READ_BACK_TOOLS } from "../../recall/index.ts";
import type { BoundedTool, ToolAnswer, ToolPlace } from "./bounded-tool.ts";
import { findFilesTool, listDirectoryTool } from "./list-files.ts";
import { readFileTool } from "./read-file.ts";
import { repoMapTool } from "./repo-map.ts";
import { repoStructureTool } from "./repo-structure.ts";
import { commandOutputTool, runCommandTool } from "./run-command.ts";
import { searchFilesTool } from "./search-files.ts";
import { sessionsHistoryTool } from "./sessions-history.ts";

export type {
  BoundedTool,
  HistoryWant,
  SessionHistories,
  SessionHistory,
  ToolAnswer,
  ToolPlace,
} from "./bounded-tool.ts";
export type { CommandRunner, RunningCommand } from "./commands.ts";
export { type BackgroundCommand, type CommandEnd, type Commands, openCommands } from "./commands.ts";
export { openRoots, type Roots } from "./roots.ts";

/** Tools that control their output at the source: what a model asks for comes bounded, and the rest can be read back. */
export function boundedTools(place: ToolPlace): BoundedTool[] {
  const unknown = Object.keys(place).find((name) => !PLACE_NAMES.has(name));
  if (unknown !== undefined) {
    throw badInput(`boundedTools has no option "${unknown}"; it has ${[...PLACE_NAMES].join(", ")}`);
  }
  const readBack = READ_BACK_TOOLS.map(({ name, description, inputSchema, call }) => ({
    name,
    description,
    inputSchema,
    call: (args: unknown) => call(place.spillway, args),
  }));
  const tools = [
    readFileTool(place),
    listDirectoryTool(place),
    findFilesTool(place),
    searchFilesTool(place),
    repoStructureTool(place),
    repoMapTool(place),
    ...commandTools(place),
    ...(place.histories === undefined ? [] : [sessionsHistoryTool(place, place.histories)]),
    ...readBack,
  ];
  return place.only === undefined ? tools : chosen(tools, place.only);
}

const PLACE_NAMES: ReadonlySet<string> = new Set<keyof ToolPlace>([
  "spillway",
  "roots",
  "session",
  "commands",
  "histories",
  "only",
]);

function chosen(tools: BoundedTool[], names: readonly string[]): BoundedTool[] {
  const unknown = names.find((name) => !tools.some((tool) => tool.name === name));
  if (unknown !== undefined) {
    const known = tools.map(({ name }) => name).join(", ");
    throw badInput(`only: there is no tool "${unknown}"; known are ${known}`);
  }
  return tools.filter(({ name }) => names.includes(name));
}

function commandTools(place: ToolPlace): BoundedTool[] {
  const { commands } = place;
  return commands === undefined ? [] : [runCommandTool(place, commands), commandOutputTool(place, commands)];
}

/** Both frameworks mark a result as failed only if the tool throws. */
async function textOrThrow(answer: Promise<ToolAnswer>): Promise<string> {
  const { text, isError } = await answer;
  if (isError) throw new Error(text);
  return text;
}

/** A tool as the AI SDK takes it; `Schema` is the SDK's own. */
export interface AiSdkTool<Schema> {
  description: string;
  inputSchema: Schema;
  execute(input: unknown, options?: { abortSignal?: AbortSignal | undefined }): Promise<string>;
}

/** Tools for the Vercel AI SDK, 5 or newer: `toAiSdkTools(tools, jsonSchema)`, with `jsonSchema` from "ai". */
export function toAiSdkTools<Schema>(
  tools: readonly BoundedTool[],
  jsonSchema: (schema: never) => Schema,
): Record<string, AiSdkTool<Schema>> {
  const entries = tools.map(({ name, description, inputSchema, call }): [string, AiSdkTool<Schema>] => [
    name,
    {
      description,
      inputSchema: jsonSchema(inputSchema as never),
      execute: (input, options) => textOrThrow(call(input, options?.abortSignal)),
    },
  ]);
  return Object.fromEntries(entries);
}

/** LangChain's own `tool`, as far as it is used here. */
export type MakeLangChainTool<Made> = (
  run: (input: unknown, config?: { signal?: AbortSignal | undefined }) => Promise<string>,
  fields: { name: string; description: string; schema: never },
) => Made;

/** Tools for LangChain.js 1 or newer: `toLangChainTools(tools, tool)`, with `tool` from "langchain". */
export function toLangChainTools<Made>(tools: readonly BoundedTool[], tool: MakeLangChainTool<Made>): Made[] {
  return tools.map(({ name, description, inputSchema, call }) =>
    tool((input, config) => textOrThrow(call(input, config?.signal)), {
      name,
      description,
      schema: inputSchema as never,
    }),
  );
}
