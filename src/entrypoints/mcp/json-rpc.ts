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
