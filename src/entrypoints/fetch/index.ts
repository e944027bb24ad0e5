import { badInput } from "../../errors.ts";
import type { Exchanged, ExchangeResponse } from "../../exchange/answer.ts";
import { endpointOf } from "../../exchange/endpoint.ts";
import type { ExchangeContext, ExchangeOptions } from "../../exchange/exchange.ts";
import { RefusedBodies } from "../../exchange/refused-bodies.ts";
import type { Spillway } from "../../spillway.ts";

/** Options of a wrapped fetch. */
export interface FetchOptions extends ExchangeOptions {
  /** Prepares the requests, and keeps what is cut. */
  spillway: Pick<Spillway, "exchange">;
  /** Sends. The global fetch by default. */
  fetch?: typeof fetch | undefined;
}

/**
 * Makes a drop-in `fetch` for the clients of model providers: `new OpenAI({ fetch: createFetch({ spillway }) })`. It prepares
 * requests to models and recovers them if the provider refuses them for their size. Everything else passes as it came.
 */
export function createFetch({ spillway, fetch: given, ...options }: FetchOptions): typeof fetch {
  if (typeof spillway?.exchange !== "function") {
    const use = "createFetch({ spillway: await createSpillway() })";
    throw badInput(`createFetch needs a Spillway: ${use}`);
  }
  if (given !== undefined && typeof given !== "function")
    throw badInput(`createFetch: fetch must be a function; got ${typeof given}`);
  const refused = new RefusedBodies<Fetched>();
  return async (input, init) => {
    const inner = given ?? globalThis.fetch;
    const { method, url } = targetOf(input, init);
    if (endpointOf(method, url) === null) return inner(input, init);
    const outgoing = await readOutgoing(input, init);
    const { headers, bytes: body } = outgoing;
    const signal = outgoing.signal ?? undefined;
    signal?.throwIfAborted();
    const request = { method, url, headers, body, signal };
    let last: Fetched | null = null;
    const send = async (bytes: Uint8Array | null, { signal: recovery, attempt, isChanged }: ExchangeContext) => {
      // A fetch with a signal takes longer, so there is none that nobody asked for. A recovery has one with its deadline.
      const sent = { isChanged, signal: attempt === 1 ? signal : recovery };
      last = new Fetched(await outgoing.send(inner, bytes, sent));
      return last;
    };
    const exchanged =
      refused.find(request) ?? (await refused.keep(request, await spillway.exchange(request, send, options)));
    return responseOf(exchanged, (reason) => last?.leave(reason));
  };
}

type Input = Parameters<typeof fetch>[0];
type Init = Parameters<typeof fetch>[1];

function targetOf(input: Input, init: Init): { method: string; url: string } {
  const asked = isRequest(input) ? input : { method: "GET", url: String(input) };
  return { method: init?.method ?? asked.method, url: asked.url };
}

function isRequest(input: Input): input is Request {
  return typeof input === "object" && "url" in input;
}

/** A request whose body is read, and how it is sent with another one. */
interface Outgoing {
  headers: Headers;
  bytes: Uint8Array | null;
  signal: AbortSignal | null | undefined;
  send(inner: typeof fetch, bytes: Uint8Array | null, how: SendHow): Promise<Response>;
}

interface SendHow {
  isChanged: boolean;
  signal: AbortSignal | undefined;
}

async function readOutgoing(input: Input, init: Init): Promise<Outgoing> {
  const plain = isRequest(input) ? undefined : bytesOf(init?.body);
  if (plain !== undefined) {
    const headers = new Headers(init?.headers);
    // Without a type, a text is sent as another type than bytes are.
    const isText = typeof init?.body === "string" && !headers.has("content-type");
    return {
      headers,
      bytes: plain,
      signal: init?.signal,
      send: (inner, bytes, { signal, isChanged }) => {
        // A dispatcher, or whatever else the inner fetch knows, stays.
        const sent = {
          ...init,
          headers: sentHeaders(headers, isChanged) ?? init?.headers ?? {},
          ...(signal && { signal }),
        };
        if (!isChanged || bytes === null) return inner(input, sent);
        return inner(input, { ...sent, body: isText ? Buffer.from(bytes).toString("utf8") : bodyOf(bytes) });
      },
    };
  }
  const request = new Request(input, init?.body instanceof ReadableStream ? { ...init, ...HALF } : init);
  const { headers, signal, method } = request;
  return {
    headers,
    bytes: request.body === null ? null : new Uint8Array(await request.arrayBuffer()),
    signal,
    send: (inner, sent, { isChanged, signal }) => {
      const changed = sentHeaders(headers, isChanged) ?? headers;
      return inner(new Request(request, { method, headers: changed, body: bodyOf(sent), signal: signal ?? null }));
    },
  };
}

