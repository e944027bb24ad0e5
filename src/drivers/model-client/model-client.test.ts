import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { ModelSource, ModelSpend } from "../../contract/model-client.ts";
import { SpendingCapError } from "../../errors.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { startFakeProvider } from "../../testing/fake-provider/start-fake-provider.ts";
import { modelClient } from "./model-client.ts";
import { addressOf, SPEECHES } from "./speeches.ts";

const PROMPT = { system: "Be brief.", user: "A long text.", maxTokens: 100 };
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Starts a server that answers as `handle` says. */
async function serve(
  handle: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<string> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => handle(request, response, body));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  stops.push(() => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const json = (response: ServerResponse, value: unknown, status = 200) => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
};

const answer = (text: string, finish = "stop") => ({
  choices: [{ finish_reason: finish, message: { role: "assistant", content: text } }],
});

const open = (endpoint: string, more: Partial<Extract<ModelSource, { endpoint: string }>> = {}) =>
  modelClient({ endpoint, model: "small", speaks: "openai", ...more });

describe("an endpoint", () => {
  it.each([
    ["openai", "openai-chat", "/v1", "authorization", "Bearer k1"],
    ["anthropic", "anthropic", "", "x-api-key", "k1"],
  ] as const)("speaks %s", async (speaks, as, path, header, value) => {
    const provider = await startFakeProvider({ speaks: as, script: ["In short."] });
    stops.push(() => provider.stop());
    const client = open(`${provider.url}${path}`, { speaks, key: "k1" });
    expect(await client.ask(PROMPT)).toBe("In short.");
    const [request] = provider.requests;
    expect(request).toMatchObject({ status: 200, body: { model: "small", max_tokens: 100 } });
    expect(request?.headers[header]).toBe(value);
    expect(JSON.stringify(request?.body)).toContain("Be brief.");
  });

  it("speaks ollama", async () => {
    const bodies: unknown[] = [];
    const url = await serve((request, response, body) => {
      bodies.push(request.url, JSON.parse(body));
      json(response, { message: { role: "assistant", content: "In short." }, done: true, done_reason: "stop" });
    });
    expect(await open(url, { speaks: "ollama" }).ask(PROMPT)).toBe("In short.");
    expect(bodies).toMatchObject(["/api/chat", { model: "small", stream: false, options: { num_predict: 100 } }]);
  });

  it("is found by its base, by part of the path and by the whole of it", () => {
    const at = (speaks: keyof typeof SPEECHES, endpoint: string) => addressOf(new URL(endpoint), SPEECHES[speaks]).href;
    expect(at("openai", "http://h/v1")).toBe("http://h/v1/chat/completions");
    expect(at("openai", "http://h/v1/chat/completions")).toBe("http://h/v1/chat/completions");
    expect(at("openai", "http://h/v1/?api-version=2")).toBe("http://h/v1/chat/completions?api-version=2");
    expect(at("anthropic", "https://h")).toBe("https://h/v1/messages");
    expect(at("anthropic", "https://h/v1/")).toBe("https://h/v1/messages");
    expect(at("anthropic", "https://h/v1/messages")).toBe("https://h/v1/messages");
    expect(at("ollama", "http://h:11434")).toBe("http://h:11434/api/chat");
    expect(at("ollama", "http://h:11434/api")).toBe("http://h:11434/api/chat");
  });

  it("is asked again where it wants the limit by its newer name, and only then", async () => {
    const bodies: Record<string, unknown>[] = [];
    const url = await serve((_request, response, body) => {
      bodies.push(JSON.parse(body));
      if ("max_tokens" in (bodies.at(-1) as object))
        json(response, { error: { message: "Use 'max_completion_tokens' instead of 'max_tokens'." } }, 400);
      else json(response, answer("ok"));
    });
    expect(await open(url).ask(PROMPT)).toBe("ok");
    expect(bodies.map(({ max_tokens, max_completion_tokens }) => [max_tokens, max_completion_tokens])).toEqual([
      [100, undefined],
      [undefined, 100],
    ]);
  });

  it.each([
    [
      "a status that is an error",
      (response: ServerResponse) => json(response, { error: "no k1 here" }, 429),
      /^429 .*no \[key\] here/,
    ],
    ["an answer that is not JSON", (response: ServerResponse) => void response.end("<html>"), /not JSON/],
    ["an answer without text", (response: ServerResponse) => json(response, { choices: [] }), /no text/],
    ["an answer cut off", (response: ServerResponse) => json(response, answer("half of", "length")), /cut off/],
    ["a filtered answer", (response: ServerResponse) => json(response, answer("", "content_filter")), /refused/],
    [
      "a redirect",
      (response: ServerResponse) => void response.writeHead(307, { location: "http://127.0.0.1:9/" }).end(),
      /redirect/,
    ],
    ["a broken connection", (response: ServerResponse) => void response.destroy(), /fetch failed: /],
    ["an answer without end", (response: ServerResponse) => void response.end("x".repeat(200_000)), /over 68736 bytes/],
  ])("%s is an error that says so", async (_name, handle, message) => {
    const url = await serve((_request, response) => handle(response));
    await expect(open(url, { key: "k1" }).ask(PROMPT)).rejects.toThrow(message);
  });

  it("is not waited for beyond its time, nor after an abort", async () => {
    const silent = await serve(() => {});
    await expect(open(silent, { timeoutMs: 50 }).ask(PROMPT)).rejects.toThrow("no answer in 50 ms");
    const stop = new AbortController();
    let asked = 0;
    const url = await serve(() => {
      asked++;
      stop.abort(new Error("enough"));
    });
    await expect(open(url).ask({ ...PROMPT, signal: stop.signal })).rejects.toThrow("enough");
    await expect(open(url).ask({ ...PROMPT, signal: stop.signal })).rejects.toThrow("enough");
    expect(asked).toBe(1);
  });
});

