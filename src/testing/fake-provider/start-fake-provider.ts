import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { SpillwayError } from "../../errors.ts";
import { anthropic } from "./anthropic.ts";
import { countedTexts } from "./counted-texts.ts";
import type {
  FakeProvider,
  FakeProviderOptions,
  FakeRefusal,
  FakeReply,
  FakeRequest,
  FakeSizes,
  Speaks,
} from "./fake-provider.ts";
import { gemini } from "./gemini.ts";
import { loadTokenCount } from "./load-token-count.ts";
import { findLoneSurrogate } from "./lone-surrogate.ts";
import { manners } from "./manners.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import { isBody, type Speech, type Turn } from "./speech.ts";
import { startMinute } from "./token-minute.ts";

const SPEECHES: Record<Speaks, Speech> = {
  anthropic,
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  gemini,
};
/** Past what any of them takes: a client that never ends must not fill the memory. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;

/**
 * Starts an HTTP server on the loopback address that answers and refuses as a model's provider does: its window, bytes and
 * tokens per minute, by its own count of tokens, and calls and results that do not pair. Every refusal has its source.
 */
export async function startFakeProvider(options: FakeProviderOptions): Promise<FakeProvider> {
  const speech: Speech | undefined = SPEECHES[options.speaks];
  if (speech === undefined)
    throw new SpillwayError(
      "bad-input",
      `the fake provider speaks ${Object.keys(SPEECHES).join(", ")}, not ${options.speaks}`,
    );
  if (options.as !== undefined && (options.speaks !== "openai-chat" || !Object.hasOwn(manners, options.as)))
    throw new SpillwayError("bad-input", `openai-chat can be spoken as ${Object.keys(manners).join(", ")}`);
  const count = await loadTokenCount(options.tokenFactor ?? 1);
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
    const request: FakeRequest = {
      index: this.requests.length,
      path,
      headers,
      body: parseBody(raw),
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

function parseBody(raw: Buffer): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(raw.toString("utf8"));
    return isBody(parsed) ? parsed : null;
  } catch {
    return null;
  }
}
