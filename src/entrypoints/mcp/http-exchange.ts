import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { RequestHeaders } from "./upstream.ts";

/** One request over HTTP. */
export interface Exchange {
  url: URL;
  method: "POST" | "GET" | "DELETE";
  headers: RequestHeaders;
  body?: string;
  signal: AbortSignal;
}

const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([307, 308]);

/** Sends a request and gives the answer once its head is there. There is no time limit: a tool may take long. */
export async function exchange(asked: Exchange): Promise<IncomingMessage> {
  let { url } = asked;
  for (let redirects = 0; ; redirects++) {
    const answer = await once({ ...asked, url });
    const { location } = answer.headers;
    if (!REDIRECTS.has(answer.statusCode ?? 0) || location === undefined || redirects === MAX_REDIRECTS) return answer;
    const next = new URL(location, url);
    // Tokens are not sent to another host.
    if (next.origin !== url.origin) return answer;
    answer.resume();
    url = next;
  }
}

function once({ url, method, headers, body, signal }: Exchange): Promise<IncomingMessage> {
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const outgoing = send(url, { method, headers, signal }, resolve);
    outgoing.once("error", reject);
    outgoing.end(body);
  });
}

/** The first bytes of a body, as text. */
export async function readStart(body: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString();
}

/** One event of a stream of events. */
export interface ServerEvent {
  data: string;
  /** Where to go on, if the stream breaks off. */
  id: string | undefined;
  /** After how long to come back. */
  retryMs: number | undefined;
}

/** Reads a stream of server-sent events. */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let event: { data: string[]; id?: string; retryMs?: number } = { data: [] };
  for await (const chunk of body) {
    const lines = decoder.decode(chunk, { stream: true }).split("\n");
    for (const [index, piece] of lines.entries()) {
      parts.push(piece);
      if (index === lines.length - 1) break;
      const line = parts.join("").replace(/\r$/, "");
      parts = [];
      if (line !== "") {
        takeLine(event, line);
        continue;
      }
      const { data, id, retryMs } = event;
      if (data.length > 0 || id !== undefined || retryMs !== undefined) yield { data: data.join("\n"), id, retryMs };
      event = { data: [] };
    }
  }
}

function takeLine(event: { data: string[]; id?: string; retryMs?: number }, line: string): void {
  const colon = line.indexOf(":");
  const name = colon === -1 ? line : line.slice(0, colon);
  const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
  if (name === "data") event.data.push(value);
  if (name === "id") event.id = value;
  if (name === "retry" && /^\d{1,9}$/.test(value)) event.retryMs = Number(value);
}
