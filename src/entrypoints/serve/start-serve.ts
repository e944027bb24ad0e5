import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { isIP, type Socket } from "node:net";
import { badInput, cannotListen } from "../../errors.ts";
import type { Spillway } from "../../spillway.ts";
import { SERVE_NUMBERS } from "../../stages/policy/serve-numbers.ts";
import { Refusal, sendError } from "./answer.ts";
import { type ApiPorts, apiRoutes } from "./api.ts";
import { type CallerRules, newCallers, newScopeFinder, TOKEN_HEADER, type Token } from "./callers.ts";
import { type GatewayOptions, newGateway } from "./gateway.ts";
import { newMetrics } from "./metrics.ts";
import { newRoutes } from "./route.ts";

/** What is served to the bearers of one scope's tokens. */
type ServedSpillway = ApiPorts["spillway"] & Pick<Spillway, "exchange">;

/** How a server is reached and what it serves. */
export interface ServeOptions
  extends Pick<CallerRules, "hostNames">,
    Omit<ApiPorts, "stopping" | "metrics" | "spillway"> {
  spillway: ServedSpillway;
  /** Those of other scopes. What they keep must be of their scopes. */
  others?: readonly ServedSpillway[] | undefined;
  tokens: readonly Token[];
  host: string;
  port: number;
  gateway: GatewayOptions;
  /** Told what went wrong, without a word of a request. */
  warn(fault: string): void;
}

/** A server that listens. */
export interface Served {
  /** Without a path. */
  url: string;
  /** Takes no more requests, lets the answers that have begun go on for a while, and ends. `now` ends them at once. */
  stop(how?: { now: boolean }): Promise<void>;
}

/** Starts the server. Another address than this machine's needs a token. */
export async function startServe(options: ServeOptions): Promise<Served> {
  const { host, port, tokens, warn, others = [] } = options;
  if (tokens.length === 0 && !isLoopback(host)) {
    throw badInput(
      `${host} can be reached from other machines, so a token is needed: set SPILLWAY_TOKEN, or --tokens FILE`,
    );
  }
  const stopping = new AbortController();
  const own = options.spillway.scope;
  const findScope = newScopeFinder(tokens);

  /** Scopes share nothing but the port: each has callers, routes, counters and connections of its own. */
  function serverOf(spillway: ServedSpillway) {
    const { scope } = spillway;
    const callers = newCallers({
      hostNames: options.hostNames,
      tokens: tokens.length === 0 ? "none" : tokens.filter((token) => (token.scope ?? own) === scope),
    });
    const metrics = newMetrics();
    // What waits for its upload is that of all scopes.
    const spool = scope === own ? options.spool : undefined;
    const ports = { ...options, spillway, spool, metrics, stopping: stopping.signal };
    return {
      routes: newRoutes(apiRoutes(ports), callers),
      gateway: newGateway(options.gateway, { spillway, callers, metrics, warn }),
    };
  }
  const servers = new Map([options.spillway, ...others].map((each) => [each.scope, serverOf(each)]));
  const ownServer = servers.get(own) as ReturnType<typeof serverOf>;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    checkPath(request);
    const to = ownServer.gateway.find(request);
    // A request without a known token is refused by the callers of the server's own scope, or needs none.
    const scope = findScope(request, to === null ? undefined : TOKEN_HEADER) ?? own;
    const { routes, gateway } = servers.get(scope) ?? ownServer;
    if (to !== null) return gateway.pass(to, request, response);
    const url = new URL(request.url ?? "", BASE);
    if (await routes(request, response, url)) return;
    throw new Refusal(404, "unknown-path", `there is nothing at ${url.pathname}; /api/openapi.json says what there is`);
  }

  const server = createServer(
    {
      maxHeaderSize: SERVE_NUMBERS.serveHeaderBytes.default,
      headersTimeout: SERVE_NUMBERS.serveHeadersMs.default,
      requestTimeout: SERVE_NUMBERS.serveRequestMs.default,
      keepAliveTimeout: SERVE_NUMBERS.serveIdleMs.default,
      connectionsCheckingInterval: 1000,
      requireHostHeader: true,
      // So that a second host or origin is seen, and refused.
      joinDuplicateHeaders: true,
      noDelay: true,
    },
    (request, response) => {
      const { socket } = request;
      waiting.delete(socket);
      response.once("close", () => (stopping.signal.aborted ? socket.end() : waiting.add(socket)));
      handle(request, response).catch((error: unknown) => sendError(response, error, warn));
    },
  );
  // Connections without a request. `closeIdleConnections` does not know those that never had one.
  const waiting = new Set<Socket>();
  server.on("connection", (socket) => {
    waiting.add(socket);
    socket.once("close", () => waiting.delete(socket));
  });
  server.listen(port, host);
  await once(server, "listening").catch((error: unknown) => {
    throw cannotListen(host, port, error);
  });
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${bound}`,
    async stop({ now } = { now: false }) {
      stopping.abort();
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      for (const socket of waiting) socket.end();
      if (now) server.closeAllConnections();
      const late = setTimeout(() => server.closeAllConnections(), SERVE_NUMBERS.serveStopMs.default);
      await closed;
      clearTimeout(late);
      for (const { gateway } of servers.values()) await gateway.stop();
    },
  };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** Refuses shapes of a path that two servers could read in two ways. */
function checkPath({ url = "" }: IncomingMessage): void {
  if (/^(?:\/\w[\w:-]*(?:\.\w[\w:-]*)*)+$/.test(url)) return;
  const path = url.split("?", 1)[0] ?? "";
  if (!path.startsWith("/") || /\/\/|\\|(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path) || !URL.canParse(url, BASE)) {
    throw new Refusal(400, "bad-path", "the path must begin with / and have no empty or dotted part");
  }
}

const BASE = "http://localhost";
