import fc from "fast-check";
import type { Compactor } from "../../src/extend.ts";
import type { CallOptions, SendContext, Spillway } from "../../src/index.ts";
import { countedTexts } from "../../src/testing/fake-provider/counted-texts.ts";
import type { FakeProvider, FakeRequest, Speaks, SpeaksAs } from "../../src/testing/fake-provider/fake-provider.ts";
import { loadTokenCount, startFakeProvider } from "../../src/testing/fake-provider/start-fake-provider.ts";
import { pairResults, wireNamed } from "../../src/wire/index.ts";
import { conversations, type Spoken, speeches } from "./conversation.ts";

/** One random case: who refuses, by what count, how small the window is, and what the caller says beside. */
export const cases = fc.record({
  conversation: conversations,
  speaks: fc.constantFrom<Speaks>("anthropic", "openai-chat", "openai-responses", "gemini"),
  as: fc.constantFrom<SpeaksAs | null>(
    null,
    "cerebras",
    "copilot",
    "deepseek",
    "groq",
    "kimi",
    "llamacpp",
    "openrouter",
    "vllm",
    "xai",
    "zai",
  ),
  tokenFactor: fc.double({ min: 0.85, max: 1.4, noNaN: true }),
  /** The window as a share of the whole request, by the provider's count. */
  windowShare: fc.double({ min: 0.02, max: 1.05, noNaN: true }),
  saysBeside: fc.boolean(),
  saysWindow: fc.boolean(),
  hasCompactor: fc.boolean(),
  limits: fc.constantFrom<"window" | "bytes" | "minute">("window", "window", "window", "bytes", "minute"),
  ladder: fc.constantFrom<"default" | "compact-first">("default", "default", "default", "compact-first"),
  /** Its first message was sent before, and answered: what one call learns, the next one knows. */
  goesOn: fc.boolean(),
});

export type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

/** What came of one case. */
export interface Ran {
  outcome: "answered" | "overflow" | "other";
  error: unknown;
  /** Those of the conversation as a whole. */
  requests: readonly FakeRequest[];
  /** The client can know what is sent beside the messages: it was said, or an earlier answer's usage tells. */
  knowsBeside: boolean;
  compactions: number;
  window: number;
  /** System, tools and the newest turn at its floor, by the provider's count. */
  floorTokens: number;
  floorBytes: number;
  /** The same with every message kept and each result at its floor: what can be had without a summary. */
  wholeFloorTokens: number;
  wholeFloorBytes: number;
  maxBytes: number;
  spoken: Spoken;
  /** The messages as they were before the call. */
  before: Spoken["messages"];
  /** The provider's refusals say how much it was and how much it may be. */
  hasNumbers: boolean;
}

/** Keeps the newest turn and says that the rest was left out. */
function plainCompactor(spoken: Spoken, calls: { count: number }): Compactor {
  return {
    async compact({ wire, messages }) {
      calls.count++;
      const system = messages.filter((message) => wire.read(message).role === "system");
      const said = [...system, wire.say(NOTE), ...messages.slice(-spoken.newest)];
      const isLess = JSON.stringify(said).length < JSON.stringify(messages).length;
      return isLess ? { messages: said, summaryTokens: 20 } : null;
    },
  };
}
const NOTE = "Summary of what came before: the agent read files and ran commands.";

/** Messages with their results at the floor: what no rung takes away. */
function floorOf({ wire: name }: Spoken, messages: readonly unknown[]): unknown[] {
  const wire = wireNamed(name);
  if (wire === null) throw new Error(name);
  return messages.map((message) => {
    const edits = wire.read(message).results.map(({ at, texts }) => ({
      at,
      texts: [texts.join("\n").slice(0, 2000).toWellFormed()],
      mediaText:
        "[an image, sound or file of 3,000 bytes left out: the request was too large]\n[Saved as artifact abcdefghijkl, which the operator can read]",
    }));
    return wire.write(message, edits);
  });
}

/** The newest turn after a note in place of all that came before. */
function newestOnly({ messages, newest, wire: name }: Spoken): unknown[] {
  const wire = wireNamed(name);
  if (wire === null) throw new Error(name);
  const system = messages.filter((message) => wire.read(message).role === "system");
  return [...system, wire.say(NOTE), ...messages.slice(-newest)];
}

