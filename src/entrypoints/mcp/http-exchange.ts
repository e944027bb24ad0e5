import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { slice } from "./large-message.ts";
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
  /** In the parts in which it came. */
  data: Uint8Array[];
  /** Where to go on, if the stream breaks off. */
  id?: string;
  /** After how long to come back. */
  retryMs?: number;
}

const LINE_BREAK = 10;
const RETURN = 13;
const BETWEEN = Uint8Array.of(LINE_BREAK);
/** The name of a field stands in so many bytes of its line. */
const NAME_BYTES = 16;

/** Reads a stream of server-sent events. Throws if one has more than `maxBytes`. */
export async function* readEvents(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<ServerEvent> {
  let event: ServerEvent = { data: [] };
  let line: Uint8Array[] = [];
  let [lineBytes, eventBytes, isAfterReturn] = [0, 0, false];
  for await (const chunk of body) {
    if (chunk.length === 0) continue;
    // A line ends at CR, LF or both, which may come in two chunks.
    let from = isAfterReturn && chunk[0] === LINE_BREAK ? 1 : 0;
    isAfterReturn = chunk.at(-1) === RETURN;
    for (let to = lineEnd(chunk, from); ; to = lineEnd(chunk, from)) {
      line.push(chunk.subarray(from, to));
      lineBytes += to - from;
      if (eventBytes + lineBytes > maxBytes)
        throw new Error(`its answer has an event of more than ${maxBytes} bytes, more than can be read at once`);
      if (to === chunk.length) break;
      from = to + (chunk[to] === RETURN && chunk[to + 1] === LINE_BREAK ? 2 : 1);
      if (lineBytes > 0) eventBytes += takeLine(event, line, lineBytes);
      else {
        const { data } = event;
        if (Object.keys(event).length > 1 || data.length > 0) yield { ...event, data: data.slice(0, -1) };
        event = { data: [] };
        eventBytes = 0;
      }
      line = [];
      lineBytes = 0;
    }
  }
}

function lineEnd(chunk: Uint8Array, from: number): number {
  const at = chunk.indexOf(LINE_BREAK, from);
  const end = at === -1 ? chunk.length : at;
  const back = chunk.subarray(from, end).indexOf(RETURN);
  return back === -1 ? end : from + back;
}

/** Takes one field of an event. Gives how many bytes the event has more. */
function takeLine(event: ServerEvent, line: readonly Uint8Array[], bytes: number): number {
  const start = Buffer.concat([...slice(line, { from: 0, to: NAME_BYTES })]).toString("latin1");
  const [, name, separator = ""] = /^([^:]*)(: ?)?/.exec(start) ?? [];
  const value = [...slice(line, { from: String(name).length + separator.length, to: bytes })];
  if (name === "data") {
    for (const part of value) event.data.push(part);
    event.data.push(BETWEEN);
    return bytes;
  }
  const text = name === "id" || name === "retry" ? Buffer.concat(value).toString() : "";
  if (name === "id") event.id = text;
  if (name === "retry" && /^\d{1,9}$/.test(text)) event.retryMs = Number(text);
  return 0;
}
