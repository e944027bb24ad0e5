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
export const ERROR_CODES = { parse: -32700, gone: -32000, notFound: -32002 } as const;

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

/** Answers with a result. */
export function answer(id: MessageId, result: unknown): unknown {
  return { jsonrpc: "2.0", id, result };
}

/** Answers with an error. */
export function refuse(id: MessageId | null, code: number, message: string): unknown {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

/** A tool's result that says what went wrong. A model can act on it, but not on an error of the protocol. */
export function toolFault(id: MessageId, text: string): unknown {
  return answer(id, { content: [{ type: "text", text }], isError: true });
}
