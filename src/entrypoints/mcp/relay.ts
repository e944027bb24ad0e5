import { messageOf } from "../../errors.ts";
import { READ_BACK_TOOLS } from "../../recall/index.ts";
import type { Spillway } from "../../spillway.ts";
import { isRecord } from "../../values.ts";
import { admitCallError, admitCallResult } from "./admit-call.ts";
import { listArtifacts, listTemplates, readArtifact } from "./artifact-resources.ts";
import {
  answer,
  ERROR_CODES,
  hasId,
  isAsking,
  keyOf,
  type Message,
  type MessageId,
  paramsOf,
  refuse,
  toolFault,
} from "./json-rpc.ts";
import { offerTools, type ToolNames } from "./offer-tools.ts";

/** What a relay stands between. A message goes on as the text that came, unless it had to be changed. */
export interface RelayEnds {
  toClient(message: Uint8Array | string): Promise<void> | void;
  toServer(message: Uint8Array | string): Promise<void> | void;
  /** Called with something unusual that a person should know. */
  warn(text: string): void;
}

/** How results are brought under their limits. */
export interface RelayRules {
  /** The server's results are within their limits already. */
  isBounded?: boolean | undefined;
  /** Images, sounds and files of one result together; without it they all pass. */
  maxMediaBytes?: number | undefined;
}

/** One client's connection through the proxy. */
export interface Relay {
  fromClient(message: Uint8Array | Message): Promise<void>;
  fromServer(message: Uint8Array | Message): Promise<void>;
  /** The server is gone: everything that waits for it is answered. */
  serverGone(reason: string): Promise<void>;
  /** Answers the call that a message too long to read was for. */
  tooLong(start: Uint8Array, bytes: number): Promise<void>;
  /** The messages that a server must get first after it was started again, with ids of our own. */
  readonly greeting: readonly string[];
}

interface Waiting {
  id: MessageId;
  method: string;
  tool: string;
}

/** Requests that may wait for one server. */
const MAX_WAITING = 10_000;
/** The id of a greeting that is sent again. Nobody waits for its answer. */
const GREETING_ID = "spillway-greeting";

