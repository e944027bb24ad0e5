import { wireNamed } from "../../src/wire/index.ts";

// One conversation of an agent in every format, as frameworks hold it: with fields that no provider gets.

/** Writes a conversation in one format. */
export interface Format {
  wire: string;
  user(text: string): unknown;
  /** A call and its result; what the call says by itself is its argument `note`. */
  turn(id: string, text: string, note?: string): unknown[];
  /** The message as a host reads it back from where it stored it. */
  rebuild(message: unknown): unknown;
  /** The texts that the provider gets. */
  sent(message: unknown): string;
}

const UNSENT = "what only the host reads ".repeat(200);
const json = (message: unknown): unknown => JSON.parse(JSON.stringify(message));
/** Without the fields that stay with the host. */
const without =
  (...fields: string[]) =>
  (message: unknown) =>
    JSON.stringify(message, (key, value: unknown) => (fields.includes(key) ? undefined : value));
const plain = { rebuild: json, sent: without() };

/** In the shape of the messages of @langchain/core: what was handed in stands in them twice. */
class LangChainMessage {
  lc_serializable = true;
  lc_namespace = ["langchain_core", "messages"];
  lc_kwargs: Record<string, unknown>;
  additional_kwargs: Record<string, unknown> = {};
  response_metadata: Record<string, unknown> = {};
  type: string;
  content: unknown;
  [field: string]: unknown;

  constructor(type: string, fields: Record<string, unknown>) {
    this.lc_kwargs = { ...fields, additional_kwargs: {}, response_metadata: {} };
    this.type = type;
    Object.assign(this, fields);
  }

  get lc_id(): string[] {
    return [...this.lc_namespace, this.type];
  }

  get text(): string {
    return String(this.content);
  }

  toJSON() {
    return { lc: 1, type: "constructor", id: this.lc_id, kwargs: this.lc_kwargs };
  }
}

const anthropic: Format = {
  ...plain,
  wire: "anthropic",
  user: (content) => ({ role: "user", content }),
  turn: (id, text, note) => [
    { role: "assistant", content: [{ type: "tool_use", id, name: "lookup", input: { id, note } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: text }] },
  ],
};

/** Every format that holds a conversation. */
export const formats: Record<string, Format> = {
  anthropic,
  "openai-chat": {
    ...plain,
    wire: "openai-chat",
    user: (content) => ({ role: "user", content }),
    turn: (id, text, note) => [
      {
        role: "assistant",
        tool_calls: [{ id, type: "function", function: { name: "lookup", arguments: JSON.stringify({ note }) } }],
      },
      { role: "tool", tool_call_id: id, content: text },
    ],
  },
  "openai-responses": {
    ...plain,
    wire: "openai-responses",
    user: (content) => ({ role: "user", content }),
    turn: (id, text, note) => [
      { type: "function_call", call_id: id, name: "lookup", arguments: JSON.stringify({ note }) },
      { type: "function_call_output", call_id: id, output: text },
    ],
  },
  gemini: {
    ...plain,
    wire: "gemini",
    user: (text) => ({ role: "user", parts: [{ text }] }),
    turn: (id, output, note) => [
      { role: "model", parts: [{ functionCall: { name: "lookup", args: { id, note } } }] },
      { role: "user", parts: [{ functionResponse: { name: "lookup", response: { output } } }] },
    ],
  },
  bedrock: {
    ...plain,
    wire: "bedrock",
    user: (text) => ({ role: "user", content: [{ text }] }),
    turn: (toolUseId, text, note) => [
      { role: "assistant", content: [{ toolUse: { toolUseId, name: "lookup", input: { note } } }] },
      { role: "user", content: [{ toolResult: { toolUseId, content: [{ text }] } }] },
    ],
  },
  "ai-sdk": {
    ...plain,
    wire: "ai-sdk",
    user: (content) => ({ role: "user", content }),
    turn: (toolCallId, value, note) => [
      { role: "assistant", content: [{ type: "tool-call", toolCallId, toolName: "lookup", input: { note } }] },
      {
        role: "tool",
        content: [{ type: "tool-result", toolCallId, toolName: "lookup", output: { type: "text", value } }],
      },
    ],
  },
  langchain: {
    wire: "langchain",
    user: (content) => new LangChainMessage("human", { content }),
    turn: (id, text, note) => [
      new LangChainMessage("ai", {
        content: "",
        tool_calls: [{ id, name: "lookup", args: { note }, type: "tool_call" }],
      }),
      new LangChainMessage("tool", { content: text, tool_call_id: id, name: "lookup", artifact: UNSENT }),
    ],
    rebuild: (message) => {
      const { type, lc_kwargs } = message as LangChainMessage;
      return new LangChainMessage(type, json(lc_kwargs) as Record<string, unknown>);
    },
    // What is written keeps its class.
    sent: (message) => {
      if (!(message instanceof LangChainMessage) && (message as { type?: string }).type !== "human")
        throw new Error("no message of the host's class");
      const { content, tool_calls: calls, tool_call_id: id } = message as LangChainMessage;
      return JSON.stringify([content, calls, id]);
    },
  },
  pi: {
    wire: "pi",
    user: (text) => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 }),
    turn: (id, text, note) => [
      {
        role: "assistant",
        content: [{ type: "toolCall", id, name: "lookup", arguments: { note } }],
        stopReason: "toolUse",
        usage: { input: 1, output: 1 },
        timestamp: 2,
      },
      {
        role: "toolResult",
        toolCallId: id,
        toolName: "lookup",
        content: [{ type: "text", text }],
        details: { shown: UNSENT },
        isError: false,
        timestamp: 3,
      },
    ],
    rebuild: json,
    sent: without("details", "usage", "timestamp", "stopReason"),
  },
  // Results of a server; nobody speaks in them.
  mcp: {
    wire: "mcp",
    user: () => ({ jsonrpc: "2.0", id: 0, method: "tools/list" }),
    turn: (id, text, note) => [
      { jsonrpc: "2.0", id, method: "tools/call", params: { name: "lookup", arguments: { note } } },
      { jsonrpc: "2.0", id, result: { content: [{ type: "text", text }], _meta: { shown: UNSENT } } },
    ],
    rebuild: json,
    // A host puts them into messages of a provider.
    sent: (message) => {
      const { id, params, result } = message as { id: unknown; params: unknown; result?: { content: unknown } };
      return JSON.stringify([id, params, result?.content]);
    },
  },
};

/** The texts of results that no assistant has answered yet. */
export function unseenIn(format: Format, messages: readonly unknown[]): string[] {
  const wire = wireNamed(format.wire);
  if (wire === null) throw new Error(format.wire);
  const views = messages.map((message) => wire.read(message));
  const last = views.findLastIndex(({ role }) => role === "assistant");
  return views.slice(last + 1).flatMap(({ results }) => results.map(({ texts }) => texts.join("\n")));
}

/** What calls of all messages say by their argument `note`, in order. */
export function notesIn({ wire }: Format, messages: readonly unknown[]): (string | undefined)[] {
  const calls = messages.flatMap((message) => wireNamed(wire)?.read(message).calls ?? []);
  return calls.map(({ input }) => {
    return ((typeof input === "string" ? JSON.parse(input) : input) as { note?: string }).note;
  });
}