describe("a function", () => {
  it("is asked with the same bounds, and named", async () => {
    const asked: number[] = [];
    const client = modelClient({
      model: "my [model]\n",
      ask: ({ maxTokens }) => `${asked.push(maxTokens)}`,
      maxAnswerTokens: 64,
    });
    expect(client).toMatchObject({
      model: "my__model__",
      maxAnswerTokens: 64,
      maxConcurrent: NUMBERS.modelConcurrent.default,
    });
    expect(await client.ask(PROMPT)).toBe("1");
    expect(asked).toEqual([64]);
    expect(await modelClient(async () => "half \ud83d").ask(PROMPT)).toBe("half \ufffd");
    await expect(modelClient((() => 7) as never).ask(PROMPT)).rejects.toThrow("no text");
    await expect(
      modelClient({ model: "m", ask: () => new Promise(() => {}), timeoutMs: 20 }).ask(PROMPT),
    ).rejects.toThrow("no answer in 20 ms");
  });
});

describe("caps", () => {
  it("calls at once", async () => {
    let [running, most] = [0, 0];
    const client = modelClient({
      model: "m",
      maxConcurrent: 2,
      async ask() {
        most = Math.max(most, ++running);
        await new Promise((done) => setTimeout(done, 5));
        running--;
        return "x";
      },
    });
    await Promise.all(Array.from({ length: 7 }, () => client.ask(PROMPT)));
    expect(most).toBe(2);
  });

  it("calls and characters in an hour, and again in the next", async () => {
    let nowMs = 0;
    const chars = PROMPT.system.length + PROMPT.user.length;
    const ask = () => "x".repeat(10);
    const calls = modelClient({ model: "m", ask, maxCallsPerHour: 2 }, () => nowMs);
    await calls.ask(PROMPT);
    await calls.ask(PROMPT);
    await expect(calls.ask(PROMPT)).rejects.toThrow(new SpendingCapError("the cap of 2 calls an hour is reached"));
    nowMs = 3_600_000;
    await expect(calls.ask(PROMPT)).resolves.toBe("xxxxxxxxxx");
    const size = modelClient({ model: "m", ask, maxCharsPerHour: 2 * chars + 9 }, () => nowMs);
    await size.ask(PROMPT);
    await expect(size.ask(PROMPT)).rejects.toThrow(SpendingCapError);
    expect(NUMBERS.modelCallsPerHour.default * 20_000).toBe(NUMBERS.modelCharsPerHour.default);
  });
});

