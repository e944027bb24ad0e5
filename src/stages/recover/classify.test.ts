import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NUMBERS } from "../policy/defaults.ts";
import { classify } from "./classify.ts";
import { classifyResponse } from "./peek-response.ts";

const TOO_LONG = "prompt is too long: 205668 tokens > 200000 maximum";

describe("classify", () => {
  it.each([" ", "\n", "[ ", "\t[", "{ "])("reads a megabyte of %j in a few passes", (piece) => {
    // With a pass for every blank this would take hours.
    const text = piece.repeat(1_000_000 / piece.length);
    expect(classify(text).kind).toBe("other");
    expect(classify({ status: 400, body: `${text}x`, message: `${text}${TOO_LONG}` }).kind).toBe("other");
  });

  it("never throws, whatever it is given", () => {
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error("no");
        },
        ownKeys: () => {
          throw new Error("no");
        },
      },
    );
    const cycle: Record<string, unknown> = { message: "x" };
    cycle.cause = cycle;
    for (const subject of [null, undefined, 0, "", Symbol("x"), () => 1, hostile, cycle, [[[]]], { error: hostile }]) {
      expect(classify(subject).kind).toBe("other");
    }
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (subject) => {
        expect(typeof classify(subject).kind).toBe("string");
      }),
    );
  });

  it("looks through wrappers as far as they go in life, and no further", () => {
    const wrap = (depth: number): Error =>
      depth === 0 ? new Error(TOO_LONG) : new Error("outer", { cause: wrap(depth - 1) });
    expect(classify(wrap(5)).kind).toBe("context-overflow");
    expect(classify(wrap(50)).kind).toBe("other");
  });

  it("reads all that failed side by side, and not without end", () => {
    const failed = new Error("fetch failed");
    expect(classify(new AggregateError([new Error(TOO_LONG), failed])).kind).toBe("context-overflow");
    expect(classify(new AggregateError([failed, new Error(TOO_LONG)])).kind).toBe("context-overflow");
    expect(
      classify(
        new AggregateError([new Error(TOO_LONG), ...Array.from({ length: 50 }, () => new Error("fetch failed"))]),
      ).kind,
    ).toBe("other");
  });

  it("a request as large as an account's limit may pass later; one token more never does", () => {
    const asked = (tokens: number) =>
      classify(new Error(`Request too large for gpt-x on tokens per min (TPM): Limit 12000, Requested ${tokens}.`))
        .kind;
    expect([11_999, 12_000, 12_001].map(asked)).toEqual(["rate-limit", "rate-limit", "request-ceiling"]);
  });

  it("takes no number from a refusal that cannot be one", () => {
    const refused = (limit: number, observed: number, tools: number) =>
      classify({
        code: "context_length_exceeded",
        message: `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${observed} tokens (1 in the messages, ${tools} in the functions).`,
      });
    expect(refused(100, 200, 199)).toMatchObject({ limitTokens: 100, observedTokens: 200, toolTokens: 199 });
    expect(refused(100, 200, 200)).not.toHaveProperty("toolTokens");
    expect(refused(0, 200, 1)).not.toHaveProperty("limitTokens");
    expect(refused(100, 0, 1)).not.toHaveProperty("observedTokens");
  });

  it("reads an error's metadata and no answer's", () => {
    const metadata = { message: TOO_LONG, code: "context_length_exceeded", raw: TOO_LONG };
    const answer = { object: "response", status: "completed", error: null, output: [], metadata };
    expect(classify(answer).kind).toBe("other");
    expect(classify({ status: 200, body: JSON.stringify(answer) }).kind).toBe("other");
    expect(classify({ error: { code: 400, message: "Provider returned error", metadata } }).kind).toBe(
      "context-overflow",
    );
  });

  it("reads no content: whatever a message, a request or an answer holds is not evidence", () => {
    const holders = [
      (text: string) => ({ role: "user", content: text }),
      (text: string) => ({ choices: [{ message: { role: "assistant", content: text }, finish_reason: "stop" }] }),
      (text: string) => ({ content: [{ type: "text", text }], stop_reason: "end_turn" }),
      (text: string) => ({ candidates: [{ content: { parts: [{ text }] }, finishReason: "STOP" }] }),
      (text: string) => ({ type: "response.output_text.delta", delta: text }),
      (text: string) => ({ model: "llama", response: text, done: true }),
      (text: string) => ({ role: "user", message: text }),
      (text: string) => ({
        output: [{ type: "message", content: [{ type: "output_text", text }] }],
        status: "completed",
      }),
      (text: string) =>
        Object.assign(new Error("Connection error."), {
          request: { body: text },
          requestBodyValues: { text },
          config: { data: text },
        }),
    ];
    const quotes = [
      TOO_LONG,
      "context_length_exceeded",
      "413 Request Entity Too Large",
      "上下文过长",
      JSON.stringify({ error: { message: TOO_LONG } }),
    ];
    for (const hold of holders) {
      for (const quote of quotes) expect(classify(hold(quote)), quote).toMatchObject({ kind: "other", rule: null });
    }
  });

  it("reads a stretch of a stream by its events, and never as text", () => {
    const said = `data: ${JSON.stringify({ choices: [{ delta: { content: TOO_LONG } }] })}\n\n`;
    const failed = `event: error\ndata: ${JSON.stringify({ error: { message: TOO_LONG } })}\n\n`;
    expect(classify(said).kind).toBe("other");
    expect(classify(said + said).kind).toBe("other");
    expect(classify(`${said}data: {"choices":[{"delta":{"content":"${TOO_LONG}`).kind).toBe("other");
    expect(classify({ status: 200, body: said + said }).kind).toBe("other");
    expect(classify(`{"choices":[{"message":{"content":"${TOO_LONG}`).kind).toBe("other");
    expect(classify({ status: 400, body: `{"error":{"message":"${TOO_LONG}` }).kind).toBe("context-overflow");
    expect(classify(said + failed).kind).toBe("context-overflow");
  });

  it("says what decided, in few words", () => {
    expect(classify(new Error(`400 ${TOO_LONG}`)).evidence).toBe(TOO_LONG);
    expect(classify({ status: 413 }).evidence).toBe("HTTP 413");
    expect(classify(new Error("x".repeat(100_000))).evidence.length).toBeLessThanOrEqual(300);
  });

  it("knows the provider by its address, the caller's word first", () => {
    const error = { status: 400, message: TOO_LONG };
    expect(classify(error, { url: "https://api.githubcopilot.com/chat/completions" }).provider).toBe("copilot");
    expect(classify({ ...error, url: "https://api.githubcopilot.com/v1" }).provider).toBe("copilot");
    expect(classify(error, { url: "https://evil-githubcopilot.com/" }).provider).toBe("anthropic");
    expect(classify(error, { url: "not an address" }).provider).toBe("anthropic");
    expect(classify(error, { url: "https://api.githubcopilot.com/", provider: "mine" }).provider).toBe("mine");
  });
});

