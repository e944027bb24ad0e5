import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type * as O200k from "gpt-tokenizer/encoding/o200k_base";
import { badInput, SpillwayError } from "../../errors.ts";
import { loadPackage } from "../../load-package.ts";
import { isRecord, parsedJson } from "../../values.ts";
import { anthropic } from "./anthropic.ts";
import { countedTexts } from "./counted-texts.ts";
import type {
  FakeMinute,
  FakeProvider,
  FakeProviderOptions,
  FakeRefusal,
  FakeReply,
  FakeRequest,
  FakeSizes,
  Speaks,
} from "./fake-provider.ts";
import { gemini } from "./gemini.ts";
import { manners } from "./manners.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import { type Speech, type Turn } from "./speech.ts";

const SPEECHES: Record<Speaks, Speech> = {
  anthropic,
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  gemini,
};
/** More than any provider accepts. A client that never stops sending must not fill the memory. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;

/**
 * Starts an HTTP server on the loopback address that answers and refuses as a model's provider does. It refuses
 * requests over its window, its bytes or its tokens per minute, by its own count of tokens, and requests whose calls
 * and results do not pair. Every refusal names its source.
 */
export async function startFakeProvider(options: FakeProviderOptions): Promise<FakeProvider> {
  const speech: Speech | undefined = SPEECHES[options.speaks];
  if (speech === undefined)
    throw badInput(`the fake provider speaks ${Object.keys(SPEECHES).join(", ")}, not ${options.speaks}`);
  if (options.as !== undefined && (options.speaks !== "openai-chat" || !Object.hasOwn(manners, options.as)))
    throw badInput(`openai-chat can be spoken as ${Object.keys(manners).join(", ")}`);
  const { countTokens: own, tokenFactor = 1 } = options;
  const count = own === undefined ? await loadTokenCount(tokenFactor) : countWith(own, tokenFactor);
  const requests: FakeRequest[] = [];
  const provider = new Provider(speech, options, count, requests);
  const server = createServer((request, response) => {
    provider.handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    countTokens: (text) => count([text]),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

class Provider {
  private readonly speech: Speech;
  private readonly options: FakeProviderOptions;
  private readonly count: (texts: readonly string[]) => number;
  private readonly requests: FakeRequest[];
  private readonly minute: ReturnType<typeof startMinute>;
  private answers = 0;

  constructor(speech: Speech, options: FakeProviderOptions, count: Provider["count"], requests: FakeRequest[]) {
    this.speech = speech;
    this.options = options;
    this.count = count;
    this.requests = requests;
    this.minute = startMinute(options.tokensPerMinute ?? Infinity, options.now ?? Date.now);
  }

  async handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { speech } = this;
    const raw = await readBody(incoming);
    const path = (incoming.url ?? "").split("?")[0] ?? "";
    const request = this.record(incoming, path, raw);
    const route = incoming.method === "POST" ? speech.route(path) : null;
    if (route === null) {
      const refusal = { status: 404, body: { error: { message: `no ${path} here` } }, source: "made up" };
      return this.refuse(response, request, "unknown", refusal);
    }
    const { body } = request;
    const sizes = this.measure(request);
    if (sizes.bytes > sizes.maxBytes)
      return this.refuse(response, request, "bytes", this.inOtherWords("bytes", sizes) ?? speech.tooManyBytes(sizes));
    const surrogate = findLoneSurrogate(raw.toString("utf8"));
    if (body === null || surrogate !== null)
      return this.refuse(response, request, "json", speech.badJson(raw.toString("utf8"), surrogate));
    if (route === "count") return this.send(response, request, 200, speech.counted(sizes.inputTokens));
    const unpaired = speech.pairs(body);
    if (unpaired !== null) return this.refuse(response, request, "pairs", unpaired);
    await this.generate(response, request, body, sizes);
  }

  private async generate(
    response: ServerResponse,
    request: FakeRequest,
    body: Record<string, unknown>,
    sizes: FakeSizes,
  ) {
    const { speech, options } = this;
    const { index, path } = request;
    const model = speech.model(body, path);
    const turn: Turn = { index, model, inputTokens: sizes.inputTokens, outputTokens: 0 };
    const tooFast = this.minute.take(sizes.inputTokens + (speech.countsOutput ? sizes.outputTokens : 0));
    if (tooFast !== null) {
      const refusal =
        this.inOtherWords("tokens-per-minute", { ...sizes, minute: tooFast }) ?? speech.tooFast(tooFast, model);
      return this.refuse(response, request, "tokens-per-minute", refusal);
    }
    const { onOverflow = "refuse" } = options;
    const overflow = speech.overflow(sizes, model);
    if (overflow !== null && onOverflow === "refuse") {
      const other = this.inOtherWords("window", sizes);
      if (other === null && speech.overflowStream !== undefined && speech.wantsStream(body, path)) {
        Object.assign(request, { refused: "window", source: overflow.source });
        return this.sendStream(response, request, speech.overflowStream(overflow, turn), Infinity);
      }
      return this.refuse(response, request, "window", other ?? overflow);
    }
    if (overflow !== null && onOverflow === "truncate") turn.inputTokens = Math.ceil(sizes.window / 2);
    const reply = await this.reply(request);
    if (reply.refusal !== undefined) return this.refuse(response, request, "script", reply.refusal);
    const said = [reply.text ?? "", ...(reply.calls ?? []).flatMap(({ tool, input }) => [tool, JSON.stringify(input)])];
    turn.outputTokens = this.count(said);
    if (speech.wantsStream(body, path))
      return this.sendStream(response, request, speech.stream(reply, turn, body), reply.dropAfterPieces ?? Infinity);
    this.send(response, request, 200, speech.answer(reply, turn));
  }

  private record(incoming: IncomingMessage, path: string, raw: Buffer): FakeRequest {
    const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
    const body = parsedJson(raw.toString("utf8"));
    const request: FakeRequest = {
      index: this.requests.length,
      path,
      headers,
      body: isRecord(body) ? body : null,
      bytes: raw.length,
      inputTokens: 0,
      status: 0,
      refused: null,
      source: null,
    };
    this.requests.push(request);
    return request;
  }

  private measure(request: FakeRequest): FakeSizes {
    const { speech, options } = this;
    const body = request.body ?? {};
    request.inputTokens = this.count(speech.reads.flatMap((name) => countedTexts(body[name])));
    return {
      inputTokens: request.inputTokens,
      toolTokens: this.count(countedTexts(body.tools)),
      outputTokens: speech.maxOutput(body),
      window: options.window ?? 200_000,
      bytes: request.bytes,
      maxBytes: options.maxRequestBytes ?? speech.maxRequestBytes,
    };
  }

  private async reply(request: FakeRequest): Promise<FakeReply> {
    const { script = [] } = this.options;
    const said = typeof script === "function" ? await script(request) : (script[this.answers] ?? "Done.");
    this.answers++;
    return typeof said === "string" ? { text: said } : said;
  }

  private inOtherWords(why: "bytes" | "tokens-per-minute" | "window", sizes: FakeSizes): FakeRefusal | null {
    const { as, refuse } = this.options;
    return refuse?.(why, sizes) ?? (as === undefined ? null : manners[as](why, sizes));
  }

  private refuse(
    response: ServerResponse,
    request: FakeRequest,
    refused: FakeRequest["refused"],
    refusal: FakeRefusal,
  ) {
    Object.assign(request, { refused, source: refusal.source });
    this.send(response, request, refusal.status, refusal.body, refusal.headers);
  }

  private send(response: ServerResponse, request: FakeRequest, status: number, body: unknown, headers = {}) {
    request.status = status;
    const type = typeof body === "string" ? "text/html" : "application/json; charset=utf-8";
    response.writeHead(status, { "content-type": type, "request-id": `req_fake_${request.index}`, ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  }

  private sendStream(response: ServerResponse, request: FakeRequest, frames: string[], dropAfter: number) {
    request.status = 200;
    response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "request-id": `req_fake_${request.index}`,
    });
    frames.slice(0, dropAfter).forEach((frame) => response.write(frame));
    if (dropAfter >= frames.length) response.end();
    else response.write("", () => response.destroy());
  }
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error("the request has no end");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Returns where half a surrogate pair is escaped in a JSON text, or null if there is none. */
function findLoneSurrogate(json: string): number | null {
  // The expression steps over escaped backslashes, so that "\\ud83d" stays text.
  const escapes = /\\(?:u([0-9a-f]{4})|[^u])/gi;
  let high: number | null = null;
  for (let found = escapes.exec(json); found !== null; found = escapes.exec(json)) {
    const code = Number.parseInt(found[1] ?? "0", 16);
    const follows = high !== null && found.index === high + 6;
    if (code >= 0xdc00 && code <= 0xdfff && follows) {
      high = null;
      continue;
    }
    if (high !== null) return high;
    if (code >= 0xdc00 && code <= 0xdfff) return found.index;
    high = code >= 0xd800 && code <= 0xdbff ? found.index : null;
  }
  return high;
}

const MINUTE_MS = 60_000;

/**
 * Counts tokens over the last minute. `take` adds a request's tokens, or returns why there is no room. A refused
 * request costs nothing.
 */
function startMinute(limit: number, now: () => number): { take(tokens: number): FakeMinute | null } {
  let spent: { at: number; tokens: number }[] = [];
  return {
    take(requested) {
      const time = now();
      spent = spent.filter(({ at }) => at > time - MINUTE_MS);
      const used = spent.reduce((sum, { tokens }) => sum + tokens, 0);
      if (used + requested <= limit) {
        spent.push({ at: time, tokens: requested });
        return null;
      }
      return { limit, used, requested, retryMs: waitFor(used + requested - limit, time) };
    },
  };

  /** Returns the time until enough of the used tokens are a minute old. */
  function waitFor(tokens: number, time: number): number {
    let freed = 0;
    for (const one of spent) {
      freed += one.tokens;
      if (freed >= tokens) return one.at + MINUTE_MS - time;
    }
    return MINUTE_MS;
  }
}

/** Longer pieces of one run would take quadratic time. */
const PIECE = /.{1,1024}/gsu;
const MAX_REMEMBERED_CHARS = 32 * 1024 * 1024;

/**
 * Loads a counter of o200k tokens times a factor. It needs the optional package `gpt-tokenizer`. It remembers texts
 * that it has counted.
 */
export async function loadTokenCount(factor: number): Promise<(texts: readonly string[]) => number> {
  const { countTokens } = await load();
  const options = { disallowedSpecial: new Set<string>() };
  let known = new Map<string, number>();
  let chars = 0;
  const count = (text: string): number => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const tokens = (text.match(PIECE) ?? []).reduce((sum, piece) => sum + countTokens(piece, options), 0);
    chars += text.length;
    if (chars > MAX_REMEMBERED_CHARS) {
      known = new Map();
      chars = text.length;
    }
    known.set(text, tokens);
    return tokens;
  };
  return (texts) => Math.ceil(texts.reduce((sum, text) => sum + count(text), 0) * factor);
}

function countWith(countTokens: (text: string) => number, factor: number): (texts: readonly string[]) => number {
  return (texts) => Math.ceil(texts.reduce((sum, text) => sum + countTokens(text), 0) * factor);
}

async function load() {
  try {
    return await loadPackage<typeof O200k>("gpt-tokenizer/encoding/o200k_base");
  } catch (cause) {
    const message = "the fake provider counts with the package gpt-tokenizer, which could not be loaded";
    throw new SpillwayError("missing-part", `${message}: npm install --save-dev gpt-tokenizer`, { cause });
  }
}
