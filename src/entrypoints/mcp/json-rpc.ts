import { elementsOf, membersOf, type Span } from "../../exchange/json-spans.ts";
import { isRecord } from "../../values.ts";

/** The id of a request, which its answer repeats. */
export type MessageId = string | number;

/** One message of JSON-RPC, as far as a proxy must know it; all other fields stay. */
export interface Message {
  id?: MessageId | null;
  method?: unknown;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: Record<string, unknown>;
}

/** The numbers JSON-RPC and MCP give to errors. */
export const ERROR_CODES = { parse: -32700, noMethod: -32601, badParams: -32602, gone: -32000 } as const;

/** In the protocol of 2026-07-28 each request says in its `_meta` which version it has. */
export const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

/** A request or a notification. */
export function isAsking(message: Message): message is Message & { method: string } {
  return typeof message.method === "string";
}

/** A message has an id that can be answered. */
export function hasId(message: Message): message is Message & { id: MessageId } {
  return typeof message.id === "string" || typeof message.id === "number";
}

/** The parameters of a request or a notification; empty if they are not an object. */
export function paramsOf({ params }: Message): Record<string, unknown> {
  return isRecord(params) ? params : {};
}

/** 1 and "1" are two ids. */
export function keyOf(id: MessageId): string {
  return `${typeof id}:${id}`;
}

/** The `_meta` of a request or a notification. */
export function metaOf(message: Message): Record<string, unknown> {
  const { _meta } = paramsOf(message);
  return isRecord(_meta) ? _meta : {};
}

/** A request, as far as its answer must know it. */
export interface Asked {
  id: MessageId;
  /** It has the protocol of 2026-07-28 or a later one. */
  isModern: boolean;
}

/** What the answer to a request must know. */
export function askedBy(message: Message & { id: MessageId }): Asked {
  return { id: message.id, isModern: typeof metaOf(message)[VERSION_KEY] === "string" };
}

/** What lists and what is read from a server must say in the newer protocol: whether it may be kept. */
const NOT_KEPT = { ttlMs: 0, cacheScope: "private" };

/** Answers with a result. */
export function answer({ id, isModern }: Asked, result: object, isCacheable = false): unknown {
  const about = isModern ? { resultType: "complete", ...(isCacheable && NOT_KEPT) } : {};
  return { jsonrpc: "2.0", id, result: { ...about, ...result } };
}

/** Answers with an error. */
export function refuse(id: MessageId | null, code: number, message: string): unknown {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

/** A tool's result that says what went wrong. A model can act on it, but not on an error of the protocol. */
export function toolFault(asked: Asked, text: string): unknown {
  return answer(asked, { content: [{ type: "text", text }], isError: true });
}

/** A message with the text that it came in, which has numbers that JavaScript cannot hold. */
export interface Written {
  message: Message;
  text: string;
}

/** Reads one message, or several in an array; null if the text is anything else. */
export function readMessages(text: string): Written[] | null {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return [{ message: value, text }];
    if (!Array.isArray(value) || value.length === 0 || !value.every(isRecord)) return null;
    const bytes = Buffer.from(text);
    const spans = elementsOf(bytes, startOf(bytes))?.elements ?? [];
    return value.map((message: Message, index) => {
      const { from, to } = spans[index] as Span;
      return { message, text: bytes.toString("utf8", from, to) };
    });
  } catch {
    return null;
  }
}

/** A message with other values in these places, and so its text. No other byte changes. */
export function withValues({ text }: Written, places: readonly [path: readonly string[], value: unknown][]): Written {
  let bytes = Buffer.from(text);
  for (const [path, value] of places) {
    const span = spanOf(bytes, path);
    if (span === null) continue;
    bytes = Buffer.concat([bytes.subarray(0, span.from), Buffer.from(JSON.stringify(value)), bytes.subarray(span.to)]);
  }
  const changed = bytes.toString();
  return { message: JSON.parse(changed) as Message, text: changed };
}

/** Where the value at the end of a path stands in the text of an object; null if it is not there. Of equal names the last counts. */
function spanOf(bytes: Uint8Array, path: readonly string[]): Span | null {
  let span: Span | undefined = { from: startOf(bytes), to: bytes.length };
  for (const name of path) {
    span = membersOf(bytes, span.from)?.members.findLast((member) => member.name === name);
    if (span === undefined) return null;
  }
  return span;
}

/** Where the value of a JSON text begins. */
function startOf(bytes: Uint8Array): number {
  return bytes.findIndex((byte) => byte > 0x20);
}
