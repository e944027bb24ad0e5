import type { IncomingHttpHeaders } from "node:http";
import { SpillwayError } from "../../errors.ts";
import { withoutUserInfo } from "../../values.ts";
import { Refusal } from "./answer.ts";

/** The APIs whose paths the gateway knows. */
export const APIS = ["anthropic", "openai", "gemini"] as const;
export type Api = (typeof APIS)[number];

/** Where each API is. An address has no query; its path is put before that of a request. */
export type Upstreams = Record<Api, string>;

/** The providers' public addresses. */
export const PUBLIC_UPSTREAMS: Upstreams = {
  anthropic: "https://api.anthropic.com",
  openai: "https://api.openai.com/v1",
  gemini: "https://generativelanguage.googleapis.com",
};

/** Where one request goes. */
export interface Destination {
  /** The API whose shape errors have. */
  api: Api;
  origin: string;
  /** The path with the query. */
  path: string;
  /** Why nothing is sent there. */
  refusal?: Refusal;
}

/** Names another upstream for one request, if it is among those that are allowed. */
const UPSTREAM_HEADER = "x-spillway-upstream";

/** Finds where requests go. Null if the path belongs to no API. */
export type FindDestination = (rawUrl: string, headers: IncomingHttpHeaders) => Destination | null;

/** Reads the addresses. Throws if one cannot be used. */
export function newDestinations(upstreams: Upstreams, allowed: readonly string[]): FindDestination {
  const bases = new Map<string, Base>(APIS.map((api) => [api, baseOf(upstreams[api], `the upstream of ${api}`)]));
  for (const url of allowed) {
    const base = baseOf(url, "an allowed upstream");
    bases.set(base.url, base);
  }
  return (rawUrl, headers) => {
    const path = rawUrl.split("?", 1)[0] ?? "";
    const api = apiOf(path, headers);
    if (api === null) return null;
    const named = headers[UPSTREAM_HEADER];
    const base = bases.get(typeof named === "string" ? named.replace(/\/+$/, "") : api);
    if (base === undefined) {
      const why = "this upstream is not allowed here; name it with --allow-upstream";
      return { api, origin: "", path: rawUrl, refusal: new Refusal(403, "bad-upstream", why) };
    }
    // OpenAI's clients have /v1 in the address of their API, the others in each path.
    const rest = api === "openai" ? rawUrl.replace(/^\/v1(?=[/?]|$)/, "") : rawUrl;
    return { api, origin: base.origin, path: base.path + rest };
  };
}

interface Base {
  url: string;
  origin: string;
  /** Without a slash at its end. */
  path: string;
}

function baseOf(text: string, what: string): Base {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username || url.password) {
    throw new SpillwayError(
      "bad-input",
      `${what} must be an address such as https://api.example.com/v1, without a query or a password; got "${withoutUserInfo(text)}"`,
    );
  }
  const path = url.pathname.replace(/\/+$/, "");
  return { url: url.origin + path, origin: url.origin, path };
}

const GEMINI =
  /^\/(?:(?:upload|download)\/)?v1(?:beta|alpha)\d*\/|^\/v1\/[^?]*:(?:stream)?(?:generateContent|countTokens)/i;
const ANTHROPIC = /^\/v1\/(?:messages|complete)(?:\/|$)/;
const OPENAI = /^\/v1(?:\/|$)|^\/(?:chat\/completions|responses|completions|embeddings|models)(?:\/|$)/;

/** By the path, or by a header that only one of them has where several have the path. */
function apiOf(path: string, headers: IncomingHttpHeaders): Api | null {
  if (GEMINI.test(path)) return "gemini";
  if (ANTHROPIC.test(path)) return "anthropic";
  if (!OPENAI.test(path)) return null;
  return headers["anthropic-version"] === undefined ? "openai" : "anthropic";
}

/** An error of ours in the shape that a client of this API reads. */
export function errorBody(api: Api, status: number, message: string): string {
  const text = `spillway: ${message}`;
  const type = TYPES[status]?.[api === "gemini" ? 1 : 0];
  if (api === "gemini") return JSON.stringify({ error: { code: status, message: text, status: type ?? "INTERNAL" } });
  if (api === "anthropic")
    return JSON.stringify({ type: "error", error: { type: type ?? "api_error", message: text } });
  return JSON.stringify({ error: { message: text, type: type ?? "api_error", param: null, code: null } });
}

const TYPES: Record<number, readonly [string, string]> = {
  400: ["invalid_request_error", "INVALID_ARGUMENT"],
  401: ["authentication_error", "UNAUTHENTICATED"],
  403: ["permission_error", "PERMISSION_DENIED"],
  404: ["not_found_error", "NOT_FOUND"],
  413: ["request_too_large", "INVALID_ARGUMENT"],
  429: ["rate_limit_error", "RESOURCE_EXHAUSTED"],
  502: ["api_error", "UNAVAILABLE"],
  503: ["overloaded_error", "UNAVAILABLE"],
  504: ["timeout_error", "DEADLINE_EXCEEDED"],
};