/** Runs one case through `call`, with real HTTP. */
export async function runCase(one: Case, spillway: Spillway): Promise<Ran> {
  const spoken = speeches[one.speaks](one.conversation);
  const sizes = counted(one, spoken);
  const { window, maxBytes } = sizes;
  const isBytes = one.limits === "bytes";
  let nowMs = 0;
  const provider = await startFakeProvider({
    speaks: one.speaks,
    ...(one.as !== null && one.speaks === "openai-chat" && { as: one.as }),
    tokenFactor: one.tokenFactor,
    window: one.limits === "window" ? window : 100_000_000,
    ...(isBytes && { maxRequestBytes: maxBytes }),
    ...(one.limits === "minute" && { tokensPerMinute: window, now: () => nowMs }),
  });
  const before = structuredClone(spoken.messages);
  const calls = { count: 0 };
  const options: CallOptions = {
    wire: spoken.wire,
    session: "s",
    ladder: one.ladder,
    ...(one.saysBeside && { systemAndTools: spoken.beside, answerTokens: one.speaks === "gemini" ? 0 : ANSWER_TOKENS }),
    ...(one.saysWindow && one.limits === "window" && { window }),
    ...(one.hasCompactor && { compactor: plainCompactor(spoken, calls) }),
  };
  const send = (messages: unknown[], { signal }: SendContext) => post(provider, spoken, messages, signal);
  const goesOn = one.goesOn && sizes.firstTokens <= window && !isBytes;
  if (goesOn) {
    await spillway.call(firstOf(spoken), send, options);
    nowMs += 61_000;
  }
  const ran = (outcome: Ran["outcome"], error: unknown): Ran => ({
    outcome,
    error,
    requests: provider.requests.slice(goesOn ? 1 : 0),
    knowsBeside: one.saysBeside || goesOn,
    compactions: calls.count,
    spoken,
    before,
    hasNumbers: saysNumbers(one),
    ...sizes,
  });
  try {
    const reply = await spillway.call(spoken.messages, send, options);
    return ran(reply.ok ? "answered" : "other", reply.ok ? null : await reply.text());
  } catch (error) {
    const isOverflow = (error as { code?: unknown }).code === "overflow";
    return ran(isOverflow ? "overflow" : "other", error);
  } finally {
    await provider.stop();
  }
}

/** Some only say that it was too much, and some only their limit. */
function saysNumbers({ speaks, as, limits }: Case): boolean {
  if (limits === "bytes" || speaks === "openai-responses") return limits === "minute";
  if (speaks === "openai-chat") return limits === "minute" || (as !== "groq" && as !== "zai");
  return limits === "window";
}

function post({ url }: FakeProvider, { path, beside, field }: Spoken, messages: unknown[], signal: AbortSignal) {
  return fetch(`${url}${path}`, { method: "POST", body: JSON.stringify({ ...beside, [field]: messages }), signal });
}

/** What a conversation begins with: the user's first message, after the system's where that is one. */
function firstOf({ messages, wire: name }: Spoken): unknown[] {
  return messages.slice(0, 1 + messages.findIndex((message) => wireNamed(name)?.read(message).role === "user"));
}

/** Sizes by the provider's own count: the window is a share of the whole. */
function counted(one: Case, spoken: Spoken) {
  const bodyOf = (messages: readonly unknown[]) => ({ ...spoken.beside, [spoken.field]: messages });
  const tokensOf = (messages: readonly unknown[]) => {
    const {
      model: _model,
      max_tokens: _one,
      max_completion_tokens: _two,
      max_output_tokens: _three,
      ...read
    } = bodyOf(messages) as Record<string, unknown>;
    const texts = Object.values(read).flatMap((value) => countedTexts(value));
    return Math.ceil(count(texts) * one.tokenFactor) + ANSWER_TOKENS;
  };
  const bytesOf = (messages: readonly unknown[]) => Buffer.byteLength(JSON.stringify(bodyOf(messages)));
  const floor = floorOf(spoken, newestOnly(spoken));
  const wholeFloor = floorOf(spoken, spoken.messages);
  return {
    window: Math.max(50, Math.floor(tokensOf(spoken.messages) * one.windowShare)),
    maxBytes: Math.max(100, Math.floor(bytesOf(spoken.messages) * one.windowShare)),
    firstTokens: tokensOf(firstOf(spoken)),
    floorTokens: tokensOf(floor),
    floorBytes: bytesOf(floor),
    wholeFloorTokens: tokensOf(wholeFloor),
    wholeFloorBytes: bytesOf(wholeFloor),
  };
}
const ANSWER_TOKENS = 100;
const count = await loadTokenCount(1);

/** Calls and results that do not pair in a request that was sent. */
export function orphansIn(request: FakeRequest, { wire: name, field }: Spoken): number {
  const wire = wireNamed(name);
  const messages = request.body?.[field];
  if (wire === null || !Array.isArray(messages)) return 1;
  const views = messages.map((message) => wire.read(message));
  const pairs = pairResults(views);
  const calls = views.reduce((sum, view) => sum + view.calls.length, 0);
  return pairs.filter(({ call }) => call === null).length + Math.abs(calls - pairs.length);
}