describe("the tools' share of a refused request", () => {
  const refused = (tools: number) =>
    classify({
      status: 400,
      error: {
        code: "context_length_exceeded",
        message: `This model's maximum context length is 6000 tokens. However, your messages resulted in 9000 tokens (8000 in the messages, ${tools} in the functions).`,
      },
    });

  it("is told where it is a part, and not where it is all of it or more", () => {
    expect(refused(1000)).toMatchObject({ observedTokens: 9000, limitTokens: 6000, toolTokens: 1000 });
    for (const tools of [9000, 27_000]) expect(refused(tools)).not.toHaveProperty("toolTokens");
  });

  it("is a share of what was sent, without what is kept for the answer", () => {
    const withAnswer = (tools: number) =>
      classify({
        status: 400,
        error: {
          code: 400,
          message: `This endpoint's maximum context length is 6000 tokens. However, you requested about 9000 tokens (500 of text input, ${tools} of tool input, 1000 in the output). Please reduce the length of either one.`,
        },
      });
    expect(withAnswer(7500)).toMatchObject({ observedTokens: 9000, outputTokens: 1000, toolTokens: 7500 });
    for (const tools of [8000, 8500]) expect(withAnswer(tools)).not.toHaveProperty("toolTokens");
  });
});

describe("an overflow nobody reported", () => {
  const window = 100_000;
  const usage = (input_tokens: number, output_tokens: number, stop_reason: string) => ({
    usage: { input_tokens, output_tokens },
    stop_reason,
  });

  it("is usage over the window, and not usage of all of it", () => {
    expect(classify(usage(window + 1, 5, "end_turn"), { window })).toMatchObject({
      rule: "usage-over-window",
      observedTokens: window + 1,
      limitTokens: window,
    });
    expect(classify(usage(window, 5, "end_turn"), { window }).kind).toBe("other");
    expect(classify(usage(window + 1, 5, "end_turn")).kind).toBe("other");
  });

  it("is an empty answer with the window full, from fullWindowShare on", () => {
    const full = NUMBERS.fullWindowShare.default * window;
    expect(classify(usage(full, 0, "max_tokens"), { window }).rule).toBe("empty-at-full-window");
    expect(classify(usage(full - 1, 0, "max_tokens"), { window }).rule).toBe("answer-cut-off");
    expect(classify(usage(full, 1, "max_tokens"), { window }).rule).toBe("answer-cut-off");
    expect(classify(usage(full, 0, "end_turn"), { window }).kind).toBe("other");
  });

  it("is a provider that read less than truncatedShare of what was sent", () => {
    const sent = 10_000;
    const least = NUMBERS.truncatedShare.default * sent;
    expect(classify(usage(least - 1, 5, "end_turn"), { estimatedTokens: sent })).toMatchObject({
      rule: "truncated-by-server",
      observedTokens: sent,
      limitTokens: least - 1,
    });
    expect(classify(usage(least, 5, "end_turn"), { estimatedTokens: sent }).kind).toBe("other");
    expect(classify(usage(0, 5, "end_turn"), { estimatedTokens: sent }).kind).toBe("other");
    // No model has so small a window: such a usage does not count the request.
    expect(classify(usage(5, 5, "end_turn"), { estimatedTokens: 71 }).kind).toBe("other");
    expect(classify(usage(511, 5, "end_turn"), { estimatedTokens: sent }).kind).toBe("other");
    expect(classify(usage(512, 5, "end_turn"), { estimatedTokens: sent }).rule).toBe("truncated-by-server");
  });

  it.each([
    { input_tokens: 1, cache_read_input_tokens: 100_000 },
    { prompt_tokens: 100_001 },
    { promptTokenCount: 100_001 },
    { inputTokens: 100_001 },
    { inputTokens: { total: 100_001, noCache: 5 } },
    { input: 1, cacheRead: 100_000, output: 3 },
    { prompt_eval_count: 100_001 },
  ])("is read in every form of usage: %o", (form) => {
    expect(classify(form, { window }).rule).toBe("usage-over-window");
    expect(classify({ usage: form }, { window }).rule).toBe("usage-over-window");
  });
});

