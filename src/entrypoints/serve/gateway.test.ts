import { createServer, request as httpRequest, type IncomingMessage, type RequestListener } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import Anthropic from "@anthropic-ai/sdk";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type RandomConversation, speeches, textOf } from "../../../test/recovery/conversation.ts";
import { clients } from "../../../test/sdk-clients.ts";
import type { ExchangeOptions } from "../../exchange/exchange.ts";
import { createSpillway, type SpillwayOptions } from "../../index.ts";
import { SERVE_NUMBERS } from "../../stages/policy/serve-numbers.ts";
import { memoryLedger } from "../../storage/ledgers/memory.ts";
import { memoryStore } from "../../storage/stores/memory.ts";
import type { FakeProvider, FakeProviderOptions, Speaks } from "../../testing/fake-provider/fake-provider.ts";
import { startFakeProvider } from "../../testing/fake-provider/start-fake-provider.ts";
import { createFetch } from "../fetch/index.ts";
import { type ServeOptions, startServe } from "./start-serve.ts";

const NAMES: Speaks[] = ["openai-chat", "openai-responses", "anthropic", "gemini"];
const stops: (() => unknown)[] = [];
const warned: string[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  warned.length = 0;
});

/** A gateway before one upstream for all APIs. */
async function gateway(
  upstream: string,
  { spillway: given, ...options }: Partial<Omit<ServeOptions, "spillway">> & { spillway?: SpillwayOptions } = {},
) {
  const spillway = await createSpillway({ store: memoryStore(), ledger: memoryLedger(), env: {}, ...given });
  const server = await startServe({
    spillway,
    policy: undefined,
    version: "1.0.0",
    host: "127.0.0.1",
    port: 0,
    tokens: [],
    hostNames: [],
    gateway: gatewayTo(upstream),
    warn: (fault) => warned.push(fault),
    ...options,
  });
  stops.unshift(() => server.stop({ now: true }));
  return { server, spillway, url: server.url };
}

function gatewayTo(upstream: string, exchange?: ExchangeOptions) {
  return { upstreams: { anthropic: upstream, openai: `${upstream}/v1`, gemini: upstream }, allowed: [], exchange };
}

async function provider(options: FakeProviderOptions): Promise<FakeProvider> {
  const started = await startFakeProvider(options);
  stops.push(() => started.stop());
  return started;
}