describe("what a call took", () => {
  const prices = { inputPrice: 2, outputPrice: 10 };
  const spentBy = async (client: ReturnType<typeof modelClient>) => {
    const spent: ModelSpend[] = [];
    await client.ask({ ...PROMPT, spent: (one) => spent.push(one) }).catch(() => {});
    return spent;
  };

  it.each([
    ["openai", { ...answer("Short."), usage: { prompt_tokens: 1000, completion_tokens: 100 } }],
    ["openai", { ...answer("Half", "length"), usage: { prompt_tokens: 1000, completion_tokens: 100 } }],
    [
      "anthropic",
      {
        content: [{ type: "text", text: "Short." }],
        stop_reason: "end_turn",
        usage: {
          input_tokens: 200,
          cache_read_input_tokens: 700,
          cache_creation_input_tokens: 100,
          output_tokens: 100,
        },
      },
    ],
    ["ollama", { message: { content: "Short." }, done: true, prompt_eval_count: 1000, eval_count: 100 }],
  ] as const)("is what %s says, also of an answer that is of no use", async (speaks, body) => {
    const url = await serve((_request, response) => json(response, body));
    const spent = await spentBy(open(url, { speaks, ...prices }));
    expect(spent).toEqual([{ calls: 1, inputTokens: 1000, outputTokens: 100, isEstimate: false, dollars: 0.003 }]);
  });

  it("is an estimate where nobody says it, and has no price unless both are stated", async () => {
    const [guessed] = await spentBy(modelClient({ model: "m", ask: () => "x".repeat(40), ...prices }));
    expect(guessed).toMatchObject({ inputTokens: 6, outputTokens: 10, isEstimate: true, dollars: 112 / 1_000_000 });
    const said = { text: "x", inputTokens: 7, outputTokens: 3 };
    expect(await spentBy(modelClient({ model: "m", ask: () => said, inputPrice: 1 }))).toEqual([
      { calls: 1, inputTokens: 7, outputTokens: 3, isEstimate: false, dollars: null },
    ]);
  });

  it("is what it may have taken for an answer that is too long to be read", async () => {
    const url = await serve((_request, response) => void response.end("x".repeat(200_000)));
    const spent = await spentBy(open(url, prices));
    expect(spent).toMatchObject([{ calls: 1, inputTokens: 6, outputTokens: PROMPT.maxTokens, isEstimate: true }]);
  });

  it("is nothing for a call that was refused or not made", async () => {
    const url = await serve((_request, response) => json(response, {}, 500));
    expect(await spentBy(open(url))).toEqual([]);
    expect(await spentBy(modelClient({ model: "m", ask: () => "x", maxCallsPerHour: 0 }))).toEqual([]);
  });
});

it("what is wrong is told where it is set up", () => {
  const wrong = (source: unknown) => () => modelClient(source as ModelSource);
  expect(wrong({ endpoint: "file:///etc/passwd", model: "m", speaks: "openai" })).toThrow(
    /endpoint must be an address/,
  );
  expect(wrong({ endpoint: "http://h", model: " ", speaks: "openai" })).toThrow(/model must be a name/);
  expect(wrong({ endpoint: "http://h", model: "m", speaks: "soap" })).toThrow(/speaks must be/);
  expect(wrong({ endpoint: "http://h", model: "m", speaks: "openai", key: "a\nb" })).toThrow(/key must be/);
  expect(wrong({ endpoint: "http://h", model: "m", speaks: "openai", timeoutMs: 0 })).toThrow(/timeoutMs must be/);
  expect(wrong(null)).toThrow(/give \{ endpoint/);
  expect(wrong({ ask: 7, model: "m" })).toThrow(/ask must be a function/);
});
