import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Agent, type Dispatcher, EnvHttpProxyAgent } from "undici";
import type { Telemetry } from "../../drivers/telemetry.ts";
import { badInput, messageOf } from "../../errors.ts";
import type { Exchanged } from "../../exchange/answer.ts";
import { endpointOf } from "../../exchange/endpoint.ts";
import type { ExchangeContext, ExchangeOptions } from "../../exchange/exchange.ts";
import { RefusedBodies } from "../../exchange/refused-bodies.ts";
import type { Spillway } from "../../spillway.ts";
import { SERVE_NUMBERS } from "../../stages/policy/serve-numbers.ts";
import { isTraced, withoutUserInfo } from "../../values.ts";
import { Refusal, readBody } from "./answer.ts";
import { type Callers, TOKEN_HEADER } from "./callers.ts";
import type { Metrics } from "./metrics.ts";
import { type Answered, decoded, sendUpstream } from "./send-upstream.ts";
import { type Destination, errorBody, newDestinations, type Upstreams } from "./upstreams.ts";

/** How requests are passed on. */
export interface GatewayOptions {
  upstreams: Upstreams;
  /** Addresses that a request may name by a header. */
  allowed: readonly string[];
  exchange?: ExchangeOptions | undefined;
}

/** What a gateway works with. */
export interface GatewayPorts {
  spillway: Pick<Spillway, "exchange">;
  callers: Callers;
  metrics: Metrics;
  warn(fault: string): void;
}

/** The gateway before the providers. */
export interface Gateway {
  /** Where a request goes, by its path. Null if that belongs to no API. */
  find(request: IncomingMessage): Destination | null;
  /** Passes a request on. */
  pass(to: Destination, request: IncomingMessage, response: ServerResponse): Promise<void>;
  stop(): Promise<void>;
}

/** Passes requests on. Connections to providers are opened as they are needed, and kept. */
export function newGateway(options: GatewayOptions, { spillway, callers, metrics, warn }: GatewayPorts): Gateway {
  const find = newDestinations(options.upstreams, options.allowed);
  const hashes = new Map<string, string>();
  const refused = new RefusedBodies<Answered>();
  const agent = newAgent();

  async function pass(to: Destination, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method as Dispatcher.HttpMethod;
    const gone = new AbortController();
    response.once("close", () => response.writableFinished || gone.abort());
    const asksModel = endpointOf(method, to.path) !== null;
    const headers = forwarded(request, asksModel);
    const startedMs = performance.now();
    let waitedMs = 0;
    const send = async (body: Uint8Array | IncomingMessage | null, signal: AbortSignal) => {
      const sentMs = performance.now();
      const { origin, path } = to;
      const answer = await sendUpstream(agent, { origin, path, method, headers, body, signal });
      waitedMs += performance.now() - sentMs;
      return answer;
    };
    if (!asksModel) {
      const { "content-length": length, "transfer-encoding": coding } = request.headers;
      const answer = await send(length === undefined && coding === undefined ? null : request, gone.signal);
      return handOn(answer, { body: answer.body }, response);
    }
    const { api } = to;
    const body = await readBody(request, SERVE_NUMBERS.gatewayBodyBytes.default);
    metrics.add("spillway_request_bytes_total", { api, as: "came" }, body.length);
    const url = to.origin + to.path;
    const asked = {
      method,
      url,
      headers: { get: (name: string) => headerOf(request, name) },
      body,
      signal: gone.signal,
    };
    const sendOn = async (sent: Uint8Array | null, { signal }: ExchangeContext) => {
      metrics.add("spillway_request_bytes_total", { api, as: "sent" }, sent?.length ?? 0);
      return decoded(await send(sent, signal));
    };
    const exchanged =
      refused.find(asked) ??
      (await refused.keep(
        asked,
        await spillway.exchange(asked, sendOn, {
          ...options.exchange,
          ...callerOf(request, hashes),
          readBy: callers.nameOf(request, TOKEN_HEADER),
          isElsewhere: isElsewhere(request),
        }),
      ));
    metrics.took("spillway_upstream_seconds", { api }, waitedMs / 1000);
    metrics.took("spillway_own_seconds", { api }, (performance.now() - startedMs - waitedMs) / 1000);
    await handOn(exchanged.response, exchanged, response);
  }

  return {
    find: ({ url, headers }) => find(url ?? "", headers),
    async pass(to, request, response) {
      callers.checkOrigin(request);
      try {
        callers.checkRole(request, "write", TOKEN_HEADER);
        if (to.refusal !== undefined) throw to.refusal;
        const run = () => pass(to, request, response);
        const isAnswer = endpointOf(request.method ?? "", to.path)?.asks === "answer";
        const telemetry = isAnswer && isTraced() ? await loadTelemetry() : null;
        await (telemetry === null
          ? run()
          : telemetry.span({ provider: to.api, headers: request.headers, status: () => response.statusCode }, run));
      } catch (error) {
        refuse(to, error, response, warn);
      }
      metrics.add("spillway_requests_total", { api: to.api, status: String(response.statusCode) });
    },
    stop: () => agent.destroy(),
  };
}