/** A provider that is told what to do with each request. */
async function upstream(answer: RequestListener): Promise<string> {
  const server = createServer({ requireHostHeader: false }, answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const conversation = (turns: number, chars: number, hasImage = false): RandomConversation => ({
  system: "You are an agent that reads logs.",
  first: "What went wrong?",
  turns: Array.from({ length: turns }, (_, turn) => ({
    says: "I will look.",
    calls: [
      {
        tool: "bash",
        path: `${turn}.log`,
        text: textOf(turn, chars, turn),
        isError: false,
        hasImage: hasImage && turn === 1,
      },
    ],
    user: null,
  })),
});

function asked(name: Speaks, given: RandomConversation, more: Record<string, unknown> = {}) {
  const { path, field, beside, messages } = speeches[name](given);
  const json = JSON.stringify({ ...beside, ...more, [field]: messages }, null, 1);
  return { path, body: json.replace(/^\{/, '{"seed":12345678901234567890,"temperature":1.0,') };
}

const JSON_TYPE = { "content-type": "application/json" };
const post = (
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
  init: RequestInit = {},
) => fetch(url, { method: "POST", headers: { ...JSON_TYPE, ...headers }, body, ...init });
const SHAPES: Record<Speaks, unknown> = {
  anthropic: { type: "error", error: { type: expect.any(String), message: expect.stringContaining("spillway: ") } },
  "openai-chat": {
    error: { message: expect.stringContaining("spillway: "), type: expect.any(String), param: null, code: null },
  },
  "openai-responses": {
    error: { message: expect.stringContaining("spillway: "), type: expect.any(String), param: null, code: null },
  },
  gemini: {
    error: { code: expect.any(Number), message: expect.stringContaining("spillway: "), status: expect.any(String) },
  },
};

describe.each(NAMES)("%s through the gateway", (name) => {
  it("its own SDK asks, streams and gets calls, as without a gateway", async () => {
    const script = [
      { text: "Let me look.", calls: [{ tool: "read_file", input: { path: "a.ts" }, id: "call_1" }] },
      "Hello there, all is well with the world.",
      { text: "Once more.", calls: [{ tool: "read_file", input: { path: "b.ts" }, id: "call_2" }] },
    ];
    const fake = await provider({ speaks: name, script });
    const client = clients[name]((await gateway(fake.url)).url);
    const first = await client.ask("What is in it?");
    expect(first).toMatchObject({ text: "Let me look.", calls: [{ tool: "read_file", input: { path: "a.ts" } }] });
    expect(first.inputTokens).toBe(fake.requests[0]?.inputTokens);
    expect((await client.stream("And now?")).text).toBe("Hello there, all is well with the world.");
    expect(await client.stream("And then?")).toEqual({
      text: "Once more.",
      calls: [{ tool: "read_file", input: { path: "b.ts" } }],
    });
    expect(fake.requests.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it("a refusal that nothing can be done about reaches the SDK as the provider said it", async () => {
    const fake = await provider({ speaks: name, window: 500 });
    const client = clients[name]((await gateway(fake.url)).url);
    const direct = clients[name](fake.url);
    const long = "The quick brown fox jumps over the lazy dog. ".repeat(200);
    const told = async (work: Promise<unknown>) =>
      work.then(
        () => "no error",
        (error: Error) => [error.name, error.message],
      );
    expect(await told(client.ask(long))).toEqual(await told(direct.ask(long)));
    expect(fake.requests[0]?.refused).toBe("window");
  });

  it("large results are clamped and kept, pruned forms stay the same, and nothing else changes", async () => {
    const bodies: string[] = [];
    const to = await upstream(async (request, response) => {
      bodies.push(String(await bodyOf(request)));
      response.writeHead(200, JSON_TYPE).end("{}");
    });
    const { url, spillway } = await gateway(to);
    const { path, body } = asked(name, conversation(4, 90_000, true));
    for (let time = 0; time < 2; time++) expect((await post(url + path, body)).status).toBe(200);
    expect(bodies[0]?.length).toBeLessThan(body.length / 2);
    expect(bodies[0]?.startsWith('{"seed":12345678901234567890,"temperature":1.0,')).toBe(true);
    expect(bodies[1]).toBe(bodies[0]);
    const id = /artifact ([a-z2-7]{12})/.exec(bodies[0] ?? "")?.[1] ?? "";
    expect((await spillway.artifact(id)).bytes).toBeGreaterThan(80_000);
    const { body: small } = asked(name, conversation(2, 100, true));
    await post(url + path, small);
    expect(bodies[2]).toBe(small);
  });

  it("events name the agent, the wire and a session of their own; results within limits are counted, and kept if all are", async () => {
    const to = await upstream(async (request, response) => {
      await bodyOf(request);
      response.writeHead(200, JSON_TYPE).end('{"usage":{"input_tokens":9,"output_tokens":1}}');
    });
    const { url, spillway } = await gateway(to, { spillway: { keep: "all" } });
    const { path, body } = asked(name, conversation(2, 100));
    for (let time = 0; time < 2; time++) await post(url + path, body, { "user-agent": "my-agent/1.2 (x)" });
    const outputs = (await spillway.ledger?.events({ kinds: ["output-passed"] })) ?? [];
    expect(outputs).toHaveLength(1);
    expect(outputs[0]).toMatchObject({ tool: "bash", session: expect.stringMatching(/^my-agent-[0-9a-f]{10}$/) });
    expect(outputs[0]?.more).toMatchObject({ agent: "my-agent", wire: name, command: '{"path":"1.log"}' });
    expect((await spillway.artifact(outputs[0]?.artifact ?? "")).session).toBe(outputs[0]?.session);
    const answers = await vi.waitFor(async () => {
      const found = (await spillway.ledger?.events({ kinds: ["request-answered"] })) ?? [];
      expect(found).toHaveLength(2);
      return found;
    }, 120_000);
    expect(answers[0]).toMatchObject({ session: outputs[0]?.session, more: { agent: "my-agent", wire: name } });
  });

  it("does the same as a wrapped fetch: sent bodies and answers are equal over whole conversations", async () => {
    const countTokens = (text: string) => Math.ceil(text.length / 3);
    const options = { speaks: name, window: 9000, countTokens, now: () => 0, script: () => "All is well." };
    const [behindGateway, behindFetch] = [await provider(options), await provider(options)];
    // Without a store, since ids of artifacts are random and take more or less room.
    const { url } = await gateway(behindGateway.url, { spillway: { store: null } });
    const own = await createSpillway({ store: null, ledger: memoryLedger(), env: {} });
    const wrapped = createFetch({ spillway: own });
    const stream = name === "gemini" ? "/v1beta/models/fake:streamGenerateContent?alt=sse" : null;
    // What grows, what cannot be made to fit, and the same again as a client's retry.
    const tooLong = { ...conversation(1, 10), first: textOf(0, 90_000, 1) };
    const all = [2, 4, 6, 8]
      .map((turns) => conversation(turns, 7000))
      .concat([tooLong, tooLong, conversation(3, 90_000)]);
    for (const isStream of [false, true]) {
      for (const given of all) {
        const { path, body } = asked(name, given, isStream && stream === null ? { stream: true } : {});
        const at = (isStream && stream) || path;
        const headers = { ...JSON_TYPE, "x-api-key": "k" };
        const [one, other] = await Promise.all([
          fetch(url + at, { method: "POST", headers, body }),
          wrapped(behindFetch.url + at, { method: "POST", headers, body }),
        ]);
        expect([one.status, one.headers.get("x-should-retry")]).toEqual([
          other.status,
          other.headers.get("x-should-retry"),
        ]);
        expect(await one.text()).toBe(await other.text());
      }
    }
    const sent = (fake: FakeProvider) => fake.requests.map(({ path, body, status }) => [path, status, body]);
    expect(sent(behindGateway)).toEqual(sent(behindFetch));
    const refused = behindGateway.requests.filter(({ status }) => status >= 400);
    expect(refused.length).toBeGreaterThan(0);
  });

  it("an overflow is recovered before the client sees anything", async () => {
    const fake = await provider({ speaks: name, window: 6000, tokenFactor: 1.2, script: () => "All is well." });
    const { url, spillway } = await gateway(fake.url);
    const more = name === "gemini" ? {} : { stream: true };
    const { path, body } = asked(name, conversation(6, 7000), more);
    const streamPath = name === "gemini" ? "/v1beta/models/fake:streamGenerateContent?alt=sse" : path;
    const response = await post(url + streamPath, body);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("well");
    expect(fake.requests.length).toBeGreaterThan(1);
    const events = (await spillway.ledger?.events()) ?? [];
    expect(events.map(({ kind }) => kind)).toContain("overflow-recovered");
  });

  it("a provider that cannot be reached is told in the provider's shape", async () => {
    const closed = createTcpServer();
    await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const { url } = await gateway(`http://127.0.0.1:${port}`);
    const { path, body } = asked(name, conversation(1, 10));
    const response = await post(url + path, body);
    expect([response.status, await response.json()]).toEqual([502, SHAPES[name]]);
    expect(warned.join()).toMatch(/no answer came from http:\S+: .*; see that it is up and .*or name another address/);
  });

  it("a body over the limit is refused in the provider's shape, unread", async () => {
    const { url } = await gateway("http://127.0.0.1:9");
    const { path } = asked(name, conversation(1, 10));
    const { hostname, port } = new URL(url);
    const headers = { ...JSON_TYPE, "content-length": String(SERVE_NUMBERS.gatewayBodyBytes.default + 1) };
    const [status, body, connection] = await new Promise<unknown[]>((resolve, reject) => {
      const asking = httpRequest({ hostname, port, path, method: "POST", headers }, async (response) => {
        resolve([response.statusCode, String(await bodyOf(response)), response.headers.connection]);
        asking.destroy();
      });
      asking.on("error", reject);
      asking.write("{");
    });
    // What was not read must not be taken for the next request.
    expect([status, JSON.parse(String(body)), connection]).toEqual([413, SHAPES[name], "close"]);
  });
});

describe("what passes", () => {
  it("headers pass with their order, spelling and repeats; ours and those of the connection do not", async () => {
    let got: string[] = [];
    const to = await upstream((request, response) => {
      got = request.rawHeaders;
      response.setHeader("set-cookie", ["a=1", "b=2"]);
      response.writeHead(200, { ...JSON_TYPE, "Request-Id": "r1", connection: "close, x-private", "x-private": "y" });
      response.end("{}");
    });
    const { url } = await gateway(to);
    const head = [
      "POST /v1/messages?beta=true HTTP/1.1",
      `Host: ${new URL(url).host}`,
      "X-Api-Key: sk-secret",
      "anthropic-beta: a-2025,b-2026",
      "Anthropic-Beta: c",
      "Accept-Encoding: gzip, br",
      "Connection: keep-alive, X-Hop",
      "X-Hop: 1",
      "X-Spillway-Session: s1",
      "Proxy-Authorization: Basic x",
      "Content-Type: application/json",
      "Content-Length: 15",
      "Connection: close",
    ];
    const answer = await raw(url, `${head.join("\r\n")}\r\n\r\n{"messages":[]}`);
    const pairs = got.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${got[at + 1]}`] : []));
    expect(pairs.filter((pair) => /^(x-|anthropic|proxy|te|connection: .*hop)/i.test(pair))).toEqual([
      "X-Api-Key: sk-secret",
      "anthropic-beta: a-2025,b-2026",
      "Anthropic-Beta: c",
    ]);
    // What a model answers is looked into.
    expect(pairs.filter((pair) => /^accept-encoding/i.test(pair))).toEqual(["accept-encoding: identity"]);
    expect(answer).toMatch(/^HTTP\/1.1 200 [^]*Request-Id: r1\r\n/);
    expect(answer.match(/set-cookie: [ab]=\d/gi)).toHaveLength(2);
    expect(answer).not.toMatch(/x-spillway|sk-secret/i);
  });

  it("everything else under the upstreams' paths passes as it is, both ways", async () => {
    const seen: string[] = [];
    const to = await upstream(async (request, response) => {
      const body = await bodyOf(request);
      seen.push(`${request.method} ${request.url} ${body.length} ${request.headers["accept-encoding"] ?? ""}`);
      response.writeHead(request.url === "/v1/files" ? 201 : 404, { "content-type": "application/octet-stream" });
      response.end(body);
    });
    const { url } = await gateway(to);
    const bytes = Buffer.alloc(3_000_000, Buffer.from([0, 255, 10, 13]));
    const stored = await fetch(`${url}/v1/files`, {
      method: "POST",
      body: bytes,
      headers: { "accept-encoding": "br" },
    });
    expect([stored.status, Buffer.from(await stored.arrayBuffer()).equals(bytes)]).toEqual([201, true]);
    expect((await fetch(`${url}/v1/models?limit=1%20`)).status).toBe(404);
    expect((await fetch(`${url}/v1beta/models`, { method: "HEAD" })).status).toBe(404);
    expect(seen).toEqual([
      "POST /v1/files 3000000 br",
      "GET /v1/models?limit=1%20 0 gzip, deflate",
      expect.stringContaining("HEAD /v1beta/models 0"),
    ]);
    expect((await fetch(`${url}/favicon.ico`)).status).toBe(404);
    // The dashboard is ours.
    expect((await fetch(url)).headers.get("content-type")).toContain("text/html");
    expect(seen).toHaveLength(3);
  });

  it("what a provider says before its answer is not taken for the answer", async () => {
    const to = await upstream((_request, response) => {
      response.writeProcessing();
      response.writeEarlyHints({ link: "</style.css>; rel=preload" });
      response.end('{"id":"m"}');
    });
    const { url } = await gateway(to);
    const response = await post(`${url}/v1/messages`, '{"messages":[]}');
    expect([response.status, await response.text()]).toEqual([200, '{"id":"m"}']);
  });

  it("each API goes to its own upstream, another only if it is allowed", async () => {
    const seen: string[] = [];
    const named = (name: string) =>
      upstream((request, response) => void (seen.push(`${name} ${request.url}`), response.end("{}")));
    const [anthropic, openai, gemini, other] = await Promise.all(["anthropic", "openai", "gemini", "other"].map(named));
    const upstreams = { anthropic: `${anthropic}`, openai: `${openai}/api/v1/`, gemini: `${gemini}` };
    const { url } = await gateway("", { gateway: { upstreams, allowed: [`${other}/proxy`] } });
    const ask = (path: string, headers: Record<string, string> = {}) => post(url + path, "{}", headers);
    await ask("/v1/messages");
    await ask("/v1/models", { "anthropic-version": "2023-06-01" });
    await ask("/v1/chat/completions");
    await ask("/chat/completions");
    await ask("/v1/responses/resp_1/cancel");
    await ask("/v1beta/models/g:generateContent?key=k");
    await ask("/v1/chat/completions", { "x-spillway-upstream": `${other}/proxy` });
    expect(seen).toEqual([
      "anthropic /v1/messages",
      "anthropic /v1/models",
      "openai /api/v1/chat/completions",
      "openai /api/v1/chat/completions",
      "openai /api/v1/responses/resp_1/cancel",
      "gemini /v1beta/models/g:generateContent?key=k",
      "other /proxy/chat/completions",
    ]);
    for (const evil of [`${other}`, "http://169.254.169.254", "file:///etc/passwd", "", `${other}/proxy/../x`]) {
      const refused = await ask("/v1/messages", { "x-spillway-upstream": evil });
      expect(await refused.clone().json()).toEqual(SHAPES.anthropic);
      expect([evil, refused.status]).toEqual([evil, 403]);
    }
    expect(seen).toHaveLength(7);
  });

  it("HTTPS_PROXY is used for upstreams with TLS, NO_PROXY and those without TLS excepted", async () => {
    const asked: string[] = [];
    const proxy = createServer((request, response) => void (asked.push(`${request.url}`), response.end()));
    proxy.on(
      "connect",
      ({ url }, socket) => void (asked.push(`CONNECT ${url}`), socket.end("HTTP/1.1 407 No\r\n\r\n")),
    );
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    stops.push(() => new Promise((resolve) => proxy.close(resolve)));
    const own = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    for (const name of ["HTTP_PROXY", "http_proxy", "https_proxy", "NO_PROXY", "no_proxy"]) vi.stubEnv(name, undefined);
    stops.push(() => vi.unstubAllEnvs());
    vi.stubEnv("HTTPS_PROXY", own);
    vi.stubEnv("HTTP_PROXY", own);
    const plain = await upstream((_request, response) => response.end("{}"));
    const { url } = await gateway(plain);
    expect((await post(`${url}/v1/messages`, "{}")).status).toBe(200);
    expect(asked).toEqual([]);
    const far = "https://127.0.0.1:1";
    const refused = await post(`${(await gateway(far)).url}/v1/messages`, "{}");
    expect([refused.status, await refused.json()]).toEqual([502, SHAPES.anthropic]);
    expect(asked).toEqual(["CONNECT 127.0.0.1:1"]);
    vi.stubEnv("NO_PROXY", "example.com,127.0.0.1");
    expect((await post(`${(await gateway(far)).url}/v1/messages`, "{}")).status).toBe(502);
    expect(asked).toHaveLength(1);
    vi.stubEnv("HTTPS_PROXY", "proxy:3128");
    await expect(gateway(far)).rejects.toThrow("HTTPS_PROXY must be an address such as http://proxy");
  });

  it("bytes of a stream come as they are sent, not at its end", async () => {
    let more: (() => void) | undefined;
    const to = await upstream((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('event: message_start\ndata: {"type":"message_start"}\n\n');
      response.write('event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"text":"a"}}\n\n');
      more = () => response.end("data: last\n\n");
    });
    const { url } = await gateway(to);
    const response = await post(`${url}/v1/messages`, '{"messages":[{"role":"user","content":"hi"}],"stream":true}');
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let got = "";
    while (!got.includes("content_block_delta")) got += Buffer.from((await reader.read()).value ?? []);
    expect(got).not.toContain("last");
    more?.();
    for (let next = await reader.read(); !next.done; next = await reader.read()) got += Buffer.from(next.value);
    expect(got.endsWith("data: last\n\n")).toBe(true);
  });

  it("many streams at once lose no byte and mix none", async () => {
    const to = await upstream(async (request, response) => {
      const [, name] = /"content":"stream (\d+)"/.exec(String(await bodyOf(request))) ?? [];
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (let at = 0; at < 40; at++) {
        // Some pieces are large, so that slow readers have to be waited for.
        const text = `${name}:${at} ${"x".repeat(at % 10 === 9 ? 20_000 : 20)}`;
        response.write(`data: ${JSON.stringify({ type: "content_block_delta", delta: { text } })}\n\n`);
        await new Promise((resolve) => setTimeout(resolve, at % 7));
      }
      response.end('data: {"type":"message_stop"}\n\n');
    });
    const { url } = await gateway(to);
    await Promise.all(
      Array.from({ length: 150 }, async (_, stream) => {
        const messages = [{ role: "user", content: `stream ${stream}` }];
        const text = await (await post(`${url}/v1/messages`, JSON.stringify({ messages, stream: true }))).text();
        const pieces = [...text.matchAll(/"text":"(\d+):(\d+) (x+)"/g)].map(([, name, at, xs]) => [
          name,
          at,
          xs?.length,
        ]);
        const want = Array.from({ length: 40 }, (_each, at) => [`${stream}`, `${at}`, at % 10 === 9 ? 20_000 : 20]);
        expect(pieces).toEqual(want);
        expect(text.endsWith('data: {"type":"message_stop"}\n\n')).toBe(true);
      }),
    );
  });

  it("a provider is read no faster than the client reads", async () => {
    let taken = 0;
    const megabyte = Buffer.alloc(1024 * 1024, "x");
    const to = await upstream((_request, response) => {
      response.writeHead(200, { "content-type": "application/octet-stream" });
      const more = () => {
        while (!response.destroyed && taken < 200) {
          taken += 1;
          if (!response.write(megabyte)) return void response.once("drain", more);
        }
        response.end();
      };
      more();
    });
    const { url } = await gateway(to);
    for (const ask of ["GET /v1/files/f/content", "POST /v1/chat/completions"]) {
      taken = 0;
      const socket = connect(Number(new URL(url).port), "127.0.0.1");
      socket.pause();
      const head = "Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
      socket.write(`${ask} HTTP/1.1\r\n${head}`);
      // Until nothing more is taken: what is on the way fills the buffers of two connections.
      const isFull = async () => {
        const before = taken;
        await new Promise((resolve) => setTimeout(resolve, 500));
        return taken > 0 && taken === before;
      };
      while (!(await isFull()));
      expect(taken).toBeLessThan(100);
      socket.resume();
      await vi.waitFor(() => expect(taken).toBe(200), 60_000);
      socket.destroy();
    }
  });

  it("a client that leaves ends the request to the provider", async () => {
    let isGone = false;
    const to = await upstream((request, response) => {
      request.socket.once("close", () => (isGone = true));
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"type":"content_block_delta"}\n\n');
    });
    const { url } = await gateway(to);
    const client = new Anthropic({ apiKey: "k", baseURL: url, maxRetries: 0 });
    const stream = client.messages.stream({ model: "m", max_tokens: 5, messages: [{ role: "user", content: "hi" }] });
    stream.on("error", () => {});
    stream.done().catch(() => {});
    await new Promise((resolve) => stream.once("connect", () => resolve(null)));
    stream.abort();
    await vi.waitFor(() => expect(isGone).toBe(true), 120_000);
  });

  it("a stop lets streams finish, and takes nothing new", async () => {
    let finish: (() => void) | undefined;
    const to = await upstream((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"type":"content_block_delta"}\n\n');
      finish = () => response.end("data: end\n\n");
    });
    const { url, server } = await gateway(to);
    const response = await post(`${url}/v1/messages`, '{"messages":[{"role":"user","content":"hi"}]}');
    const stopped = server.stop();
    await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed");
    finish?.();
    expect(await response.text()).toContain("data: end\n\n");
    await stopped;
  });

  it("a stop does not wait for ever for a stream that does not end", async () => {
    const spied = vi.spyOn(SERVE_NUMBERS.serveStopMs, "default", "get").mockReturnValue(100 as never);
    const to = await upstream((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"type":"content_block_delta"}\n\n');
    });
    const { url, server } = await gateway(to);
    const response = await post(`${url}/v1/messages`, '{"messages":[{"role":"user","content":"hi"}]}');
    await server.stop();
    await expect(response.text()).rejects.toThrow("terminated");
    spied.mockRestore();
  });
});

describe("with tokens", () => {
  it("a request needs one in a header of its own, and it does not reach the provider", async () => {
    let got: string[] = [];
    const to = await upstream((request, response) => {
      got = request.rawHeaders;
      response.end("{}");
    });
    const tokens = [{ role: "write", token: "write-token-0123456789" }] as const;
    const { url } = await gateway(to, { tokens });
    const key = { "x-api-key": "sk-provider" };
    const refused = await post(`${url}/v1/messages`, "{}", key);
    expect([refused.status, await refused.json()]).toEqual([401, SHAPES.anthropic]);
    expect(got).toEqual([]);
    expect(
      (await post(`${url}/v1/messages`, "{}", { ...key, "x-spillway-token": "write-token-0123456789" })).status,
    ).toBe(200);
    expect(got.join()).toContain("sk-provider");
    expect(got.join()).not.toContain("write-token");
  });

  it("pages of other sites and other names are refused here too", async () => {
    const { url } = await gateway("http://127.0.0.1:9");
    expect((await post(`${url}/v1/messages`, "{}", { origin: "https://evil.example" })).status).toBe(403);
    expect(
      await raw(
        url,
        "POST /v1/messages HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
      ),
    ).toMatch(/^HTTP\/1.1 421/);
  });
});

describe("faults", () => {
  const hello = '{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true}';

  it("a stream that breaks off there breaks off here: nobody takes it for whole", async () => {
    let breakOff = () => {};
    const to = await upstream((request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"type":"content_block_delta"}\n\n');
      breakOff = () => request.socket.resetAndDestroy();
    });
    const { url } = await gateway(to);
    const response = await post(`${url}/v1/messages`, hello);
    expect(response.status).toBe(200);
    breakOff();
    await expect(response.text()).rejects.toThrow("terminated");
  });

  it.each([
    ["garbage", "this is no HTTP\r\n\r\n"],
    ["nothing", ""],
    ["half a head", "HTTP/1.1 200 OK\r\nContent-Le"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
  ])("a provider that answers with %s is told as unreachable", async (_name, bytes) => {
    const sockets = new Set<Socket>();
    const tcp = createTcpServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.once("data", () => socket.end(bytes));
    });
    await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve));
    stops.push(() => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => tcp.close(resolve));
    });
    const { url } = await gateway(`http://127.0.0.1:${(tcp.address() as AddressInfo).port}`);
    const response = await post(`${url}/v1/messages`, hello);
    expect([response.status, await response.json()]).toEqual([502, SHAPES.anthropic]);
  });

  it("a client that sends its head or its body for ever is let go", async () => {
    const spied = [
      vi.spyOn(SERVE_NUMBERS.serveHeadersMs, "default", "get").mockReturnValue(300 as never),
      vi.spyOn(SERVE_NUMBERS.serveRequestMs, "default", "get").mockReturnValue(600 as never),
    ];
    const { url } = await gateway("http://127.0.0.1:9");
    for (const spy of spied) spy.mockRestore();
    const slow = (head: string) =>
      new Promise<string>((resolve) => {
        const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.write(head));
        const drip = setInterval(() => socket.write("x"), 50);
        let got = "";
        socket.on("data", (chunk) => (got += chunk));
        socket.on("error", () => {});
        socket.on("close", () => {
          clearInterval(drip);
          resolve(got);
        });
      });
    expect(await slow("POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nx: ")).toMatch(/^HTTP\/1.1 408/);
    const head = "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n";
    expect(await slow(head)).toMatch(/^HTTP\/1.1 408/);
  });

  it("a provider that hangs is told as late", async () => {
    const spied = vi.spyOn(SERVE_NUMBERS.gatewaySilentMs, "default", "get").mockReturnValue(300 as never);
    const to = await upstream(() => {});
    const { url } = await gateway(to);
    spied.mockRestore();
    const response = await post(`${url}/v1/messages`, hello);
    expect([response.status, await response.json()]).toEqual([504, SHAPES.anthropic]);
  });

  it("a stream that falls silent for too long breaks off", async () => {
    const spied = vi.spyOn(SERVE_NUMBERS.gatewaySilentMs, "default", "get").mockReturnValue(300 as never);
    const to = await upstream((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('event: content_block_delta\ndata: {"type":"content_block_delta"}\n\n');
    });
    const { url } = await gateway(to);
    spied.mockRestore();
    const response = await post(`${url}/v1/messages`, hello);
    await expect(response.text()).rejects.toThrow("terminated");
  });

  it("without store and ledger requests pass all the same, within their limits", async () => {
    const bodies: string[] = [];
    const to = await upstream(async (request, response) => {
      bodies.push(String(await bodyOf(request)));
      response.writeHead(200, JSON_TYPE).end("{}");
    });
    const down = async () => Promise.reject(new Error("gone"));
    const store = { ...memoryStore(), begin: down };
    const ledger = { ...memoryLedger(), record: down, projection: down, saveProjection: down };
    const { url } = await gateway(to, { spillway: { store, ledger } });
    const { path, body } = asked("anthropic", conversation(3, 90_000));
    expect((await post(url + path, body)).status).toBe(200);
    expect(bodies[0]?.length).toBeLessThan(body.length / 2);
    expect(bodies[0]).toContain("was not saved");
  });

  it("a store that is full costs no answer, and the events say what was not saved", async () => {
    const to = await upstream(async (request, response) => {
      await bodyOf(request);
      response.writeHead(200, JSON_TYPE).end("{}");
    });
    const full = async () => Promise.reject(new Error("ENOSPC: no space left on device, write"));
    const { url, spillway } = await gateway(to, { spillway: { store: { ...memoryStore(), begin: full } } });
    const { path, body } = asked("anthropic", conversation(1, 90_000));
    expect((await post(url + path, body)).status).toBe(200);
    const receipts = ((await spillway.ledger?.events({})) ?? []).flatMap(({ receipt }) => receipt ?? []);
    expect(receipts.map(({ saved }) => saved)).toContain("no");
    expect(receipts.flatMap(({ faults = [] }) => faults).join()).toContain("ENOSPC");
  });

  it("requests do not wait for the ledger; what it refuses is told once, and it has the events in the end", async () => {
    const bodies: string[] = [];
    const to = await upstream(async (request, response) => {
      bodies.push(String(await bodyOf(request)));
      response.writeHead(200, JSON_TYPE).end("{}");
    });
    const told: string[] = [];
    const logger = { info() {}, warn: (said: string, fields: object) => void ("fault" in fields && told.push(said)) };
    const { path, body } = asked("anthropic", conversation(3, 90_000));
    const ledger = memoryLedger();
    const held: (() => void)[] = [];
    const slow = (event: Parameters<typeof ledger.record>[0]) =>
      new Promise<void>((resolve) => held.push(resolve)).then(() => ledger.record(event));
    const { url } = await gateway(to, { spillway: { ledger: { ...ledger, record: slow }, logger } });
    expect((await post(url + path, body)).status).toBe(200);
    expect(bodies[0]?.length).toBeLessThan(body.length / 2);
    expect(await ledger.events()).toEqual([]);
    await vi.waitFor(async () => {
      for (const goOn of held.splice(0)) goOn();
      const clamped = (await ledger.events()).filter(({ kind }) => kind === "output-clamped");
      expect(clamped.map(({ receipt }) => receipt?.saved)).toEqual(["yes", "yes", "yes"]);
    }, 120_000);
    expect(told).toEqual([]);
    const refuses = { ...ledger, record: async () => Promise.reject(new Error("disk full")) };
    const other = await gateway(to, { spillway: { ledger: refuses, logger } });
    for (const _ of [1, 2]) expect((await post(other.url + path, body)).status).toBe(200);
    await vi.waitFor(() => expect(told).toEqual(["not recorded: disk full"]), 120_000);
  });

  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ] as const)("an answer that a provider compresses by %s all the same is read", async (encoding, compress) => {
    const refusal = { type: "invalid_request_error", message: "prompt is too long: 30000 tokens > 20000 maximum" };
    const events = `event: message_start\ndata: ${JSON.stringify({ type: "message_start", message: { usage: {} } })}\n\n`;
    const sent: number[] = [];
    let isBroken = false;
    const to = await upstream(async (request, response) => {
      const { length } = await bodyOf(request);
      sent.push(length);
      const isRefused = length > 40_000;
      const type = isRefused ? "application/json" : "text/event-stream";
      const whole = compress(isRefused ? JSON.stringify({ type: "error", error: refusal }) : events);
      const bytes = isBroken ? whole.subarray(0, -9) : whole;
      const head = {
        "content-type": type,
        "Content-Encoding": encoding,
        "x-other": "kept",
        "content-length": bytes.length,
      };
      response.writeHead(isRefused ? 400 : 200, head).end(bytes);
    });
    const { url } = await gateway(to, { gateway: gatewayTo(to, { addRecallTool: true }) });
    const tools = [{ name: "bash", input_schema: { type: "object" } }];
    const { path, body } = asked("anthropic", conversation(8, 7000), { stream: true, tools });
    const response = await post(url + path, body);
    expect(await response.text()).toBe(events);
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(response.headers.get("x-other")).toBe("kept");
    expect(sent.length).toBeGreaterThan(1);
    isBroken = true;
    await expect(post(url + path, body).then((broken) => broken.text())).rejects.toThrow(/terminated|fetch failed/);
  });

  it.each(["application/json", "text/plain"])("no byte of a short answer of %s is changed", async (type) => {
    const sent = Buffer.from([...Array(256).keys(), ...Buffer.from("\u00e9\u20ac")]);
    const to = await upstream((_, response) => void response.writeHead(200, { "content-type": type }).end(sent));
    const { url } = await gateway(to);
    const { path, body } = asked("anthropic", conversation(1, 10));
    const response = await post(url + path, body);
    expect(Buffer.from(await response.arrayBuffer()).equals(sent)).toBe(true);
  });

  it.each([
    ["deep JSON", `{"messages":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
    [
      "deep JSON in a message",
      `{"messages":[{"role":"user","content":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}]}`,
    ],
    ["broken JSON", '{"messages":[{"role":'],
    ["no messages", '{"messages":7}'],
    [
      "a name that no object should have",
      '{"__proto__":{"messages":[]},"messages":[{"role":"user","content":"x","__proto__":1}]}',
    ],
    [
      "very many messages",
      `{"messages":[${Array.from({ length: 50_000 }, () => '{"role":"user","content":"x"}').join()}]}`,
    ],
    ["bytes that are no UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ])("%s passes to the byte, for the provider to judge", async (_name, body) => {
    let got = "";
    const to = await upstream(async (request, response) => {
      got = (await bodyOf(request)).toString("latin1");
      response.writeHead(400, JSON_TYPE).end('{"error":{"message":"no"}}');
    });
    const { url } = await gateway(to);
    expect((await post(`${url}/v1/messages`, body)).status).toBe(400);
    expect(got === Buffer.from(body).toString("latin1")).toBe(true);
  });
});

/** Sends bytes as they are, and gives all that comes back. */
function raw(url: string, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.write(bytes));
    let got = "";
    socket.on("data", (chunk) => (got += chunk));
    socket.on("end", () => resolve(got));
    socket.on("error", reject);
    socket.setTimeout(120_000, () => socket.destroy(new Error(`no answer; so far: ${got}`)));
  });
}

describe("a list that Gemini streams", () => {
  const path = "/v1beta/models/fake:streamGenerateContent";
  const said = (text: string) => JSON.stringify({ candidates: [{ content: { role: "model", parts: [{ text }] } }] });

  it("reaches the client with its first output", async () => {
    let goOn = () => {};
    const url = await upstream((_request, response) => {
      response.writeHead(200, JSON_TYPE).write(`[${said("one")}`);
      goOn = () => response.end(`,\r\n${said("two")}]`);
    });
    const { body } = asked("gemini", conversation(1, 10));
    const response = await post((await gateway(url)).url + path, body);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    // The provider goes on only when the client has this.
    expect(String(Buffer.from((await reader.read()).value ?? []))).toBe(`[${said("one")}`);
    goOn();
    expect(String(Buffer.from((await reader.read()).value ?? []))).toContain("two");
    await reader.cancel();
  });

  it("is recovered if it begins with a refusal for size, and other errors pass", async () => {
    const message = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
    const sent: number[] = [];
    const errors = [
      { code: 400, message, status: "INVALID_ARGUMENT" },
      { code: 503, message: "The model is overloaded." },
    ];
    for (const [at, error] of errors.entries()) {
      const url = await upstream(async (request, response) => {
        const { length } = await bodyOf(request);
        sent.push(length);
        const isRefused = length > 30_000;
        response.writeHead(200, JSON_TYPE).end(isRefused ? `[${JSON.stringify({ error })}\n]` : `[${said("well")}]`);
      });
      const { body } = asked("gemini", conversation(8, 7000));
      const text = await (await post((await gateway(url)).url + path, body)).text();
      expect(text).toBe(at === 0 ? `[${said("well")}]` : `[${JSON.stringify({ error })}\n]`);
    }
    expect(sent.length).toBeGreaterThan(2);
    expect(sent.at(-1)).toBeGreaterThan(30_000);
  });
});
