import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { badInput } from "../../errors.ts";
import { SERVE_NUMBERS } from "../../stages/policy/serve-numbers.ts";
import { setNewest } from "../../values.ts";
import { Refusal } from "./answer.ts";

/** What a token lets its bearer do. Each role may do what those before it may. */
export const ROLES = ["read", "write", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** A secret that stands for a role in a scope. */
export interface Token {
  role: Role;
  token: string;
  /** Whose artifacts and events its bearer reaches: those of the server's own scope, if it is not said. */
  scope?: string | undefined;
  /** What events call its bearer. */
  name?: string | undefined;
}

/** Where a token stands in a request to a provider: the usual header holds the provider's key. */
export const TOKEN_HEADER = "x-spillway-token";

/** Who may ask. */
export interface CallerRules {
  /** With "none", everybody who reaches the port may do everything: that is for this machine only. */
  tokens: readonly Token[] | "none";
  /** Names by which callers may reach this server, besides addresses and localhost. */
  hostNames: readonly string[];
}

/** Decides who may ask. Each check throws the refusal. */
export interface Callers {
  /** Checks where a request comes from: pages of elsewhere must not reach this server through somebody's browser. */
  checkOrigin(request: IncomingMessage): void;
  /** Checks the token. `header` names the only one in which it may stand, if the usual one belongs to somebody else. */
  checkRole(request: IncomingMessage, role: Role, header?: string): void;
  /** The name of the token that a request bears, or the start of its hash. Undefined if no token is needed. */
  nameOf(request: IncomingMessage, header?: string): string | undefined;
  /** Takes one request from what an address may send. */
  checkRate(request: IncomingMessage): void;
}

const SHORTEST_TOKEN = 16;
/** Addresses that are remembered at once. */
const MOST_ADDRESSES = 10_000;

/** Makes the checks. Throws if a token is too short to be a secret. */
export function newCallers({ tokens, hostNames }: CallerRules, now: () => number = Date.now): Callers {
  const known = tokens === "none" ? [] : hashed(tokens);
  const names = new Set(hostNames.map((name) => name.toLowerCase()));
  const spent = new Map<string, { left: number; atMs: number }>();

  return {
    checkOrigin({ headers, method }) {
      const host = headers.host ?? "";
      if (!isOwnName(host, names)) {
        throw new Refusal(421, "bad-host", "this server is not known by that name; name it with --host-name");
      }
      const { origin } = headers;
      if (origin !== undefined && !isSameHost(origin, host)) {
        throw new Refusal(403, "bad-origin", "pages of other sites may not use this server");
      }
      const site = headers["sec-fetch-site"] ?? "none";
      const isVisit = method === "GET" && headers["sec-fetch-mode"] === "navigate";
      if (site !== "none" && site !== "same-origin" && !isVisit) {
        throw new Refusal(403, "bad-origin", "pages of other sites may not use this server");
      }
    },
    checkRole({ headers }, role, header) {
      if (tokens === "none") return;
      const given = tokenOf(headers, header);
      const rank = Math.max(-1, ...matching(known, given).map((one) => one.rank));
      if (rank >= ROLES.indexOf(role)) return;
      if (rank >= 0) {
        const why = `this needs a token of the role ${role}; this one has the role ${ROLES[rank]}`;
        throw new Refusal(403, "forbidden", why);
      }
      const usual = header === undefined ? "Authorization: Bearer <token> or " : "";
      const why = given === "" ? "this needs a token" : "this token is not known here: send one that is";
      throw new Refusal(401, "unauthorized", `${why}, as the header ${usual}${TOKEN_HEADER}: <token>`, {
        "www-authenticate": 'Bearer realm="spillway"',
      });
    },
    nameOf: ({ headers }, header) =>
      known.length === 0 ? undefined : matching(known, tokenOf(headers, header))[0]?.name,
    checkRate({ socket }) {
      const address = socket.remoteAddress ?? "";
      const most = SERVE_NUMBERS.apiBurst.default;
      const atMs = now();
      const before = spent.get(address) ?? { left: most, atMs };
      const refilled = ((atMs - before.atMs) / 1000) * SERVE_NUMBERS.apiRequestsPerSecond.default;
      const left = Math.min(most, before.left + Math.max(0, refilled)) - 1;
      setNewest(spent, address, { left: Math.max(0, left), atMs }, MOST_ADDRESSES);
      if (left < 0) throw new Refusal(429, "too-many", "too many requests; wait a second", { "retry-after": "1" });
    },
  };
}

/** Finds whose scope a request is about, by the token that it bears: null if that is none of these. */
export function newScopeFinder(tokens: readonly Token[]): (request: IncomingMessage, header?: string) => string | null {
  const known = hashed(tokens);
  for (const { hash, scope } of known) {
    if (known.some((other) => other.hash.equals(hash) && other.scope !== scope)) {
      throw badInput("a token stands in two scopes: make one for each");
    }
  }
  return ({ headers }, header) => matching(known, tokenOf(headers, header))[0]?.scope ?? null;
}

interface Hashed {
  rank: number;
  hash: Buffer;
  scope: string | undefined;
  name: string;
}

function hashed(tokens: readonly Token[]): Hashed[] {
  return tokens.map(({ role, token, scope, name }) => {
    if (token.length >= SHORTEST_TOKEN && !/\s/.test(token)) {
      const hash = hashOf(token);
      return { rank: ROLES.indexOf(role), hash, scope, name: name ?? `${role} token ${hash.toString("hex", 0, 4)}` };
    }
    const whose = name ?? `the token of role ${role}${scope === undefined ? "" : ` in scope ${scope}`}`;
    throw badInput(
      `${whose} must have at least ${SHORTEST_TOKEN} characters and no white space; make one with: openssl rand -hex 24`,
    );
  });
}

/** All of them are compared, each in constant time, so that time tells nothing. */
function matching(known: readonly Hashed[], given: string): Hashed[] {
  if (known.length === 0) return [];
  const hash = hashOf(given);
  return known.filter((one) => timingSafeEqual(one.hash, hash));
}

function tokenOf(headers: IncomingMessage["headers"], header: string | undefined): string {
  const given = (header === undefined && bearerOf(headers.authorization)) || headers[header ?? TOKEN_HEADER];
  return typeof given === "string" ? given : "";
}

function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

function bearerOf(header = ""): string {
  return /^Bearer ([^\s]+)$/i.exec(header)?.[1] ?? "";
}

/** A page can lead a browser here by a name that it owns, but never by an address or by localhost. */
function isOwnName(host: string, names: Set<string>): boolean {
  const name = hostNameOf(host);
  if (name === null) return false;
  return isIP(name) !== 0 || name === "localhost" || name.endsWith(".localhost") || names.has(name);
}

function hostNameOf(host: string): string | null {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\]|([^\s:[\]@/?#\\]+))(?::\d{1,5})?$/i.exec(host) ?? [];
  return (bracketed ?? plain)?.toLowerCase() ?? null;
}

function isSameHost(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}
