import type { IncomingMessage } from "node:http";
import { pipeline, Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Dispatcher } from "undici";
import type { ExchangeResponse } from "../../exchange/answer.ts";

/** A request as a provider gets it. */
export interface UpstreamRequest {
  origin: string;
  path: string;
  method: Dispatcher.HttpMethod;
  /** Names and values by turns. */
  headers: string[];
  body: Uint8Array | IncomingMessage | null;
  signal: AbortSignal;
}

/** While so many bytes wait to be read, no more are taken from the provider. */
const MAX_WAITING_BYTES = 64 * 1024;

/** Sends a request, and gives the answer as soon as its headers are there. */
export function sendUpstream(dispatcher: Dispatcher, request: UpstreamRequest): Promise<UpstreamResponse> {
  const { signal, ...sent } = request;
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    let response: UpstreamResponse | null = null;
    let stop = () => {};
    dispatcher.dispatch(sent, {
      onRequestStart(controller) {
        stop = () => controller.abort(signal.reason);
        if (signal.aborted) stop();
        else signal.addEventListener("abort", stop, { once: true });
      },
      onResponseStart(controller, status) {
        // Before the answer a provider may say that it is at work.
        if (status < 200) return;
        response = new UpstreamResponse(controller, status, sent.origin + sent.path);
        resolve(response);
      },
      onResponseData(_, chunk) {
        response?.add(chunk);
      },
      onResponseEnd() {
        signal.removeEventListener("abort", stop);
        response?.end();
      },
      onResponseError(_, error) {
        signal.removeEventListener("abort", stop);
        if (response === null) reject(error);
        else response.end(error);
      },
    });
  });
}

/** A provider's answer as the gateway hands it on. */
export interface Answered extends ExchangeResponse {
  /** Names and values by turns. */
  rawHeaders: string[];
}

const DECODERS = new Map([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

/** An answer that can be looked into. Some servers compress although they were told not to. */
export function decoded(answer: UpstreamResponse): Answered {
  const decoder = DECODERS.get(answer.headers.get("content-encoding")?.trim().toLowerCase() ?? "");
  if (decoder === undefined) return answer;
  const { status, url, headers } = answer;
  const isLeft = (name = "") => /^content-(encoding|length)$/i.test(name);
  return {
    status,
    url,
    headers: { get: (name) => (isLeft(name) ? null : headers.get(name)) },
    rawHeaders: answer.rawHeaders.filter((_, at, all) => !isLeft(all[at - (at % 2)])),
    // Where one breaks off, the other does too.
    body: pipeline(Readable.from(answer), decoder(), () => {}),
  };
}

type Chunk = IteratorResult<Uint8Array, undefined>;

/** A provider's answer, whose body is read once, and only as fast as somebody takes it. */
export class UpstreamResponse implements ExchangeResponse, AsyncIterableIterator<Uint8Array, undefined> {
  readonly status: number;
  readonly url: string;
  /** Names and values by turns. */
  readonly rawHeaders: string[];
  readonly headers = { get: (name: string) => this.#header(name) };
  readonly #controller: Dispatcher.DispatchController;
  readonly #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #ended: { error?: Error | undefined } | null = null;
  #reader: { resolve(chunk: Chunk): void; reject(error: Error): void } | null = null;

  constructor(controller: Dispatcher.DispatchController, status: number, url: string) {
    this.status = status;
    this.url = url;
    this.#controller = controller;
    const { rawHeaders } = controller;
    this.rawHeaders = Array.isArray(rawHeaders) ? rawHeaders.map((part) => part.toString("latin1")) : [];
  }

  get body(): this {
    return this;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  add(chunk: Uint8Array): void {
    if (this.#reader !== null) {
      this.#reader.resolve({ done: false, value: chunk });
      this.#reader = null;
      return;
    }
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.#controller.pause();
  }

  /** With an error the body breaks off there. */
  end(error?: Error): void {
    this.#ended ??= { error };
    if (error === undefined) this.#reader?.resolve(DONE);
    else this.#reader?.reject(error);
    this.#reader = null;
  }

  next(): Promise<Chunk> {
    const value = this.#waiting.shift();
    if (value !== undefined) {
      this.#waitingBytes -= value.length;
      if (this.#controller.paused && this.#waitingBytes <= MAX_WAITING_BYTES / 2) this.#controller.resume();
      return Promise.resolve({ done: false, value });
    }
    if (this.#ended === null) {
      return new Promise((resolve, reject) => {
        this.#reader = { resolve, reject };
      });
    }
    const { error } = this.#ended;
    this.#ended = {};
    return error === undefined ? Promise.resolve(DONE) : Promise.reject(error);
  }

  takeWhole(): Uint8Array | null {
    if (this.#ended === null || this.#ended.error !== undefined) return null;
    const [first, ...more] = this.#waiting.splice(0);
    return more.length === 0 ? (first ?? NOTHING) : Buffer.concat([first as Uint8Array, ...more]);
  }

  /** Ends an answer that nobody reads to its end. */
  return(): Promise<Chunk> {
    if (this.#ended === null) this.#controller.abort(new Error("the answer was not read to its end"));
    this.#waiting.length = 0;
    this.end();
    return Promise.resolve(DONE);
  }

  #header(wanted: string): string | null {
    const { rawHeaders } = this;
    for (let at = 0; at < rawHeaders.length; at += 2) {
      if (rawHeaders[at]?.toLowerCase() === wanted) return rawHeaders[at + 1] ?? null;
    }
    return null;
  }
}

const NOTHING = new Uint8Array(0);
const DONE: Chunk = { done: true, value: undefined };
