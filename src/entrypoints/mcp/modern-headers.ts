import { isRecord } from "../../values.ts";
import { type Message, metaOf, paramsOf, VERSION_KEY } from "./json-rpc.ts";
import type { RequestHeaders } from "./upstream.ts";

// In the protocol of 2026-07-28 a request over HTTP repeats in its headers what it is about, so that what stands between
// need not read its body.

/** The parameter that `Mcp-Name` repeats. */
const NAMED_BY: Record<string, string> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};
/** A tool's schema says with this which header repeats an argument. */
const DECLARED_BY = "x-mcp-header";
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const MAX_DEPTH = 16;
/** Tools whose headers are remembered. */
const MAX_TOOLS = 10_000;

interface Declared {
  header: string;
  path: string[];
}

/** The headers of requests to one server. */
export interface ModernHeaders {
  /** Takes a server's list of tools. */
  learn(result: unknown): void;
  /** Empty for a request of an older protocol. */
  of(message: Message): RequestHeaders;
}

/** Knows no tools yet. */
export function newModernHeaders(): ModernHeaders {
  const declared = new Map<string, Declared[]>();
  return {
    learn(result) {
      const tools: unknown[] = isRecord(result) && Array.isArray(result.tools) ? result.tools : [];
      for (const tool of tools) {
        if (!isRecord(tool) || typeof tool.name !== "string" || declared.size >= MAX_TOOLS) continue;
        declared.set(tool.name, declaredIn(tool.inputSchema, []));
      }
    },
    of(message) {
      const version = metaOf(message)[VERSION_KEY];
      if (typeof version !== "string") return {};
      const method = String(message.method);
      const params = paramsOf(message);
      const name = params[NAMED_BY[method] ?? ""];
      const headers: RequestHeaders = { "mcp-protocol-version": version, "mcp-method": encodeHeader(method) };
      if (typeof name === "string") headers["mcp-name"] = encodeHeader(name);
      if (method !== "tools/call") return headers;
      for (const { header, path } of declared.get(String(name)) ?? []) {
        const value = path.reduce((held, key) => (isRecord(held) ? held[key] : undefined), params.arguments as unknown);
        if (isSaid(value)) headers[`mcp-param-${header.toLowerCase()}`] = encodeHeader(String(value));
      }
      return headers;
    },
  };
}

function declaredIn(schema: unknown, path: string[]): Declared[] {
  if (!isRecord(schema) || path.length > MAX_DEPTH) return [];
  const header = schema[DECLARED_BY];
  const own = path.length > 0 && typeof header === "string" && TOKEN.test(header) ? [{ header, path }] : [];
  if (!isRecord(schema.properties)) return own;
  return [...own, ...Object.entries(schema.properties).flatMap(([key, each]) => declaredIn(each, [...path, key]))];
}

function isSaid(value: unknown): boolean {
  return typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
}

/** A value as a header has it: base64 where it is not plain ASCII. */
function encodeHeader(value: string): string {
  const isPlain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value);
  return isPlain ? value : `=?base64?${Buffer.from(value).toString("base64")}?=`;
}

/** What a client says in its headers of a request, where that is not what the body says; null if it is the same. */
export function headerMismatch(headers: Record<string, unknown>, message: Message): string | null {
  const said = Object.entries(newModernHeaders().of(message));
  const other = said.find(([name, value]) => headers[name] !== undefined && decoded(headers[name]) !== decoded(value));
  return other === undefined ? null : `the header ${other[0]} does not say what the request says`;
}

function decoded(value: unknown): string {
  const [, base64] = /^=\?base64\?(.*)\?=$/.exec(String(value)) ?? [];
  return base64 === undefined ? String(value) : Buffer.from(base64, "base64").toString();
}
