import { setMaxListeners } from "node:events";
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../errors.ts";
import { isRecord } from "../../values.ts";
import { exchange, readEvents, readStart } from "./http-exchange.ts";
import { hasId, isAsking, keyOf, type Message, type MessageId, metaOf, paramsOf, readMessages } from "./json-rpc.ts";
import { outlineOf } from "./large-message.ts";
import { type Line, lineOf } from "./line-frames.ts";
import { newModernHeaders } from "./modern-headers.ts";
import type { RequestHeaders, ServerHandlers, Upstream } from "./upstream.ts";

/** A server that is reached over HTTP. */
export interface HttpServerOptions {
  url: URL;
  /** Headers that are sent with every request, such as a token for the server. */
  headers: () => Promise<RequestHeaders>;
}

/** What a refusal says is shown up to this. */
const MAX_REFUSAL_CHARS = 500;
const MAX_REFUSAL_BYTES = 64 * 1024;
const MAX_BODY_BYTES = 500 * 1024 * 1024;
/** Requests that are sent at a time; others wait. */
const MAX_AT_ONCE = 100;
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;
const STOP_WAIT_MS = 2000;
const POSTED = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const EVENTS = { accept: "text/event-stream" };
const SESSION_HEADER = "mcp-session-id";
/** The headers of a request lack one that the tool declares. */
const HEADER_MISMATCH = -32020;

/** A post: its requests, and those of them that are not answered. */
interface Post {
  text: string;
  messages: Message[];
  /** The headers of the client's own request. */
  headers: RequestHeaders;
  due: Map<string, MessageId>;
}

