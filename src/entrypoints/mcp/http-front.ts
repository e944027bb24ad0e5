import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { cannotListen, messageOf } from "../../errors.ts";
import { type FrontSession, newFrontSession } from "./front-session.ts";
import { ERROR_CODES, hasId, isAsking, type Message, readMessages, refuse } from "./json-rpc.ts";
import { headerMismatch } from "./modern-headers.ts";
import type { ProxyOptions } from "./proxy-stdio.ts";
import type { RequestHeaders } from "./upstream.ts";

/** How clients reach a proxy over HTTP. */
export interface FrontOptions extends ProxyOptions {
  host: string;
  port: number;
  /** Headers of a client's requests that go on to a server over HTTP, in lower case. */
  forwardHeader?: readonly string[] | undefined;
  /** After how long a session ends that nobody uses; 30 minutes if it is not given. */
  idleMs?: number | undefined;
  /** Metrics in Prometheus's text form, given at /metrics. */
  metrics?: (() => Promise<string>) | undefined;
}

/** A proxy that listens. */
export interface Front {
  url: string;
  stop(): Promise<void>;
}

const PATH = "/mcp";
const METRICS_PATH = "/metrics";
const SESSION_HEADER = "mcp-session-id";
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_SESSIONS = 100;
const IDLE_MS = 30 * 60_000;
/** Sessions are looked through this often in the time after which they end. */
const LOOKS = 10;
const HEADER_MISMATCH = -32020;

interface Held {
  session: FrontSession;
  usedAtMs: number;
}

/** Listens for clients. Each session of the older protocol has a server of its own; all others share one. */
export async function startHttpFront({
  host,
  port,
  forwardHeader = [],
  idleMs = IDLE_MS,
  metrics,
  ...proxy
}: FrontOptions): Promise<Front> {
  const sessions = new Map<string, Held>();
  let shared: FrontSession | null = null;
  const { warn } = proxy;

  /** Ends a session. Its client is told so by 404 when it comes again, and begins another. */
  function close({ session }: Held): void {
    sessions.delete(session.id);
    void session.stop().catch((error: unknown) => warn(messageOf(error)));
  }

  /** Sessions that no client waits in, the longest unused first. */
  const idle = () =>
    [...sessions.values()].filter(({ session }) => !session.isOpen).sort((one, other) => one.usedAtMs - other.usedAtMs);
  const looking = setInterval(() => {
    for (const held of idle()) if (held.usedAtMs <= Date.now() - idleMs) close(held);
  }, idleMs / LOOKS).unref();

  function use(id: unknown): FrontSession | undefined {
    const held = sessions.get(String(id));
    if (held !== undefined) held.usedAtMs = Date.now();
    return held?.session;
  }

  async function post(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (body === null) return end(response, 413, refuse(null, ERROR_CODES.gone, "this request is too large"));
    const written = readMessages(body.toString());
    if (written === null) return end(response, 400, refuse(null, ERROR_CODES.parse, "this is no JSON message"));
    const messages = written.map(({ message }) => message);
    const session = sessionFor(request, messages);
    if (typeof session === "number")
      return end(response, session, refuse(null, ERROR_CODES.gone, REASONS[session] ?? ""));
    response.setHeader(SESSION_HEADER, session.id);
    if (session === shared) response.removeHeader(SESSION_HEADER);
    const [first] = messages;
    const mismatch = first === undefined ? null : headerMismatch(request.headers, first);
    if (mismatch !== null) return end(response, 400, refuse(first?.id ?? null, HEADER_MISMATCH, mismatch));
    if (!messages.some((message) => isAsking(message) && hasId(message))) response.writeHead(202).end();
    await session.take(written, response.headersSent ? null : response, forwarded(request));
  }

  function sessionFor(request: IncomingMessage, messages: Message[]): FrontSession | number {
    const id = request.headers[SESSION_HEADER];
    if (typeof id === "string") return use(id) ?? 404;
    if (!messages.some(({ method }) => method === "initialize")) {
      shared ??= newFrontSession(proxy, true);
      return shared;
    }
    // A client that left without a word must not keep others out.
    const [oldest] = sessions.size >= MAX_SESSIONS ? idle() : [];
    if (oldest !== undefined) close(oldest);
    if (sessions.size >= MAX_SESSIONS) return 503;
    const session = newFrontSession(proxy);
    sessions.set(session.id, { session, usedAtMs: Date.now() });
    return session;
  }

  /** The headers that go on: those that were asked for, and those that repeat a tool's arguments. */
  function forwarded({ headers }: IncomingMessage): RequestHeaders {
    const names = Object.keys(headers).filter((name) => forwardHeader.includes(name) || name.startsWith("mcp-param-"));
    return Object.fromEntries(names.map((name) => [name, String(headers[name])]));
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    if (!isOwn(request)) return end(response, 403, { error: "only pages of this machine may use this" });
    if (pathname === METRICS_PATH && metrics !== undefined && request.method === "GET") {
      const text = await metrics();
      return void response
        .writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" })
        .end(`${text}# TYPE spillway_mcp_sessions gauge\nspillway_mcp_sessions ${sessions.size}\n`);
    }
    if (pathname !== PATH) return end(response, 404, { error: `MCP is served at ${PATH}` });
    if (request.method === "POST") return post(request, response);
    const session = use(request.headers[SESSION_HEADER]);
    if (session === undefined) return end(response, request.method === "GET" ? 405 : 404, { error: "no such session" });
    if (request.method === "GET") return session.listen(response);
    if (request.method !== "DELETE") return end(response, 405, { error: "POST, GET or DELETE" });
    sessions.delete(session.id);
    await session.stop();
    response.writeHead(200).end();
  }

  // A client whose machine is gone is noticed.
  const server = createServer({ keepAlive: true }, (request, response) => {
    handle(request, response).catch((error: unknown) => {
      warn(messageOf(error));
      if (!response.headersSent) end(response, 500, refuse(null, ERROR_CODES.gone, messageOf(error)));
      else response.end();
    });
  });
  await listen(server, host, port);
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}${PATH}`,
    async stop() {
      clearInterval(looking);
      server.close();
      const open = [...sessions.values()].map(({ session }) => session);
      await Promise.all([...open, ...(shared === null ? [] : [shared])].map((each) => each.stop()));
      server.closeAllConnections();
    },
  };
}

const REASONS: Record<number, string> = { 404: "no such session: initialize again", 503: "too many sessions" };

/** A page from elsewhere must not reach a server on this machine through the user's browser. */
function isOwn({ headers }: IncomingMessage): boolean {
  const { origin } = headers;
  if (origin === undefined) return true;
  return URL.canParse(origin) && ["localhost", "127.0.0.1", "[::1]"].includes(new URL(origin).hostname);
}

async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BODY_BYTES) return null;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

function end(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(cannotListen(host, port, error)));
    server.listen(port, host, () => resolve());
  });
}
