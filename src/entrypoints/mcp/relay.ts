import { Readable } from "node:stream";
import type { Receipt } from "../../contract/receipt.ts";
import { messageOf } from "../../errors.ts";
import { READ_BACK_TOOLS } from "../../recall/index.ts";
import type { Spillway } from "../../spillway.ts";
import { isRecord } from "../../values.ts";
import { admitCallError, admitCallResult, admitReading, READERS } from "./admit-call.ts";
import { isArtifact, listArtifacts, listTemplates, readArtifact } from "./artifact-resources.ts";
import {
  type Asked,
  answer,
  askedBy,
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
import { filled, MOST_SHOWN_BYTES, readLarge } from "./large-message.ts";
import type { Line } from "./line-frames.ts";
import {
  askLookingFor,
  avoidNames,
  type ListedTools,
  offerTool,
  ownTools,
  type ToolNames,
  takeLookingFor,
} from "./offer-tools.ts";
import type { RequestHeaders } from "./upstream.ts";

/** What a relay stands between. A message goes on as the text that came, unless it had to be changed. */
export interface RelayEnds {
  toClient(message: Uint8Array | string): Promise<void> | void;
  /** Rejects, with the reason in words, if the server cannot take the message. */
  toServer(message: Uint8Array | string, headers: RequestHeaders): Promise<void> | void;
  /** Called with something unusual that a person should know. */
  warn(text: string): void;
}

/** How results are brought under their limits, and what is offered beside the server's own. */
export interface RelayRules {
  /** The server's results are within their limits already. */
  isBounded?: boolean | undefined;
  /** Images, sounds and files of one result together; without it they all pass. */
  maxMediaBytes?: number | undefined;
  /** False: `recall` and `search` are not offered here, since another server of the client has them. */
  readBack?: boolean | undefined;
  /** The server's tools get an argument by which a model may say what it looks for in the result. */
  lookingFor?: boolean | undefined;
  /** Saved outputs are listed as resources. */
  resources?: boolean | undefined;
}

/** One client's connection through the proxy. */
export interface Relay {
  /** `headers` are those of the client's own request that go on to a server over HTTP. */
  fromClient(message: Uint8Array | Message, headers?: RequestHeaders): Promise<void>;
  fromServer(message: Line | Message): Promise<void>;
  /** The server is gone: everything that waits for it is answered. */
  serverGone(reason: string): Promise<void>;
  /** The server did not take one request: that one is answered. */
  failed(id: MessageId, reason: string): Promise<void>;
  /** Answers the call that a message too long to read was for. */
  tooLong(start: Uint8Array, bytes: number): Promise<void>;
  /** The messages that a server must get first after it was started again, with ids of our own. */
  readonly greeting: readonly string[];
}

interface Waiting extends Asked {
  method: string;
  tool: string;
  /** What the model said that it looks for. */
  lookingFor?: string | undefined;
  /** If the server has no such tool, ours is called. */
  ours?: (() => Promise<void>) | undefined;
}

/** Requests that may wait for one server. */
const MAX_WAITING = 10_000;
/** Tasks whose tool is remembered. */
const MAX_TASKS = 1000;
/** The id of a greeting that is sent again. Nobody waits for its answer. */
const GREETING_ID = "spillway-greeting";

/** Starts a relay for one client. */
export function startRelay(spillway: Spillway, session: string, ends: RelayEnds, rules: RelayRules = {}): Relay {
  const waiting = new Map<string, Waiting>();
  const tasks = new Map<string, string>();
  const names: ToolNames = { recall: "recall", search: "search" };
  const offersTools = rules.readBack !== false;
  const listed = listedTools(rules);
  let greeting: string[] = [];

  const reply = (message: unknown) => ends.toClient(JSON.stringify(message));

  /** Sends to the server. If it does not take them, these requests fail, and no others. */
  async function toServer(raw: Uint8Array | string, messages: readonly Message[], headers: RequestHeaders) {
    try {
      await ends.toServer(raw, headers);
    } catch (error) {
      for (const message of messages)
        if (isAsking(message) && hasId(message)) await failed(message.id, messageOf(error));
    }
  }

  /** True if the request is answered here. */
  async function answerHere(message: Message & { method: string; id: MessageId }): Promise<boolean> {
    const { uri, arguments: args } = paramsOf(message);
    if (message.method === "resources/read" && rules.resources) {
      const read = await readArtifact(spillway, uri);
      if (read !== null) await reply(answer(askedBy(message), read, true));
      return read !== null;
    }
    const call = ourCall(message);
    if (call === undefined || !(await isArtifact(spillway, isRecord(args) ? args.id : undefined))) return false;
    // The answer is not waited for, so that a long search does not hold up the client's next message.
    void call();
    return true;
  }

  /**
   * Calls the tool of ours that a request names. The server may have one of that name which nobody listed: so only what is
   * asked of a saved output is surely ours, and the server is asked first for all else.
   */
  function ourCall(message: Message & { method: string; id: MessageId }): (() => Promise<void>) | undefined {
    const { name, arguments: args } = paramsOf(message);
    const tool = READ_BACK_TOOLS.find((each) => names[each.name] === name);
    if (message.method !== "tools/call" || tool === undefined || !offersTools) return undefined;
    return async () => {
      const { text, isError } = await tool.call(spillway, args);
      await reply(answer(askedBy(message), { content: [{ type: "text", text }], isError }));
    };
  }

  /** The server's answer as the client should get it; null to pass it on as it came. */
  async function answered(message: Message, request: Waiting, cut?: Receipt): Promise<Message | null> {
    const { method, tool, lookingFor } = request;
    const call = { spillway, session, tool, names, rules, cut, lookingFor };
    const isCall = method === "tools/call" || method === "tasks/result";
    if (isCall && rules.isBounded) return null;
    if (message.error !== undefined && message.error !== null) {
      const { error } = message;
      const own = isRecord(error) && error.code === ERROR_CODES.noMethod ? ownList(method) : null;
      if (own === null) return admitCallError(call, message, error);
      const listed = answer(request, own, true) as Message;
      return (await answered(listed, request)) ?? listed;
    }
    if (isCall) {
      noteTask(message.result, tool);
      return admitCallResult(call, message, message.result);
    }
    const { result } = message;
    if (!isRecord(result)) return null;
    const reader = READERS[method];
    if (reader !== undefined) return admitReading({ ...call, tool: reader.tool }, message, result, reader.list);
    if (method.startsWith("tasks/") && isRecord(result.result)) {
      const done = await admitCallResult(call, { id: request.id }, result.result);
      return done === null ? null : { ...message, result: { ...result, result: done.result } };
    }
    const offered = await offer(method, result);
    return offered === null ? null : { ...message, result: offered };
  }

  /** What a server that lacks such a list is said to have, so that ours can be added. */
  function ownList(method: string): Record<string, unknown> | null {
    if (method === "tools/list" && offersTools) return { tools: [] };
    if (method === "resources/list" && rules.resources) return { resources: [] };
    return method === "resources/templates/list" && rules.resources ? { resourceTemplates: [] } : null;
  }

  /** What a server says that it has, with ours; null if that stays as it is. */
  async function offer(method: string, result: Record<string, unknown>): Promise<Record<string, unknown> | null> {
    if (method === "initialize" || method === "server/discover") {
      const own = { ...(offersTools && { tools: {} }), ...(rules.resources && { resources: {} }) };
      const capabilities = isRecord(result.capabilities) ? result.capabilities : {};
      return { ...result, capabilities: { ...own, ...capabilities } };
    }
    // Ours are added to the last page only.
    const isLast = result.nextCursor === undefined;
    if (method === "tools/list" && Array.isArray(result.tools)) {
      avoidNames(names, result.tools);
      const offered = result.tools.map((tool) => offerTool(spillway, tool));
      const tools = rules.lookingFor ? offered.map((tool) => askLookingFor(tool, listed)) : offered;
      return { ...result, tools: isLast && offersTools ? [...tools, ...ownTools(names)] : tools };
    }
    if (!isLast || !rules.resources) return null;
    if (method === "resources/list" && Array.isArray(result.resources)) {
      return { ...result, resources: [...result.resources, ...(await listArtifacts(spillway, session))] };
    }
    if (method === "resources/templates/list" && Array.isArray(result.resourceTemplates)) {
      return { ...result, resourceTemplates: [...result.resourceTemplates, ...listTemplates()] };
    }
    return null;
  }

  /** A task's result comes later, and is then that of the tool. */
  function noteTask(result: unknown, tool: string): void {
    const task = isRecord(result) && isRecord(result.task) ? result.task : result;
    if (!isRecord(task) || typeof task.taskId !== "string") return;
    tasks.set(task.taskId, tool);
    for (const [oldest] of tasks) if (tasks.size > MAX_TASKS) tasks.delete(oldest);
  }

  function wait(message: Message & { method: string; id: MessageId }, lookingFor?: string): void {
    const { name, taskId } = paramsOf(message);
    const tool = typeof taskId === "string" ? tasks.get(taskId) : name;
    const { method } = message;
    const asked = { ...askedBy(message), method, tool: typeof tool === "string" ? tool : "tool" };
    waiting.set(keyOf(message.id), { ...asked, lookingFor, ours: ourCall(message) });
  }

  async function oneFromClient(message: Message): Promise<Message | null> {
    if (!isAsking(message)) return message;
    if (!hasId(message)) {
      if (message.method === "notifications/cancelled") forget(paramsOf(message).requestId);
      if (message.method === "notifications/initialized") greeting = [...greeting.slice(0, 1), JSON.stringify(message)];
      return message;
    }
    if (await answerHere(message)) return null;
    if (waiting.size >= MAX_WAITING) {
      await reply(refuse(message.id, ERROR_CODES.gone, `${MAX_WAITING} requests wait for this server already`));
      return null;
    }
    if (message.method === "initialize") greeting = [JSON.stringify({ ...message, id: GREETING_ID })];
    const takes = rules.lookingFor && message.method === "tools/call";
    const taken = takes ? takeLookingFor(paramsOf(message), listed) : null;
    wait(message, taken?.lookingFor);
    return taken === null ? message : { ...message, params: taken.params };
  }

  async function oneFromServer(message: Message, cut?: Receipt): Promise<Message | null> {
    if (isAsking(message) || !hasId(message)) return message;
    if (message.id === GREETING_ID) return null;
    const request = waiting.get(keyOf(message.id));
    if (request === undefined) {
      ends.warn(`the server answered ${keyOf(message.id).slice(0, 100)}, which nobody waits for; that is left out`);
      return null;
    }
    waiting.delete(keyOf(message.id));
    if (request.ours !== undefined && lacksTool(message)) {
      void request.ours();
      return null;
    }
    try {
      return (await answered(message, request, cut)) ?? message;
    } catch (error) {
      // If we fail, the client still gets an answer.
      ends.warn(messageOf(error));
      await fail(request, `Spillway could not bound the server's answer: ${messageOf(error)}`);
      return null;
    }
  }

  /** An answer of many megabytes: its long texts are bounded one after another, and never held as a whole. */
  async function largeFromServer(parts: Uint8Array[]): Promise<void> {
    const large = readLarge(parts);
    const request = large !== null && hasId(large.message) ? waiting.get(keyOf(large.message.id)) : undefined;
    if (large === null || request === undefined || rules.isBounded || !isBoundable(request.tool)) {
      return passFromServer(Buffer.concat(parts));
    }
    const { tool, method, lookingFor } = request;
    const intent = lookingFor === undefined ? undefined : { model: lookingFor };
    const about = { tool: READERS[method]?.tool ?? tool, session, call: String(request.id), intent };
    const shown = new Map<string, string>();
    let cut: Receipt | undefined;
    try {
      for (const [name, chunks] of large.texts) {
        const reader = { by: "tool" as const, ...names };
        const admitted = await spillway.admit({ ...about, reader, output: Readable.from(chunks()) });
        shown.set(name, admitted.text);
        cut ??= admitted.receipt;
      }
    } catch (error) {
      return fail(request, `Spillway could not read the server's answer: ${messageOf(error)}`);
    }
    const next = await oneFromServer(filled(large.message, shown), cut);
    if (next !== null) await ends.toClient(JSON.stringify(next));
  }

  /** The tool has limits within which what is read of a large answer is enough. */
  function isBoundable(tool: string): boolean {
    const { off, limits } = spillway.resolve(tool);
    const { maxChars = Number.POSITIVE_INFINITY, maxBytes = maxChars * 4 } = limits;
    return !off && maxBytes <= MOST_SHOWN_BYTES;
  }

  async function passFromServer(bytes: Uint8Array | Message): Promise<void> {
    const parsed = parse(bytes);
    if (parsed === null) {
      const start = bytes instanceof Uint8Array ? Buffer.from(bytes.subarray(0, 200)).toString() : "";
      ends.warn(`the server wrote something that is no message: ${start}`);
      return;
    }
    await pass(parsed, bytes, (message) => oneFromServer(message), ends.toClient);
  }

  function forget(id: unknown): void {
    if (typeof id === "string" || typeof id === "number") waiting.delete(keyOf(id));
  }

  async function fail(request: Waiting, reason: string): Promise<void> {
    waiting.delete(keyOf(request.id));
    const isCall = request.method === "tools/call";
    await reply(isCall ? toolFault(request, reason) : refuse(request.id, ERROR_CODES.gone, reason));
  }

  async function failed(id: MessageId, reason: string): Promise<void> {
    const request = waiting.get(keyOf(id));
    if (request !== undefined) await fail(request, reason);
  }

  return {
    async fromClient(bytes, headers = {}) {
      const parsed = parse(bytes);
      if (parsed === null) return void (await reply(refuse(null, ERROR_CODES.parse, "this is no JSON message")));
      await pass(parsed, bytes, oneFromClient, (raw, messages) => toServer(raw, messages, headers));
    },
    fromServer: (message) => (Array.isArray(message) ? largeFromServer(message) : passFromServer(message)),
    async serverGone(reason) {
      for (const request of waiting.values()) await fail(request, reason);
    },
    failed,
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

/** Tools that were listed, by the rules of their proxy: over HTTP each session of a client has a relay of its own. */
const listedByRules = new WeakMap<RelayRules, ListedTools>();

function listedTools(rules: RelayRules): ListedTools {
  const listed: ListedTools = listedByRules.get(rules) ?? new Map();
  listedByRules.set(rules, listed);
  return listed;
}

/** The server says that it has no such tool. */
function lacksTool({ error, result }: Message): boolean {
  if (isRecord(error)) return error.code === ERROR_CODES.noMethod || error.code === ERROR_CODES.badParams;
  if (!isRecord(result) || result.isError !== true) return false;
  const said = JSON.stringify(result.content)?.slice(0, 500) ?? "";
  return /tool/i.test(said) && /unknown|not found|no such|not exist|invalid/i.test(said);
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
  send: (raw: Uint8Array | string, messages: readonly Message[]) => Promise<void> | void,
): Promise<void> {
  if (!Array.isArray(parsed)) {
    const next = await one(parsed);
    if (next !== null) await send(next === parsed && raw instanceof Uint8Array ? raw : JSON.stringify(next), [next]);
    return;
  }
  const kept: Message[] = [];
  for (const each of parsed) {
    const next = isRecord(each) ? await one(each) : null;
    if (next !== null) kept.push(next);
  }
  const isSame = kept.length === parsed.length && kept.every((each, index) => each === parsed[index]);
  if (kept.length > 0) await send(isSame && raw instanceof Uint8Array ? raw : JSON.stringify(kept), kept);
}