/** Connects to a server over streamable HTTP. Each request is a post of its own, so they run at the same time. */
export function startHttpServer({ url, headers: ownHeaders }: HttpServerOptions, handlers: ServerHandlers): Upstream {
  const modern = newModernHeaders();
  const all = new AbortController();
  // Each call listens until it ends. Node takes more than ten listeners for a leak and warns on standard error.
  setMaxListeners(0, all.signal);
  const open = new Map<string, AbortController>();
  const running = new Set<Promise<void>>();
  /** Who we are for a server of the older protocol, and the version that was agreed on. */
  let session: string | undefined;
  let version: string | undefined;
  let greeted: Promise<void> = Promise.resolve();
  let listening: AbortController | null = null;

  async function headersFor(message: Message | null, given: RequestHeaders = {}): Promise<RequestHeaders> {
    const own = message === null ? {} : modern.of(message);
    const isOlder = Object.keys(own).length === 0;
    return {
      ...(isOlder && session !== undefined && { [SESSION_HEADER]: session }),
      ...(isOlder && version !== undefined && { "mcp-protocol-version": version }),
      ...own,
      ...(await ownHeaders()),
      ...given,
    };
  }

  async function post(body: string, headers: RequestHeaders, signal: AbortSignal): Promise<IncomingMessage> {
    return exchange({ url, method: "POST", headers: { ...POSTED, ...headers }, body, signal });
  }

  /** Posts, and reads what is answered to the end. Whatever goes wrong fails the requests of this post alone. */
  async function run(asked: Post): Promise<void> {
    const abort = new AbortController();
    const stop = () => abort.abort();
    all.signal.addEventListener("abort", stop);
    const keys = [...asked.due.keys()];
    for (const key of keys) open.set(key, abort);
    try {
      await ask(asked, abort.signal, true);
      await fail(asked, "it ended its answer early");
    } catch (error) {
      if (!abort.signal.aborted) await fail(asked, messageOf(error));
    } finally {
      for (const key of keys) if (open.get(key) === abort) open.delete(key);
      all.signal.removeEventListener("abort", stop);
    }
  }

  async function fail({ due }: Post, reason: string): Promise<void> {
    const text = `The MCP server at ${url.origin} cannot be asked: ${reason.slice(0, MAX_REFUSAL_CHARS)}`;
    for (const id of due.values()) await handlers.failed(id, text);
    due.clear();
  }

  async function ask(asked: Post, signal: AbortSignal, mayRepeat: boolean): Promise<void> {
    // What is asked while the server is greeted again goes out with its new session.
    await greeted.catch(() => {});
    const sent = session;
    const [first = null] = asked.messages;
    const answer = await post(asked.text, await headersFor(first, asked.headers), signal);
    const status = answer.statusCode ?? 0;
    if (status >= 200 && status < 300) {
      if (asked.messages.some(({ method }) => method === "initialize")) noteSession(answer);
      return take(asked, answer, signal);
    }
    const said = await readStart(answer, MAX_REFUSAL_BYTES);
    const refusal = messagesOf(said).find(({ error }) => isRecord(error));
    const isLost = sent !== undefined && (status === 404 || (status === 400 && /session/i.test(said)));
    if (mayRepeat && isLost && handlers.greeting().length > 0) {
      // The server was started again and does not know us.
      await greetAgain(sent);
      return ask(asked, signal, false);
    }
    if (mayRepeat && refusal?.error?.code === HEADER_MISMATCH && first !== null) {
      await learnTools(first, asked.headers, signal);
      return ask(asked, signal, false);
    }
    if (refusal !== undefined && hasId(refusal) && asked.due.delete(keyOf(refusal.id))) {
      return handlers.message(refusal);
    }
    const words = (refusal === undefined ? said : String(refusal.error?.message)).trim();
    throw new Error(`it answered with status ${status}${words === "" ? "" : `: ${words}`}`);
  }

  function noteSession({ headers: { [SESSION_HEADER]: given } }: IncomingMessage): void {
    session = typeof given === "string" ? given : undefined;
  }

  /** A tool was called that nobody listed: only the list says which headers its calls have. */
  async function learnTools(called: Message, given: RequestHeaders, signal: AbortSignal): Promise<void> {
    const { progressToken: _, ..._meta } = metaOf(called);
    const list = { jsonrpc: "2.0", id: "spillway-list", method: "tools/list", params: { _meta } };
    const others = Object.fromEntries(Object.entries(given).filter(([name]) => !name.startsWith("mcp-")));
    const answer = await post(JSON.stringify(list), await headersFor(list, others), signal);
    for await (const line of messagesIn(answer)) for (const { result } of messagesOf(line)) modern.learn(result);
  }

  /** Sends the first messages of the connection again; several lost requests do it once. */
  function greetAgain(lost: string): Promise<void> {
    if (session !== lost) return greeted;
    session = undefined;
    greeted = (async () => {
      for (const line of handlers.greeting()) {
        const answer = await post(line, await headersFor(null), all.signal);
        if ((answer.statusCode ?? 0) >= 300) {
          throw new Error(
            `it answered with status ${answer.statusCode}: ${await readStart(answer, MAX_REFUSAL_BYTES)}`,
          );
        }
        if (session === undefined) noteSession(answer);
        for await (const line of messagesIn(answer)) messagesOf(line).forEach(note);
      }
      listen();
    })().catch((error: unknown) => {
      // The next request finds it lost once more, and greets again.
      session = lost;
      throw error;
    });
    return greeted;
  }

  async function take(asked: Post, answer: IncomingMessage, signal: AbortSignal): Promise<void> {
    const at: Place = {};
    for await (const line of messagesIn(answer, at)) await tell(asked, line);
    // A server may end a stream early and have it asked for again.
    while (asked.due.size > 0 && at.id !== undefined) {
      await sleep(at.retryMs ?? FIRST_PAUSE_MS, undefined, { signal, ref: false });
      const headers = { ...(await headersFor(null, asked.headers)), ...EVENTS, "last-event-id": at.id };
      const again = await exchange({ url, method: "GET", headers, signal });
      if (again.statusCode !== 200) throw new Error(`it answered with status ${again.statusCode}`);
      for await (const line of messagesIn(again, at)) await tell(asked, line);
    }
    if (asked.messages.some(({ method }) => method === "notifications/initialized")) listen();
  }

  /** Hands a message on, and notes which request it answers and what later ones must say. */
  async function tell({ due, messages }: Post, line: Line): Promise<void> {
    const isWatched = messages.some(({ method }) => method === "initialize" || method === "tools/list");
    for (const message of messagesOf(Array.isArray(line) && !isWatched ? outlineOf(line) : line)) {
      if (isAsking(message)) continue;
      if (hasId(message)) due.delete(keyOf(message.id));
      if (isWatched) note(message);
    }
    await handlers.message(line);
  }

  /** In the older protocol the version that was agreed on goes with every later request. */
  function note({ result }: Message): void {
    if (!isRecord(result)) return;
    if (isRecord(result.serverInfo) && typeof result.protocolVersion === "string") version = result.protocolVersion;
    if (Array.isArray(result.tools)) modern.learn(result);
  }

  /** Hears what the server says of its own accord, for as long as the session lasts. */
  function listen(): void {
    listening?.abort();
    const abort = new AbortController();
    listening = abort;
    all.signal.addEventListener("abort", () => abort.abort());
    void hear(abort.signal).catch(() => {});
  }

  async function hear(signal: AbortSignal): Promise<void> {
    const at: Place = {};
    let pauseMs = FIRST_PAUSE_MS;
    for (;;) {
      const headers = {
        ...(await headersFor(null)),
        ...EVENTS,
        ...(at.id !== undefined && { "last-event-id": at.id }),
      };
      const answer = await exchange({ url, method: "GET", headers, signal }).catch(() => null);
      const status = answer?.statusCode ?? 500;
      if (status === 200 && answer !== null) {
        pauseMs = FIRST_PAUSE_MS;
        try {
          for await (const line of messagesIn(answer, at)) await handlers.message(line);
        } catch {
          // It broke off, and is asked for again.
        }
      } else {
        answer?.resume();
        // It has no such stream, or does not know us any more: then the next request tells.
        if (status < 500) return;
      }
      await sleep(at.retryMs ?? pauseMs, undefined, { signal, ref: false });
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
    }
  }

  /** A cancelled request of the newer protocol is one whose post is broken off. */
  function breakOff(message: Message): boolean {
    const { requestId } = paramsOf(message);
    if (message.method !== "notifications/cancelled" || session !== undefined) return false;
    if (typeof requestId !== "string" && typeof requestId !== "number") return false;
    const abort = open.get(keyOf(requestId));
    abort?.abort();
    return abort !== undefined;
  }

  return {
    async send(message, headers) {
      const text = Buffer.from(message).toString();
      const messages = messagesOf(text);
      if (messages.length === 1 && breakOff(messages[0] as Message)) return;
      const due = new Map<string, MessageId>();
      for (const each of messages) if (isAsking(each) && hasId(each)) due.set(keyOf(each.id), each.id);
      while (running.size >= MAX_AT_ONCE) await Promise.race(running);
      const done = run({ text, messages, headers, due }).finally(() => running.delete(done));
      running.add(done);
      // What needs no answer keeps its order; an answer is not waited for, so that requests run at the same time.
      if (due.size === 0) await done;
    },
    async stop() {
      const sent = session;
      all.abort();
      if (sent === undefined) return;
      try {
        const [headers, signal] = [await headersFor(null), AbortSignal.timeout(STOP_WAIT_MS)];
        (await exchange({ url, method: "DELETE", headers, signal })).resume();
      } catch {
        // It forgets the session by itself.
      }
    },
  };
}

/** Where a stream of events goes on. */
interface Place {
  id?: string;
  retryMs?: number;
}

/** The messages of an answer: a JSON body, or events. */
async function* messagesIn(answer: IncomingMessage, at: Place = {}): AsyncGenerator<Line> {
  const type = answer.headers["content-type"] ?? "";
  if (type.includes("text/event-stream")) {
    for await (const { data, id, retryMs } of readEvents(answer, MAX_BODY_BYTES)) {
      if (id !== undefined) at.id = id;
      if (retryMs !== undefined) at.retryMs = retryMs;
      if (data.some(({ length }) => length > 0)) yield lineOf(data);
    }
    return;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BODY_BYTES) throw new Error(`its answer has more than ${MAX_BODY_BYTES} bytes`);
  }
  if (type.includes("json") && bytes > 0) yield lineOf(chunks);
}

/** One message, or several in an array; none if it is no JSON. */
function messagesOf(line: Line | string): Message[] {
  const text = typeof line === "string" ? line : Buffer.concat(Array.isArray(line) ? line : [line]).toString();
  return readMessages(text)?.map(({ message }) => message) ?? [];
}