function newAgent(): Dispatcher {
  const options = {
    connectTimeout: SERVE_NUMBERS.gatewayConnectMs.default,
    headersTimeout: SERVE_NUMBERS.gatewaySilentMs.default,
    bodyTimeout: SERVE_NUMBERS.gatewaySilentMs.default,
    keepAliveTimeout: SERVE_NUMBERS.serveIdleMs.default,
    pipelining: 1,
  };
  const { https_proxy: httpsProxy = process.env.HTTPS_PROXY } = process.env;
  if (!httpsProxy) return new Agent(options);
  if (!/^https?:\/\/./.test(httpsProxy) || !URL.canParse(httpsProxy)) {
    const got = withoutUserInfo(httpsProxy);
    throw badInput(`HTTPS_PROXY must be an address such as http://proxy.example.com:3128; got "${got}"`);
  }
  // Upstreams without TLS are on this machine or near it.
  return new EnvHttpProxyAgent({ ...options, httpsProxy, httpProxy: "" });
}

/** Returns true if a request comes from another machine, straight or by way of a proxy. A shell there does not reach this store. */
function isElsewhere({ socket, headers }: IncomingMessage): boolean {
  const isHere =
    socket.remoteAddress === socket.localAddress || /^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? "");
  return !isHere || headers.forwarded !== undefined || headers["x-forwarded-for"] !== undefined;
}

/**
 * What is known of a caller: the program, by what it says of itself, and a session by how the conversation begins. Its tools
 * run elsewhere, so all of their results are recorded here.
 */
function callerOf({ headers }: IncomingMessage, hashes: Map<string, string>): ExchangeOptions {
  const [, agent] = /^([\w.-]{1,64})/.exec(headers["user-agent"] ?? "") ?? [];
  const nameSession = (firstText: string) => {
    const hash = hashes.get(firstText) ?? createHash("sha256").update(firstText).digest("hex").slice(0, 10);
    if (hashes.size >= MAX_HASHES) hashes.clear();
    if (firstText.length <= MAX_HASHED_CHARS) hashes.set(firstText, hash);
    return `${agent ?? "agent"}-${hash}`;
  };
  return { agent, nameSession, records: "all" };
}

/** First texts of conversations whose hash is remembered, and the longest of them. */
const MAX_HASHES = 256;
const MAX_HASHED_CHARS = 16_384;

async function loadTelemetry(): Promise<Telemetry | null> {
  return (await import("../../drivers/telemetry.ts")).loadTelemetry();
}

/** These are about one connection, not about the request. */
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Made anew for the next connection. */
const MADE_ANEW = new Set(["host", "content-length", "expect"]);

/** The headers that a provider gets, in their order and with their spelling; ours and those of the connection stay here. */
function forwarded({ rawHeaders, headers }: IncomingMessage, asksModel: boolean): string[] {
  const own = new Set((headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase()));
  const kept = keptHeaders(rawHeaders, (name) => {
    if (HOP_BY_HOP.has(name) || MADE_ANEW.has(name) || own.has(name) || name.startsWith("x-spillway")) return false;
    // Answers of models are looked into.
    return !asksModel || name !== "accept-encoding";
  });
  if (asksModel) kept.push("accept-encoding", "identity");
  return kept;
}

/** Names and values by turns, of those whose name in small letters is kept. */
function keptHeaders(rawHeaders: readonly string[], isKept: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at] as string, rawHeaders[at + 1] as string];
    if (isKept(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}

function hasHeader(rawHeaders: readonly string[], wanted: string): boolean {
  return rawHeaders.some((name, at) => at % 2 === 0 && name.toLowerCase() === wanted);
}

function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name.toLowerCase()];
  return value === undefined ? null : String(value);
}

/** Writes a provider's answer as it comes. What breaks off there breaks off here too, so that nobody takes it for whole. */
async function handOn(
  { status, rawHeaders }: Answered,
  { body = null, whole = null, isChanged = false, isFinal = false }: Partial<Exchanged<Answered>>,
  response: ServerResponse,
): Promise<void> {
  const kept = (name: string) => !HOP_BY_HOP.has(name) && !(isChanged && name === "content-length");
  const sent = keptHeaders(rawHeaders, kept);
  // A client that sends the same again would be refused again.
  if (isFinal) sent.push("x-should-retry", "false");
  // With its length known, a body is not sent in chunks.
  if (whole !== null && whole.length > 0 && !hasHeader(sent, "content-length"))
    sent.push("content-length", String(whole.length));
  response.writeHead(status, sent);
  // As text of one byte a character, a short body goes out in one piece with the headers.
  if (whole !== null && whole.length <= SHORT_BODY_BYTES) return void response.end(asText(whole), "latin1");
  if (whole !== null) return void response.end(whole);
  for await (const chunk of body ?? []) {
    if (response.destroyed) return;
    if (!response.write(chunk)) await drained(response);
  }
  response.end();
}

const SHORT_BODY_BYTES = 16 * 1024;

function asText({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString("latin1");
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}

/** Says in the provider's shape what kept a request from being answered. */
function refuse({ api, origin }: Destination, error: unknown, response: ServerResponse, warn: (fault: string) => void) {
  if (response.destroyed || response.headersSent) {
    response.destroy();
    return;
  }
  const { status, message, headers } = error instanceof Refusal ? error : upstreamFault(error, origin);
  if (status >= 500) warn(message);
  const body = errorBody(api, status, message);
  const close = status === 413 ? { connection: "close" } : {};
  response.writeHead(status, { ...headers, ...close, "content-type": "application/json" }).end(body);
}

const LATE = new Set(["UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);

function upstreamFault(error: unknown, origin: string): Refusal {
  const { code = "" } = error as { code?: string };
  if (LATE.has(code)) return new Refusal(504, "late", `${origin} did not answer in time; send the request again`);
  const next =
    "see that it is up and reached from this machine, or name another address in serve's flags or your config";
  return new Refusal(502, "unreachable", `no answer came from ${origin}: ${messageOf(error)}; ${next}`);
}
