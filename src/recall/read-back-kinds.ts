import { badInput } from "../errors.ts";
import { parsedJson } from "../values.ts";
import { RECALL_DEFINITION, type ReadBackDefinition, SEARCH_DEFINITION } from "./read-back-tools.ts";

/** The tools with which a model reads back, in the form of one framework each. None of them is imported here. */
export interface ReadBackKinds {
  /** A record to spread into the `tools` of the AI SDK, 5 or newer. */
  ai: Record<string, AiSdkReadBackTool>;
  /** The same for the `tools` of an agent of Mastra. */
  mastra: Record<string, AiSdkReadBackTool & { id: string }>;
  langchain: LangChainReadBackTool[];
  "openai-agents": OpenAIAgentsReadBackTool[];
  /** For the tool runner of Anthropic's SDK. */
  anthropic: AnthropicReadBackTool[];
  pi: PiReadBackTool[];
  /** For a loop of one's own over OpenAI's chat completions or responses. */
  openai: OpenAIReadBack;
  /** For `setRequestHandler` of a server; `readBack("mcp", { z })` gives them for `registerTool`. */
  mcp: McpReadBackTool<JsonObjectSchema>[];
}

/** Under which names the model knows the tools. */
export interface ReadBackOptions {
  recall?: string | undefined;
  search?: string | undefined;
}

/** What is needed of zod, 4.2 or newer, to say a schema in its words. */
export interface ZodLike {
  fromJSONSchema(schema: never): unknown;
}

type Zod<Z extends ZodLike> = ReturnType<Z["fromJSONSchema"]>;

/** `spillway.readBack`: the tools, ready-made; from then on markers name them. */
export interface ReadBackFor {
  /** For `createSdkMcpServer`, under the name `server` ("spillway" by default) in `mcpServers`. */
  <Z extends ZodLike>(
    kind: "claude-agent-sdk",
    options: ReadBackOptions & { z: Z; server?: string | undefined },
  ): ClaudeReadBackTool<Zod<Z>>[];
  <Z extends ZodLike>(kind: "mcp", options: ReadBackOptions & { z: Z }): McpReadBackTool<Zod<Z>>[];
  <Kind extends keyof ReadBackKinds>(kind: Kind, options?: ReadBackOptions): ReadBackKinds[Kind];
}

type JsonObjectSchema = ReadBackDefinition["inputSchema"] & { additionalProperties: false };

/** A schema as Standard Schema has it, and in the AI SDK's own form. */
interface ReadBackSchema {
  "~standard": {
    version: 1;
    vendor: string;
    validate(value: unknown): { value: Record<string, unknown> };
    jsonSchema: { input(options: object): Record<string, unknown>; output(options: object): Record<string, unknown> };
    types?: { input: Record<string, unknown>; output: Record<string, unknown> };
  };
}

interface AiSdkReadBackTool {
  description: string;
  inputSchema: ReadBackSchema;
  execute(args: Record<string, unknown>): Promise<string>;
}

/** It has what LangChain looks for in a tool. A type and not an interface, so that it fits a record of anything. */
type LangChainReadBackTool = {
  lc_runnable: true;
  lc_namespace: string[];
  name: string;
  description: string;
  schema: JsonObjectSchema;
  invoke(input: unknown): Promise<string>;
};

interface OpenAIAgentsReadBackTool {
  type: "function";
  name: string;
  description: string;
  parameters: Omit<JsonObjectSchema, "properties" | "additionalProperties"> & {
    properties: Record<string, Record<string, unknown>>;
    additionalProperties: true;
  };
  strict: false;
  invoke(runContext: unknown, input: string): Promise<string>;
  needsApproval(): Promise<boolean>;
  isEnabled(): Promise<boolean>;
}

interface AnthropicReadBackTool {
  type: "custom";
  name: string;
  description: string;
  input_schema: JsonObjectSchema;
  run(args: unknown): Promise<string>;
  parse(args: unknown): unknown;
}

interface PiReadBackTool {
  name: string;
  label: string;
  description: string;
  parameters: JsonObjectSchema;
  execute(id: string, args: unknown): Promise<{ content: { type: "text"; text: string }[]; details: undefined }>;
}

interface McpResult {
  [field: string]: unknown;
  content: { type: "text"; text: string }[];
  isError?: boolean;
}

