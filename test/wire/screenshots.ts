import { deflateSync } from "node:zlib";

// Agents that work on a screen and get a screenshot with every turn.

/** A screenshot of 1280 by 800 pixels that no other turn has: its head, and bytes that do not repeat. */
export function screenshot(turn: number): Buffer {
  const head = Buffer.alloc(33);
  head.write("\x89PNG\r\n\x1a\n", "latin1");
  head.writeUInt32BE(13, 8);
  head.write("IHDR", 12);
  head.writeUInt32BE(1280, 16);
  head.writeUInt32BE(800, 20);
  const noise = Array.from({ length: 4000 }, (_, at) => Math.imul(at + turn * 7919, 2654435761) >>> 8);
  return Buffer.concat([head, deflateSync(Buffer.from(Uint32Array.from(noise).buffer))]);
}

/** A turn in which an agent clicks and gets a screenshot, in the way that each format's agents send one. */
type Turn = (id: string, png: Buffer) => object[];
const url = (png: Buffer) => `data:image/png;base64,${png.toString("base64")}`;
const data = (png: Buffer) => png.toString("base64");

export const agents: { name: string; wire: string; user: object; turn: Turn }[] = [
  {
    name: "anthropic",
    wire: "anthropic",
    user: { role: "user", content: "book a flight" },
    turn: (id, png) => [
      { role: "assistant", content: [{ type: "tool_use", id, name: "computer", input: { action: "click" } }] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: id,
            content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: data(png) } }],
          },
        ],
      },
    ],
  },
  {
    name: "openai-chat, a user's message behind the result",
    wire: "openai-chat",
    user: { role: "user", content: "book a flight" },
    turn: (id, png) => [
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id, type: "function", function: { name: "click", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: id, content: "clicked" },
      { role: "user", content: [{ type: "image_url", image_url: { url: url(png) } }] },
    ],
  },
  {
    name: "openai-responses",
    wire: "openai-responses",
    user: { type: "message", role: "user", content: [{ type: "input_text", text: "book a flight" }] },
    turn: (id, png) => [
      { type: "function_call", call_id: id, name: "click", arguments: "{}" },
      { type: "function_call_output", call_id: id, output: [{ type: "input_image", image_url: url(png) }] },
    ],
  },
  {
    name: "gemini, inside the response",
    wire: "gemini",
    user: { role: "user", parts: [{ text: "book a flight" }] },
    turn: (id, png) => [
      { role: "model", parts: [{ functionCall: { id, name: "click", args: {} } }] },
      {
        role: "user",
        parts: [
          {
            functionResponse: {
              id,
              name: "click",
              response: { url: "x" },
              parts: [{ inlineData: { mimeType: "image/png", data: data(png) } }],
            },
          },
        ],
      },
    ],
  },
  {
    name: "gemini, beside the response",
    wire: "gemini",
    user: { role: "user", parts: [{ text: "book a flight" }] },
    turn: (id, png) => [
      { role: "model", parts: [{ functionCall: { id, name: "click", args: {} } }] },
      {
        role: "user",
        parts: [
          { functionResponse: { id, name: "click", response: { output: "ok" } } },
          { inlineData: { mimeType: "image/png", data: data(png) } },
        ],
      },
    ],
  },
  {
    name: "bedrock",
    wire: "bedrock",
    user: { role: "user", content: [{ text: "book a flight" }] },
    turn: (id, png) => [
      { role: "assistant", content: [{ toolUse: { toolUseId: id, name: "click", input: {} } }] },
      {
        role: "user",
        content: [
          { toolResult: { toolUseId: id, content: [{ image: { format: "png", source: { bytes: data(png) } } }] } },
        ],
      },
    ],
  },
  {
    name: "ai-sdk",
    wire: "ai-sdk",
    user: { role: "user", content: [{ type: "text", text: "book a flight" }] },
    turn: (id, png) => [
      { role: "assistant", content: [{ type: "tool-call", toolCallId: id, toolName: "click", input: {} }] },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: id,
            toolName: "click",
            output: { type: "content", value: [{ type: "media", data: data(png), mediaType: "image/png" }] },
          },
        ],
      },
    ],
  },
  {
    name: "langchain",
    wire: "langchain",
    user: { type: "human", content: "book a flight" },
    turn: (id, png) => [
      { type: "ai", content: "", tool_calls: [{ id, name: "click", args: {}, type: "tool_call" }] },
      {
        type: "tool",
        tool_call_id: id,
        name: "click",
        content: [{ type: "image_url", image_url: { url: url(png) } }],
      },
    ],
  },
  {
    name: "langchain, stored, a human's message behind the result",
    wire: "langchain",
    user: { type: "human", data: { content: "book a flight" } },
    turn: (id, png) => [
      { type: "ai", data: { content: "", tool_calls: [{ id, name: "click", args: {}, type: "tool_call" }] } },
      { type: "tool", data: { tool_call_id: id, name: "click", content: "clicked" } },
      { type: "human", data: { content: [{ type: "image_url", image_url: { url: url(png) } }] } },
    ],
  },
  {
    name: "pi",
    wire: "pi",
    user: { role: "user", content: [{ type: "text", text: "book a flight" }], timestamp: 1 },
    turn: (id, png) => [
      {
        role: "assistant",
        content: [{ type: "toolCall", id, name: "click", arguments: {} }],
        stopReason: "toolUse",
        timestamp: 2,
      },
      {
        role: "toolResult",
        toolCallId: id,
        toolName: "click",
        content: [{ type: "image", data: data(png), mimeType: "image/png" }],
        isError: false,
        timestamp: 3,
      },
    ],
  },
];

/** The messages of a user, and of so many turns. */
export const turnsOf = ({ user, turn }: (typeof agents)[number], count: number): object[][] => [
  [user],
  ...Array.from({ length: count }, (_, at) => turn(`call_${at}`, screenshot(at))),
];

const ends = Array.from({ length: 40 }, (_, turn) => data(screenshot(turn)).slice(-400));

/** Whether messages, or their JSON, hold the screenshot of a turn. */
export const has = (messages: readonly unknown[] | string, turn: number): boolean =>
  (typeof messages === "string" ? messages : JSON.stringify(messages)).includes(ends[turn] as string);