/** Streams can be sent only with this. */
const HALF = { duplex: "half" };

const encoder = new TextEncoder();

/** The bytes of a body that is at hand: a copy, since its owner may change it later. Undefined if it has to be read. */
function bytesOf(body: unknown): Uint8Array | null | undefined {
  if (body === undefined || body === null) return null;
  if (typeof body === "string") return encoder.encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body.slice(0));
  if (!ArrayBuffer.isView(body)) return undefined;
  return new Uint8Array(body.buffer.slice(body.byteOffset, body.byteOffset + body.byteLength));
}

function bodyOf(bytes: Uint8Array | null): Uint8Array<ArrayBuffer> | null {
  return bytes as Uint8Array<ArrayBuffer> | null;
}

/** The headers without those that are ours, and without the length of a body that was changed. Null if they stay. */
function sentHeaders(headers: Headers, isChanged: boolean): Headers | null {
  const left = [...headers.keys()].filter((name) => {
    return name.startsWith("x-spillway") || (isChanged && name === "content-length");
  });
  if (left.length === 0) return null;
  const sent = new Headers(headers);
  for (const name of left) sent.delete(name);
  return sent;
}

/** A provider's response, whose body is read by its reader: that is faster than to iterate, and can be left while it waits. */
class Fetched implements ExchangeResponse, AsyncIterableIterator<Uint8Array, undefined> {
  readonly response: Response;
  readonly status: number;
  readonly headers: Headers;
  readonly url: string;
  readonly body: this | null;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  /** Some libraries have streams of Node as bodies. */
  readonly #chunks: AsyncIterator<Uint8Array> | undefined;

  constructor(response: Response) {
    this.response = response;
    this.status = response.status;
    this.headers = response.headers;
    this.url = response.url;
    this.body = response.body === null ? null : this;
    this.#reader = response.body?.getReader?.();
    this.#chunks = this.#reader === undefined ? response.body?.[Symbol.asyncIterator]() : undefined;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const { value } = (await (this.#reader?.read() ?? this.#chunks?.next())) ?? {};
    return value === undefined ? DONE : { done: false, value };
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.leave(undefined);
    return DONE;
  }

  /** Ends the response if it is still coming. */
  leave(reason: unknown): void {
    void Promise.resolve(this.#reader?.cancel(reason) ?? this.#chunks?.return?.()).catch(() => {});
  }
}

const DONE: IteratorResult<Uint8Array, undefined> = { done: true, value: undefined };

/** Statuses that have no body. */
const BODILESS = new Set([101, 103, 204, 205, 304]);

function responseOf(
  { response: { response }, body, whole, isChanged, isFinal }: Exchanged<Fetched>,
  leave: (reason: unknown) => void,
): Response {
  const { status, statusText } = response;
  const headers = isChanged || isFinal ? new Headers(response.headers) : response.headers;
  if (isChanged) headers.delete("content-length");
  // The clients of OpenAI and Anthropic heed it.
  if (isFinal) headers.set("x-should-retry", "false");
  const sent = body === null || BODILESS.has(status) ? null : (bodyOf(whole) ?? streamOf(body, leave));
  return new HandedOn(response, sent, { status, statusText, headers });
}

/** A response with another body, which says where it came from as the first one does. Its copies say it too. */
class HandedOn extends Response {
  readonly #from: Response;

  constructor(from: Response, body: BodyInit | null, init: ResponseInit) {
    super(body, init);
    this.#from = from;
  }

  override get url(): string {
    return this.#from.url;
  }

  override get redirected(): boolean {
    return this.#from.redirected;
  }

  override get type(): ResponseType {
    return this.#from.type;
  }

  override clone(): Response {
    const { status, statusText, headers } = this;
    return new HandedOn(this.#from, super.clone().body, { status, statusText, headers });
  }
}

/** Hands bytes on when they are asked for, and not before. */
function streamOf(body: AsyncIterable<Uint8Array>, leave: (reason: unknown) => void): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel(reason) {
        leave(reason);
        await chunks.return?.().catch(() => {});
      },
    },
    { highWaterMark: 0 },
  );
}