interface McpReadBackTool<Schema> {
  name: string;
  description: string;
  inputSchema: Schema;
  handler(args: unknown): Promise<McpResult>;
}

interface ClaudeReadBackTool<Schema> {
  name: string;
  description: string;
  inputSchema: Record<string, Schema>;
  handler(args: unknown): Promise<McpResult>;
}

interface OpenAIReadBack {
  /** For `tools` of chat completions. */
  tools: { type: "function"; function: { name: string; description: string; parameters: Record<string, unknown> } }[];
  /** For `tools` of responses. */
  responsesTools: {
    type: "function";
    name: string;
    description: string;
    parameters: Record<string, unknown>;
    strict: false;
  }[];
  /** The message that answers a call of chat completions; null if the call is not for these tools. */
  answer(call: unknown): Promise<{ role: "tool"; tool_call_id: string; content: string } | null>;
  /** The same of responses. */
  answerItem(item: unknown): Promise<{ type: "function_call_output"; call_id: string; output: string } | null>;
}

/** A tool under its name, with what runs it. */
interface Named extends Omit<ReadBackDefinition, "name" | "inputSchema"> {
  name: string;
  schema: JsonObjectSchema;
  call(args: unknown): Promise<{ text: string; isError: boolean }>;
  /** The text; throws what is wrong with the arguments, for frameworks that tell the model of errors by themselves. */
  text(args: unknown): Promise<string>;
}

type CallTool = (tool: ReadBackDefinition["name"], args: unknown) => Promise<{ text: string; isError: boolean }>;

interface AllOptions extends ReadBackOptions {
  z?: ZodLike | undefined;
  server?: string | undefined;
}

const NAME = /^[A-Za-z_][\w-]{0,63}$/;

/** The tools in a framework's form, and the names that its model knows them by. */
export function readBackKind(
  kind: string,
  options: AllOptions,
  call: CallTool,
): { made: unknown; names: { recall: string; search: string } } {
  const { recall = "recall", search = "search", server = "spillway", z } = options;
  for (const [option, name] of Object.entries({ recall, search, server })) {
    if (typeof name === "string" && NAME.test(name)) continue;
    throw badInput(`readBack: ${option} must be a name of letters, digits, _ and -; got ${JSON.stringify(name)}`);
  }
  if (recall === search) throw badInput(`readBack: recall and search must have different names; both are "${recall}"`);
  const make = Object.hasOwn(KINDS, kind) ? KINDS[kind as keyof typeof KINDS] : undefined;
  if (make === undefined) {
    throw badInput(`readBack has no kind ${JSON.stringify(kind)}; it has ${Object.keys(KINDS).join(", ")}`);
  }
  const tools = [named(RECALL_DEFINITION, recall, call), named(SEARCH_DEFINITION, search, call)];
  const prefix = kind === "claude-agent-sdk" ? `mcp__${server}__` : "";
  return { made: make(tools, z), names: { recall: prefix + recall, search: prefix + search } };
}

function named({ name: own, description, inputSchema }: ReadBackDefinition, name: string, call: CallTool): Named {
  const run = (args: unknown) => call(own, args);
  return {
    name,
    description,
    schema: { ...inputSchema, additionalProperties: false },
    call: run,
    async text(args) {
      const { text, isError } = await run(args);
      if (isError) throw new Error(text);
      return text;
    },
  };
}

type Make = (tools: readonly Named[], z: ZodLike | undefined) => unknown;

const aiSdkTool = ({ description, schema, text }: Named): AiSdkReadBackTool => ({
  description,
  inputSchema: schemaOf(schema),
  execute: text,
});

