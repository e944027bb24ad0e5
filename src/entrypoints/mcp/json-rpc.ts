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
    const texts = elementsOf(text);
    return value.map((message: Message, index) => ({ message, text: texts[index] as string }));
  } catch {
    return null;
  }
}

/** A message with other values in these places, and so its text. No other byte changes. */
export function withValues({ text }: Written, places: readonly [path: readonly string[], value: unknown][]): Written {
  let changed = text;
  for (const [path, value] of places) {
    const [start, end] = spanOf(changed, path) ?? [0, 0];
    if (end > 0) changed = changed.slice(0, start) + JSON.stringify(value) + changed.slice(end);
  }
  return { message: JSON.parse(changed) as Message, text: changed };
}

const SPACE = /\s*/y;
const PLAIN = /[^\s,\]}]*/y;
const MARK = /["[\]{}]/g;

/** Where the value at the end of a path stands in the text of an object; null if it is not there. Of equal names the last counts. */
function spanOf(text: string, path: readonly string[]): [start: number, end: number] | null {
  let at = match(text, 0, SPACE);
  for (const name of path) {
    let found = -1;
    if (text[at] !== "{") return null;
    for (at = match(text, at + 1, SPACE); text[at] !== "}"; at = match(text, at + Number(text[at] === ","), SPACE)) {
      const nameEnd = valueEnd(text, at);
      const value = match(text, match(text, nameEnd, SPACE) + 1, SPACE);
      if (JSON.parse(text.slice(at, nameEnd)) === name) found = value;
      at = match(text, valueEnd(text, value), SPACE);
    }
    if (found === -1) return null;
    at = found;
  }
  return [at, valueEnd(text, at)];
}

/** The texts of the elements of a list that has some. */
function elementsOf(text: string): string[] {
  const elements: string[] = [];
  for (let at = match(text, text.indexOf("[") + 1, SPACE); ; at = match(text, at + 1, SPACE)) {
    const end = valueEnd(text, at);
    elements.push(text.slice(at, end));
    at = match(text, end, SPACE);
    if (text[at] !== ",") return elements;
  }
}

/** Where a value of valid JSON ends. */
function valueEnd(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return stringEnd(text, start);
  if (first !== "{" && first !== "[") return match(text, start, PLAIN);
  let depth = 0;
  let at = start;
  do {
    MARK.lastIndex = at;
    at = MARK.exec(text)?.index ?? text.length;
    if (text[at] === '"') at = stringEnd(text, at);
    else {
      depth += text[at] === "{" || text[at] === "[" ? 1 : -1;
      at++;
    }
  } while (depth > 0 && at < text.length);
  return at;
}

function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slash = end;
    while (text[slash - 1] === "\\") slash--;
    if ((end - slash) % 2 === 0) return end + 1;
  }
  return text.length;
}

/** Where what a pattern matches from here ends. */
function match(text: string, at: number, pattern: RegExp): number {
  pattern.lastIndex = at;
  pattern.exec(text);
  return pattern.lastIndex;
}