describe("a refusal without a word", () => {
  const window = 100_000;
  const near = NUMBERS.nearLimitShare.default * window;
  const said = (estimatedTokens?: number, status = 400) => {
    const context = { window, ...(estimatedTokens !== undefined && { estimatedTokens }) };
    return [
      Object.assign(new Error(`${status} status code (no body)`), { status, error: undefined }),
      { status, body: "" },
    ].map((subject) => classify(subject, context));
  };

  it("is a hint where the request is near the window", () => {
    for (const verdict of said(near))
      expect(verdict).toMatchObject({ kind: "context-overflow", rule: "bodiless-near-window", isHint: true });
  });

  it("is none where the request is far below it, was not counted, or nobody knows the window", () => {
    for (const verdict of [...said(near - 1), ...said()]) expect(verdict.kind).toBe("other");
    expect(classify({ status: 400, body: "" }, { estimatedTokens: 1e9 }).kind).toBe("other");
  });

  it("is none with another status, or with words", () => {
    for (const verdict of [...said(near, 401), ...said(near, 500)]) expect(verdict.kind).toBe("other");
    expect(classify({ status: 400, body: "bad request" }, { window, estimatedTokens: near }).kind).toBe("other");
  });
});

describe("words that stand for a limit without naming it", () => {
  const refused = { status: 429, body: { error: { message: "Extra usage is required for long context requests." } } };

  it("mean that limit, unless the request is far below it", () => {
    expect(classify(refused)).toMatchObject({ kind: "context-overflow", limitTokens: 200_000 });
    expect(classify(refused, { estimatedTokens: 210_000 })).toMatchObject({ limitTokens: 200_000 });
    expect(classify(refused, { estimatedTokens: 23_000 }).kind).toBe("rate-limit");
  });
});