const KINDS = {
  ai: (tools): ReadBackKinds["ai"] => Object.fromEntries(tools.map((tool) => [tool.name, aiSdkTool(tool)])),
  mastra: (tools): ReadBackKinds["mastra"] =>
    Object.fromEntries(tools.map((tool) => [tool.name, { id: tool.name, ...aiSdkTool(tool) }])),
  langchain: (tools): ReadBackKinds["langchain"] =>
    tools.map(({ name, description, schema, text }) => ({
      lc_runnable: true,
      lc_namespace: ["langchain", "tools"],
      name,
      description,
      schema,
      invoke: (input) => text(isToolCall(input) ? input.args : input),
    })),
  "openai-agents": (tools): ReadBackKinds["openai-agents"] =>
    tools.map(({ name, description, schema, call }) => ({
      type: "function",
      name,
      description,
      parameters: {
        ...schema,
        properties: schema.properties as Record<string, Record<string, unknown>>,
        additionalProperties: true,
      },
      strict: false,
      // An error's own words would not reach the model.
      invoke: async (_runContext, input) => (await call(parsed(input))).text,
      needsApproval: async () => false,
      isEnabled: async () => true,
    })),
  anthropic: (tools): ReadBackKinds["anthropic"] =>
    tools.map(({ name, description, schema, text }) => ({
      type: "custom",
      name,
      description,
      input_schema: schema,
      run: text,
      parse: (args) => args,
    })),
  pi: (tools): ReadBackKinds["pi"] =>
    tools.map(({ name, description, schema, text }) => ({
      name,
      label: name,
      description,
      parameters: schema,
      execute: async (_id, args) => ({ content: [{ type: "text", text: await text(args) }], details: undefined }),
    })),
  openai: (tools): OpenAIReadBack => {
    const answered = async (name: unknown, json: unknown) => {
      const tool = tools.find((each) => each.name === name);
      return tool === undefined ? null : (await tool.call(parsed(json))).text;
    };
    const definitions = tools.map(({ name, description, schema }) => ({
      name,
      description,
      parameters: schema as Record<string, unknown>,
    }));
    return {
      tools: definitions.map((definition) => ({ type: "function", function: definition })),
      responsesTools: definitions.map((definition) => ({ type: "function", ...definition, strict: false })),
      async answer(call) {
        const { id, function: asked } = Object(call) as { id?: unknown; function?: unknown };
        const { name, arguments: json } = Object(asked) as { name?: unknown; arguments?: unknown };
        const content = await answered(name, json);
        return content === null ? null : { role: "tool", tool_call_id: String(id), content };
      },
      async answerItem(item) {
        const { call_id: id, name, arguments: json } = Object(item) as Record<string, unknown>;
        const output = await answered(name, json);
        return output === null ? null : { type: "function_call_output", call_id: String(id), output };
      },
    };
  },
  mcp: (tools, z): McpReadBackTool<unknown>[] =>
    tools.map(({ name, description, schema, call }) => ({
      name,
      description,
      inputSchema: z === undefined ? schema : z.fromJSONSchema(schema as never),
      handler: async (args) => mcpResult(await call(args)),
    })),
  "claude-agent-sdk": (tools, z): ClaudeReadBackTool<unknown>[] =>
    tools.map(({ name, description, schema, call }) => ({
      name,
      description,
      inputSchema: shapeOf(schema, z),
      handler: async (args) => mcpResult(await call(args)),
    })),
} satisfies Record<string, Make>;

function shapeOf(schema: JsonObjectSchema, z: ZodLike | undefined): Record<string, unknown> {
  if (typeof z?.fromJSONSchema !== "function")
    throw badInput('readBack("claude-agent-sdk", { z }) needs z of zod 4.2 or newer');
  return (z.fromJSONSchema(schema as never) as { shape: Record<string, unknown> }).shape;
}

function mcpResult({ text, isError }: { text: string; isError: boolean }): McpResult {
  return { content: [{ type: "text", text }], ...(isError && { isError }) };
}

function isToolCall(input: unknown): input is { args: unknown } {
  return (
    typeof input === "object" && input !== null && "type" in input && input.type === "tool_call" && "args" in input
  );
}

function parsed(json: unknown): unknown {
  // If it is no JSON, the tool says so.
  return typeof json === "string" ? (json === "" ? {} : (parsedJson(json) ?? json)) : json;
}

/** The AI SDK knows its own schemas by this; others read "~standard". */
const AI_SCHEMA = Symbol.for("vercel.ai.schema");

function schemaOf(schema: JsonObjectSchema): ReadBackSchema {
  const json = () => ({ ...schema });
  // What a model gives is checked by the tool, which says what is wrong.
  const validate = (value: unknown) => ({ value: value as Record<string, unknown> });
  const standard = { version: 1 as const, vendor: "spillway", validate, jsonSchema: { input: json, output: json } };
  const own = { [AI_SCHEMA]: true, jsonSchema: json(), validate: undefined };
  return { "~standard": standard, ...own };
}
