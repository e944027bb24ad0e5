import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import {
  askedBy,
  hasId,
  isAsking,
  keyOf,
  type Message,
  type MessageId,
  metaOf,
  paramsOf,
  readMessages,
  type Written,
  withValues,
} from "./json-rpc.ts";
import { drained } from "./line-frames.ts";
import { newSessionName, type ProxyOptions, serverHandlers } from "./proxy-stdio.ts";
import { type RelayEnds, startRelay } from "./relay.ts";
import type { RequestHeaders } from "./upstream.ts";

/** One client's messages over HTTP: several requests at a time, and a stream for what the server says of its own accord. */
export interface FrontSession {
  id: string;
  /** Takes what was posted. The answers go to `response`, which is null if no answer is expected. */
  take(messages: readonly Written[], response: ServerResponse | null, headers?: RequestHeaders): Promise<void>;
  /** Opens the stream for messages that belong to no request. */
  listen(response: ServerResponse): void;
  /** A client waits for something. */
  readonly isOpen: boolean;
  stop(): Promise<void>;
}

/** A post that waits for answers. */
interface Post {
  response: ServerResponse;
  due: number;
}

/** Where an answer goes. */
interface Due {
  post: Post;
  /** The client's own id: several clients may use the same one. */
  id: MessageId;
  /** The client's own token: the server gets our id in its place. */
  progressToken: unknown;
  isModern: boolean;
}

/** Messages kept for a stream that is not open. */
const MAX_KEPT = 100;
/** What may wait for a client that shares the server with others; one that reads more slowly is cut off. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
/** What the server says of a subscription names its request by this. */
const SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId";

/** Opens a session with a server of its own, or one that clients share who have no session: each gets what it asked for. */
export function newFrontSession(
  { spillway, session = newSessionName(), upstream, warn, rules }: ProxyOptions,
  isShared = false,
): FrontSession {
  const due = new Map<string, Due>();
  let stream: ServerResponse | null = null;
  let kept: Written[] = [];
  let asked = 0;

  async function toClient(raw: Uint8Array | string): Promise<void> {
    for (const written of readMessages(Buffer.from(raw).toString()) ?? []) await route(written);
  }

  async function route(written: Written): Promise<void> {
    const { message } = written;
    if (!isAsking(message) && hasId(message)) {
      const waiting = due.get(keyOf(message.id));
      if (waiting === undefined) return;
      due.delete(keyOf(message.id));
      return finish(waiting, withValues(withSubscription(written, "result", waiting.id), [[["id"], waiting.id]]));
    }
    const [about, renamed] = asClientKnows(written);
    if (about !== null) {
      if (message.method !== "notifications/cancelled") return write(about.post.response, renamed);
      // The server has ended a subscription.
      due.delete(keyOf(paramsOf(message).requestId as MessageId));
      return finish(about, renamed);
    }
    const posts = [...new Set([...due.values()].map(({ post }) => post.response))];
    // If clients share a server, none may hear what was said to another.
    const open = isShared ? (posts.length === 1 ? posts[0] : undefined) : (stream ?? posts.at(-1));
    if (open !== undefined) return write(open, written);
    if (!isShared) kept = [...kept, written].slice(-MAX_KEPT);
  }

  /** Whose request a message of the server is about, and the message with the client's own names for it. */
  function asClientKnows(written: Written): [Due | null, Written] {
    const { message } = written;
    const { progressToken, requestId } = paramsOf(message);
    const find = (id: unknown) => (typeof id === "string" ? (due.get(keyOf(id)) ?? null) : null);
    const reporting = message.method === "notifications/progress" ? find(progressToken) : null;
    if (reporting !== null)
      return [reporting, withValues(written, [[["params", "progressToken"], reporting.progressToken]])];
    const ended = message.method === "notifications/cancelled" ? find(requestId) : null;
    if (ended !== null) return [ended, withValues(written, [[["params", "requestId"], ended.id]])];
    const subscribed = find(metaOf(message)[SUBSCRIPTION_KEY]);
    return subscribed === null ? [null, written] : [subscribed, withSubscription(written, "params", subscribed.id)];
  }

  async function finish({ post }: Due, message: Written): Promise<void> {
    await write(post.response, message);
    if (--post.due === 0) post.response.end();
  }

  /** Waits for a slow client where only its own server waits with it. */
  async function write(response: ServerResponse, { text }: Written): Promise<void> {
    // Breaks stand between the values of JSON, and would end the data.
    const isTaken = response.write(`event: message\ndata: ${text.replaceAll(/[\r\n]+/g, " ")}\n\n`);
    if (isTaken || response.destroyed) return;
    if (isShared && response.writableLength > MAX_UNREAD_BYTES) response.destroy();
    if (!isShared) await drained(response);
  }

  /** Gives requests ids and progress tokens of our own, so that each answer finds the client that asked. */
  function renamed(written: Written, post: Post): Written {
    const { message } = written;
    if (!isAsking(message) || !hasId(message)) return written;
    const id = `s${++asked}`;
    const { progressToken } = metaOf(message);
    due.set(keyOf(id), { post, id: message.id, progressToken, isModern: askedBy(message).isModern });
    return withValues(written, [
      [["id"], id],
      [["params", "_meta", "progressToken"], id],
    ]);
  }

  /** A client cancels by its own id. Clients that share a server cancel by leaving: their ids are the same. */
  function cancelled(written: Written): Written | null {
    const { message } = written;
    if (message.method !== "notifications/cancelled") return written;
    const wanted = paramsOf(message).requestId;
    const [key] = isShared ? [] : ([...due].find(([, each]) => each.id === wanted) ?? []);
    if (key === undefined) return isShared ? null : written;
    return withValues(written, [[["params", "requestId"], key.slice("string:".length)]]);
  }

  /** The client has left: nobody waits for these, and in the newer protocol that cancels them. */
  function left(post: Post): void {
    for (const [key, each] of due) {
      if (each.post !== post) continue;
      due.delete(key);
      const requestId = key.slice("string:".length);
      const method = "notifications/cancelled";
      if (each.isModern) void relay.fromClient({ jsonrpc: "2.0", method, params: { requestId } } as Message);
    }
  }

  const ends: RelayEnds = { toClient, toServer: (message, headers) => server.send(message, headers), warn };
  const relay = startRelay(spillway, session, ends, rules);
  // Others may come when it can be.
  const server = upstream(serverHandlers(relay, warn, (fault) => warn(fault.message)));

  return {
    id: randomUUID(),
    async take(messages, response, headers = {}) {
      const post: Post | null =
        response === null
          ? null
          : { response, due: messages.filter(({ message }) => isAsking(message) && hasId(message)).length };
      if (post !== null) {
        openStream(post.response);
        post.response.on("close", () => left(post));
      }
      for (const message of messages) {
        const next = cancelled(message);
        if (next !== null)
          await relay.fromClient(Buffer.from((post === null ? next : renamed(next, post)).text), headers);
      }
    },
    listen(response) {
      openStream(response);
      stream?.end();
      stream = response;
      response.on("close", () => {
        if (stream === response) stream = null;
      });
      for (const written of kept.splice(0)) void write(response, written);
    },
    get isOpen() {
      return due.size > 0 || stream !== null;
    },
    async stop() {
      stream?.end();
      for (const { post } of due.values()) post.response.end();
      await server.stop();
    },
  };
}

/** The message with the client's id of a subscription, if it is about one. */
function withSubscription(written: Written, at: "params" | "result", id: MessageId): Written {
  return withValues(written, [[[at, "_meta", SUBSCRIPTION_KEY], id]]);
}

function openStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
}
