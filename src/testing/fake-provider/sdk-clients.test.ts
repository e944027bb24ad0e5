import { afterEach, describe, expect, it } from "vitest";
import { clients } from "../../../test/sdk-clients.ts";
import { classify } from "../../stages/recover/classify.ts";
import type { FakeProvider, FakeProviderOptions } from "./fake-provider.ts";
import { startFakeProvider } from "./start-fake-provider.ts";

// Uses the real clients. The fake provider must understand what they send, they must understand what it answers, and
// what they throw must be classified.

const running: FakeProvider[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((provider) => provider.stop()));
});

async function start(options: FakeProviderOptions): Promise<FakeProvider> {
  const provider = await startFakeProvider(options);
  running.push(provider);
  return provider;
}

const LONG = "The quick brown fox jumps over the lazy dog. ".repeat(200);
const TOOL_REPLY = {
  text: "Let me look.",
  calls: [{ tool: "read_file", input: { path: "src/index.ts" }, id: "call_1" }],
};

describe.each(Object.keys(clients) as FakeProviderOptions["speaks"][])("%s through its own SDK", (speaks) => {
  const begin = async (options: Omit<FakeProviderOptions, "speaks"> = {}) => {
    const provider = await start({ speaks, ...options });
    return { provider, client: clients[speaks](provider.url) };
  };
  const thrown = async (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => "nothing was thrown",
      (error) => error,
    );

  it("answers with texts and calls, and counts the request", async () => {
    const { provider, client } = await begin({ script: [TOOL_REPLY, "Hello there, all is well with the world."] });
    const first = await client.ask("What is in it?");
    expect(first).toMatchObject({
      text: "Let me look.",
      calls: [{ tool: "read_file", input: { path: "src/index.ts" } }],
    });
    expect(first.inputTokens).toBe(provider.requests[0]?.inputTokens);
    expect(first.inputTokens).toBeGreaterThan(3);
    expect((await client.ask("And now?")).text).toBe("Hello there, all is well with the world.");
    expect((await client.ask("And then?")).text).toBe("Done.");
    expect(provider.requests.map(({ status, refused }) => `${status} ${refused}`)).toEqual([
      "200 null",
      "200 null",
      "200 null",
    ]);
  });

  it("streams the same", async () => {
    const { client } = await begin({ script: [TOOL_REPLY, "Hello there, all is well with the world."] });
    expect(await client.stream("What is in it?")).toEqual({
      text: "Let me look.",
      calls: [{ tool: "read_file", input: { path: "src/index.ts" } }],
    });
    expect((await client.stream("And now?")).text).toBe("Hello there, all is well with the world.");
  });

  it.each(["ask", "stream"] as const)(
    "%s: refuses what is over its window, and says so as the provider does",
    async (way) => {
      const { provider, client } = await begin({ window: 500, tokenFactor: 1.3 });
      const error = await thrown(client[way](LONG));
      const request = provider.requests[0];
      expect(request).toMatchObject({ refused: "window" });
      expect(request?.source).toMatch(/^https:/);
      const verdict = classify(error);
      expect(verdict.kind).toBe("context-overflow");
      if (speaks !== "openai-responses") {
        expect(verdict).toMatchObject({ limitTokens: 500 });
        const reserved = verdict.outputTokens ?? 0;
        expect(verdict.observedTokens).toBe((request?.inputTokens ?? 0) + reserved);
      }
      expect((await client.ask("short")).text).toBe("Done.");
    },
  );

  it("refuses what is over its bytes", async () => {
    const { provider, client } = await begin({ maxRequestBytes: 1000 });
    expect(classify(await thrown(client.ask(LONG))).kind).toBe("payload-too-large");
    expect(provider.requests[0]?.refused).toBe("bytes");
  });

  it("refuses what is over its tokens per minute: too fast, and too much at once", async () => {
    let time = 1_000_000;
    const { client, provider } = await begin({ tokensPerMinute: 900, now: () => time });
    const middling = LONG.slice(0, 2400);
    expect((await client.ask(middling)).text).toBe("Done.");
    expect(classify(await thrown(client.ask(middling)), { estimatedTokens: 600 }).kind).toBe("rate-limit");
    expect(classify(await thrown(client.ask(LONG)), { estimatedTokens: 2000 }).kind).toBe("request-ceiling");
    time += 60_001;
    expect((await client.ask(middling)).text).toBe("Done.");
    expect(provider.requests.map(({ refused }) => refused)).toEqual([
      null,
      "tokens-per-minute",
      "tokens-per-minute",
      null,
    ]);
  });

  it("refuses half a character", async () => {
    const { client, provider } = await begin();
    expect(await thrown(client.ask("smile \ud83d"))).toBeInstanceOf(Error);
    expect(provider.requests[0]).toMatchObject({ refused: "json", status: 400 });
    expect((await client.ask("smile \ud83d\ude00")).text).toBe("Done.");
  });

  it("overflows without a word where it is told to", async () => {
    const answering = await begin({ window: 500, onOverflow: "answer" });
    const { inputTokens } = await answering.client.ask(LONG);
    expect(classify({ usage: { input_tokens: inputTokens } }, { window: 500 }).rule).toBe("usage-over-window");
    const dropping = await begin({ window: 1500, onOverflow: "truncate" });
    const read = await dropping.client.ask(LONG);
    expect(classify({ usage: { input_tokens: read.inputTokens } }, { estimatedTokens: 4000 }).rule).toBe(
      "truncated-by-server",
    );
  });
});