describe("a cache's share of the input", () => {
  const asked = { window: 40_000, estimatedTokens: 31_000 };

  it.each([
    { inputTokens: 12, cachedInputTokens: 31_000 },
    { inputTokens: 4000, cachedInputTokens: 27_000 },
    { inputTokens: 14_000, cachedInputTokens: 12_000 },
    { inputTokens: 31_000, cachedInputTokens: 27_000 },
    { inputTokens: 4000, cacheReadInputTokens: 27_000 },
    { prompt_tokens: 31_000, cache_read_input_tokens: 27_000, cache_creation_input_tokens: 4000 },
    { input_tokens: 4000, cache_read_input_tokens: 27_000 },
    { promptTokenCount: 31_000, cachedContentTokenCount: 27_000 },
  ])("neither makes it too large nor too small: %o", (usage) => {
    expect(classify({ usage }, asked).kind).toBe("other");
  });

  it("is added where it was surely left out", () => {
    const usage = { inputTokens: 12, cachedInputTokens: 41_000 };
    expect(classify({ usage }, asked)).toMatchObject({ rule: "usage-over-window", observedTokens: 41_012 });
  });
});

describe("classifyResponse", () => {
  it("leaves the body to the caller, and a stream alone", async () => {
    const stream = new Response(`data: {"error":{"message":"${TOO_LONG}"}}\n\n`, {
      headers: { "content-type": "text/event-stream" },
    });
    expect((await classifyResponse(stream)).kind).toBe("other");
    expect(await stream.text()).toContain(TOO_LONG);
  });

  it("reads an answer's usage", async () => {
    const body = JSON.stringify({ usage: { prompt_tokens: 300 }, choices: [{ message: { content: TOO_LONG } }] });
    const answer = new Response(body, { headers: { "content-type": "application/json" } });
    expect((await classifyResponse(answer, { window: 200 })).rule).toBe("usage-over-window");
  });

  it("does with what it can get: a body that was read, one that breaks, one without end", async () => {
    const read = new Response(TOO_LONG, { status: 413 });
    await read.text();
    expect((await classifyResponse(read)).rule).toBe("bare-413");
    let pulls = 0;
    const broken = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (pulls++ > 0) controller.error(new Error("reset"));
          else controller.enqueue(new TextEncoder().encode(TOO_LONG));
        },
      },
      { highWaterMark: 0 },
    );
    expect((await classifyResponse(new Response(broken, { status: 400 }))).kind).toBe("context-overflow");
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(97)),
    });
    expect((await classifyResponse(new Response(endless, { status: 413 }))).rule).toBe("bare-413");
    expect((await classifyResponse(new Response(null, { status: 429 }))).kind).toBe("rate-limit");
  });
});
