import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { messageOf } from "../../errors.ts";
import { isRecord } from "../../values.ts";
import { hasId, isAsking, keyOf, type Message, type MessageId, paramsOf } from "./json-rpc.ts";
import { newSessionName, type ProxyOptions } from "./proxy-stdio.ts";
import { type RelayEnds, startRelay } from "./relay.ts";

/** One client's messages over HTTP: several requests at a time, and a stream for what the server says of its own accord. */
export interface FrontSession {
  id: string;
  /** Takes what was posted. The answers go to `response`, which is null if no answer is expected. */
  take(messages: Message[], response: ServerResponse | null): Promise<void>;
  /** Opens the stream for messages that belong to no request. */
  listen(response: ServerResponse): void;
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
  progressToken: unknown;
}

/** Messages kept for a stream that is not open. */
const MAX_KEPT = 100;

/** Opens a session with a server of its own. */
export function newFrontSession({
  spillway,
  session = newSessionName(),
  upstream,
  warn,
  rules,
}: ProxyOptions): FrontSession {
  const due = new Map<string, Due>();
  let stream: ServerResponse | null = null;
  let kept: string[] = [];
  let asked = 0;

  function toClient(raw: Uint8Array | string): void {
    const parsed: unknown = JSON.parse(raw.toString());
    for (const message of Array.isArray(parsed) ? parsed : [parsed]) if (isRecord(message)) route(message);
  }

  function route(message: Message): void {
    if (!isAsking(message) && hasId(message)) {
      const waiting = due.get(keyOf(message.id));
      if (waiting === undefined) return;
      due.delete(keyOf(message.id));
      write(waiting.post.response, { ...message, id: waiting.id });
      if (--waiting.post.due === 0) waiting.post.response.end();
      return;
    }
    const token = paramsOf(message).progressToken;
    const related = token === undefined ? undefined : [...due.values()].find((each) => each.progressToken === token);
    const open = related?.post.response ?? stream ?? [...due.values()].at(-1)?.post.response;
    if (open !== undefined) write(open, message);
    else kept = [...kept, JSON.stringify(message)].slice(-MAX_KEPT);
  }

  /** Gives requests ids of our own, so that each answer finds the client that asked. */
  function renamed(message: Message, post: Post): Message {
    if (!isAsking(message)) return message;
    if (!hasId(message)) return cancelled(message);
    const id = `s${++asked}`;
    const meta = paramsOf(message)._meta;
    due.set(keyOf(id), { post, id: message.id, progressToken: isRecord(meta) ? meta.progressToken : undefined });
    return { ...message, id };
  }

  function cancelled(message: Message): Message {
    const wanted = message.method === "notifications/cancelled" ? paramsOf(message).requestId : undefined;
    if (wanted === undefined) return message;
    const [key] = [...due].find(([, each]) => each.id === wanted) ?? [];
    return key === undefined
      ? message
      : { ...message, params: { ...message.params, requestId: key.slice("string:".length) } };
  }

  const ends: RelayEnds = {
    toClient,
    toServer: (message, headers) => server.send(message, headers),
    warn,
  };
  const relay = startRelay(spillway, session, ends, rules);
  const server = upstream({
    message: (message) => relay.fromServer(message).catch((error: unknown) => warn(messageOf(error))),
    tooLong: relay.tooLong,
    failed: relay.failed,
    gone: relay.serverGone,
    // Others may come when it can be.
    unable: (fault) => warn(fault.message),
    greeting: () => relay.greeting,
  });

  return {
    id: randomUUID(),
    async take(messages, response) {
      const post: Post | null =
        response === null
          ? null
          : { response, due: messages.filter((message) => isAsking(message) && hasId(message)).length };
      if (post !== null) openStream(post.response);
      post?.response.on("close", () => {
        for (const [key, each] of due) if (each.post === post) due.delete(key);
      });
      for (const message of messages) {
        await relay.fromClient(post === null ? cancelled(message) : renamed(message, post));
      }
    },
    listen(response) {
      openStream(response);
      stream?.end();
      stream = response;
      response.on("close", () => {
        if (stream === response) stream = null;
      });
      for (const text of kept.splice(0)) write(response, JSON.parse(text) as Message);
    },
    async stop() {
      stream?.end();
      for (const { post } of due.values()) post.response.end();
      await server.stop();
    },
  };
}

function openStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
}

function write(response: ServerResponse, message: Message): void {
  response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}
