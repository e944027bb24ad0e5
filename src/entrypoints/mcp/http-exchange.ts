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

/** An event as far as it was read. */
interface OpenEvent {
  data: string[];
  /** Of all its data. */
  chars: number;
  id?: string;
  retryMs?: number;
}

/** Reads a stream of server-sent events. Throws if one has more than `maxChars`. */
export async function* readEvents(body: AsyncIterable<Uint8Array>, maxChars: number): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let lineChars = 0;
  let isAfterReturn = false;
  let event: OpenEvent = { data: [], chars: 0 };
  for await (const chunk of body) {
    let text = decoder.decode(chunk, { stream: true });
    if (text === "") continue;
    // A line ends at CR, LF or both, which may come in two chunks.
    if (isAfterReturn && text.startsWith("\n")) text = text.slice(1);
    isAfterReturn = text.endsWith("\r");
    const lines = text.split(/\r\n|\n|\r/);
    for (const [index, piece] of lines.entries()) {
      parts.push(piece);
      lineChars += piece.length;
      if (event.chars + lineChars > maxChars)
        throw new Error(`its answer has an event of more than ${maxChars} characters, more than can be read at once`);
      if (index === lines.length - 1) break;
      const line = parts.join("");
      parts = [];
      lineChars = 0;
      if (line !== "") {
        takeLine(event, line);
        continue;
      }
      const { data, id, retryMs } = event;
      if (data.length > 0 || id !== undefined || retryMs !== undefined) yield { data: data.join("\n"), id, retryMs };
      event = { data: [], chars: 0 };
    }
  }
}

function takeLine(event: OpenEvent, line: string): void {
  const colon = line.indexOf(":");
  const name = colon === -1 ? line : line.slice(0, colon);
  const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
  if (name === "data") {
    event.data.push(value);
    event.chars += value.length + 1;
  }
  if (name === "id") event.id = value;
  if (name === "retry" && /^\d{1,9}$/.test(value)) event.retryMs = Number(value);
}