/** Starts a relay for one client. */
export function startRelay(spillway: Spillway, session: string, ends: RelayEnds, rules: RelayRules = {}): Relay {
  const waiting = new Map<string, Waiting>();
  const names: ToolNames = { recall: "recall", search: "search" };
  let hasResources = false;
  let greeting: string[] = [];

  const reply = (message: unknown) => ends.toClient(JSON.stringify(message));

  /** True if the request was answered here. */
  async function answerHere(message: Message & { method: string; id: MessageId }): Promise<boolean> {
    const { id, method } = message;
    const params = paramsOf(message);
    if (method === "tools/call") {
      const tool = READ_BACK_TOOLS.find(({ name }) => names[name] === params.name);
      if (tool === undefined) return false;
      // The answer is not waited for, so that a long search does not hold up the client's next message.
      void tool.call(spillway, params.arguments).then(
        ({ text, isError }) => reply(answer(id, { content: [{ type: "text", text }], isError })),
        (error: unknown) => ends.warn(messageOf(error)),
      );
      return true;
    }
    if (method === "resources/read") {
      const read = await readArtifact(spillway, params.uri);
      if (read !== null) await reply(answer(id, read));
      else if (hasResources) return false;
      else await reply(refuse(id, ERROR_CODES.notFound, `there is no resource ${String(params.uri).slice(0, 200)}`));
      return true;
    }
    if (hasResources) return false;
    if (method === "resources/list") await reply(answer(id, { resources: await listArtifacts(spillway, session) }));
    else if (method === "resources/templates/list") await reply(answer(id, { resourceTemplates: listTemplates() }));
    else return false;
    return true;
  }

  /** The server's answer as the client should get it; null to pass it on as it came. */
  async function answered(message: Message, { method, tool }: Waiting): Promise<unknown> {
    const { result, error } = message;
    if (method === "tools/call" && rules.isBounded) return null;
    if (error !== undefined && error !== null) {
      return method === "tools/call" ? admitCallError(spillway, session, tool, message, error) : null;
    }
    if (!isRecord(result)) return null;
    if (method === "tools/call") return admitCallResult({ spillway, session, tool, names, rules }, message, result);
    if (method === "tools/list") return { ...message, result: offerTools(spillway, result, names) };
    if (method === "initialize" || method === "server/discover") {
      const capabilities = isRecord(result.capabilities) ? result.capabilities : {};
      hasResources = isRecord(capabilities.resources);
      return { ...message, result: { ...result, capabilities: { tools: {}, resources: {}, ...capabilities } } };
    }
    if (result.nextCursor !== undefined) return null;
    if (method === "resources/list" && Array.isArray(result.resources)) {
      const own = await listArtifacts(spillway, session);
      return { ...message, result: { ...result, resources: [...result.resources, ...own] } };
    }
    if (method === "resources/templates/list" && Array.isArray(result.resourceTemplates)) {
      const all = [...result.resourceTemplates, ...listTemplates()];
      return { ...message, result: { ...result, resourceTemplates: all } };
    }
    return null;
  }

  async function oneFromClient(message: Message): Promise<Message | null> {
    if (!isAsking(message)) return message;
    if (!hasId(message)) {
      if (message.method === "notifications/cancelled") forget(paramsOf(message).requestId);
      if (message.method === "notifications/initialized") greeting = [...greeting.slice(0, 1), JSON.stringify(message)];
      return message;
    }
    const { id, method } = message;
    const { name } = paramsOf(message);
    if (await answerHere(message)) return null;
    if (waiting.size >= MAX_WAITING) {
      await reply(refuse(id, ERROR_CODES.gone, `${MAX_WAITING} requests wait for this server already`));
      return null;
    }
    if (method === "initialize") greeting = [JSON.stringify({ ...message, id: GREETING_ID })];
    waiting.set(keyOf(id), { id, method, tool: typeof name === "string" ? name : "tool" });
    return message;
  }

  async function oneFromServer(message: Message): Promise<Message | null> {
    if (isAsking(message) || !hasId(message)) return message;
    if (message.id === GREETING_ID) return null;
    const request = waiting.get(keyOf(message.id));
    if (request === undefined) {
      ends.warn(`the server answered ${keyOf(message.id).slice(0, 100)}, which nobody waits for; that is left out`);
      return null;
    }
    waiting.delete(keyOf(message.id));
    return ((await answered(message, request)) as Message | null) ?? message;
  }

  function forget(id: unknown): void {
    if (typeof id === "string" || typeof id === "number") waiting.delete(keyOf(id));
  }

  async function fail({ id, method }: Waiting, reason: string): Promise<void> {
    waiting.delete(keyOf(id));
    await reply(method === "tools/call" ? toolFault(id, reason) : refuse(id, ERROR_CODES.gone, reason));
  }

  return {
    async fromClient(bytes) {
      const parsed = parse(bytes);
      if (parsed === null) return void (await reply(refuse(null, ERROR_CODES.parse, "this is no JSON message")));
      await pass(parsed, bytes, oneFromClient, ends.toServer);
    },
    async fromServer(bytes) {
      const parsed = parse(bytes);
      if (parsed === null) {
        const start = bytes instanceof Uint8Array ? Buffer.from(bytes.subarray(0, 200)).toString() : "";
        ends.warn(`the server wrote something that is no message: ${start}`);
        return;
      }
      await pass(parsed, bytes, oneFromServer, ends.toClient);
    },
    async serverGone(reason) {
      for (const request of waiting.values()) await fail(request, reason);
    },
    async tooLong(start, bytes) {
      const [, quoted, number] =
        /"id"\s*:\s*(?:"([^"\\]{1,200})"|(\d{1,15}))/.exec(Buffer.from(start).toString()) ?? [];
      const id = quoted ?? (number === undefined ? undefined : Number(number));
      const request = id === undefined ? undefined : waiting.get(keyOf(id));
      const text = `The server's answer has ${bytes} bytes, more than can be read at once: ask for less.`;
      ends.warn(text);
      // If it is not known which call the message was for, all open calls are answered, so that no client waits for ever.
      for (const each of request === undefined ? [...waiting.values()] : [request]) await fail(each, text);
    },
    get greeting() {
      return greeting;
    },
  };
}

function parse(bytes: Uint8Array | Message): Message | Message[] | null {
  if (!(bytes instanceof Uint8Array)) return bytes;
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
    return Array.isArray(value) || isRecord(value) ? (value as Message | Message[]) : null;
  } catch {
    return null;
  }
}

/** Passes a message on: as it came if it stays as it is. Older clients send several in an array. */
async function pass(
  parsed: Message | Message[],
  raw: Uint8Array | Message,
  one: (message: Message) => Promise<Message | null>,
  send: (message: Uint8Array | string) => Promise<void> | void,
): Promise<void> {
  if (!Array.isArray(parsed)) {
    const next = await one(parsed);
    if (next !== null) await send(next === parsed && raw instanceof Uint8Array ? raw : JSON.stringify(next));
    return;
  }
  const kept: unknown[] = [];
  for (const each of parsed) {
    const next = isRecord(each) ? await one(each) : null;
    if (next !== null) kept.push(next);
  }
  const isSame = kept.length === parsed.length && kept.every((each, index) => each === parsed[index]);
  if (kept.length > 0) await send(isSame && raw instanceof Uint8Array ? raw : JSON.stringify(kept));
}
