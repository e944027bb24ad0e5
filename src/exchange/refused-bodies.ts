import { type Exchanged, type ExchangeResponse, isOk } from "./answer.ts";
import type { ExchangeRequest } from "./exchange.ts";

/** How long a request that could not be made to fit is not sent again. Clients retry within seconds. */
const REFUSED_MS = 60_000;
const MAX_REFUSED = 8;

/** Two requests with the same body are not the same if one of these differs. Others, such as a count of retries, may. */
const SAME_HEADERS = ["authorization", "x-api-key", "api-key", "x-goog-api-key", "anthropic-beta", "x-spillway"];

interface Refused<R extends ExchangeResponse> {
  /** Where the request goes, and as whom. */
  to: string;
  asked: Uint8Array;
  answer: Exchanged<R>;
  bytes: Uint8Array[];
  atMs: number;
}

/** Requests that were refused for their size whatever was tried. A client that sends one again gets the same answer. */
export class RefusedBodies<R extends ExchangeResponse> {
  #known: Refused<R>[] = [];

  /** Returns the answer that the same request got a short while ago. */
  find(request: ExchangeRequest): Exchanged<R> | null {
    if (this.#known.length === 0) return null;
    const now = performance.now();
    this.#known = this.#known.filter(({ atMs }) => now - atMs < REFUSED_MS);
    const to = receiverOf(request);
    const { body } = request;
    const known = this.#known.find((each) => body !== null && each.to === to && Buffer.compare(each.asked, body) === 0);
    return known === undefined ? null : { ...known.answer, body: handOut(known.bytes) };
  }

  /** Keeps an answer that is final, and gives it back. */
  async keep(request: ExchangeRequest, answer: Exchanged<R>): Promise<Exchanged<R>> {
    const { body: asked } = request;
    // Clients do not send a request again for a refusal inside a stream.
    if (!answer.isFinal || asked === null || answer.body === null || isOk(answer.response)) return answer;
    const bytes: Uint8Array[] = [];
    for await (const chunk of answer.body) bytes.push(chunk);
    const refused = { to: receiverOf(request), asked, answer, bytes, atMs: performance.now() };
    this.#known = [...this.#known.slice(1 - MAX_REFUSED), refused];
    return { ...answer, body: handOut(bytes) };
  }
}

function receiverOf({ url, headers }: ExchangeRequest): string {
  return JSON.stringify([url, ...SAME_HEADERS.map((name) => headers.get(name))]);
}

async function* handOut(bytes: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* bytes;
}
