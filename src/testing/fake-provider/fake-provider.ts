/** The APIs that the fake provider speaks. */
export type Speaks = "anthropic" | "openai-chat" | "openai-responses" | "gemini";

/** Providers with OpenAI's API that refuse in their own words. */
export type SpeaksAs =
  | "cerebras"
  | "copilot"
  | "deepseek"
  | "groq"
  | "kimi"
  | "llamacpp"
  | "openrouter"
  | "vllm"
  | "xai"
  | "zai";

/** The size of a request, by the provider's own count. */
export interface FakeSizes {
  inputTokens: number;
  /** How many of these tokens belong to the tools. */
  toolTokens: number;
  /** How many tokens the request reserves for the answer. 0 if it does not say. */
  outputTokens: number;
  window: number;
  bytes: number;
  maxBytes: number;
  /** How full the minute is. It is set if the request is refused for that reason. */
  minute?: FakeMinute;
}

/** The tokens of the last minute and of this request. */
export interface FakeMinute {
  limit: number;
  used: number;
  requested: number;
  /** The time until there is room for the request, in milliseconds. */
  retryMs: number;
}

/** An answer that is an error. */
export interface FakeRefusal {
  status: number;
  /** An object is sent as JSON, a text as it is. */
  body: unknown;
  headers?: Record<string, string>;
  /** Where this body was seen. */
  source: string;
}

/** A call that the model makes. */
export interface FakeCall {
  tool: string;
  input: Record<string, unknown>;
  /** If it is left out, an id is made up. */
  id?: string;
  /** The group that the tool stands in. Only OpenAI's Responses have groups. */
  namespace?: string;
}

/** What the model answers. */
export interface FakeReply {
  text?: string;
  calls?: readonly FakeCall[];
  /** Refuses with this instead of an answer. */
  refusal?: FakeRefusal;
  /** Breaks the connection after this many pieces of a streamed answer. */
  dropAfterPieces?: number;
}

/** A request as it came, and what happened to it. */
export interface FakeRequest {
  /** Counts from 0. */
  index: number;
  path: string;
  headers: Record<string, string>;
  /** The parsed body, or null if it was not JSON. */
  body: Record<string, unknown> | null;
  bytes: number;
  inputTokens: number;
  /** The status of the answer. It is 0 while the script runs. */
  status: number;
  /** Why the request was refused. */
  refused: "bytes" | "json" | "pairs" | "tokens-per-minute" | "window" | "script" | "unknown" | null;
  /** Where the refusal's body was seen. */
  source: string | null;
}

/** What the model says: a list of replies, followed by "Done." for ever, or a function of each request. */
export type FakeScript =
  | readonly (FakeReply | string)[]
  | ((request: FakeRequest) => FakeReply | string | Promise<FakeReply | string>);

/** Says how the fake provider behaves. What is left out is as in the real one, or has no limit. */
export interface FakeProviderOptions {
  speaks: Speaks;
  /** Refuses a request over the window in this provider's words. It works with `openai-chat` only. */
  as?: SpeaksAs;
  /** The model's context in tokens. */
  window?: number;
  maxRequestBytes?: number;
  tokensPerMinute?: number;
  /** The ratio of its token counts to those of o200k: 1.2 counts 20 % more. The client is not told. */
  tokenFactor?: number;
  /** Counts the tokens of a text. Without it the package gpt-tokenizer does, which must then be installed. */
  countTokens?: (text: string) => number;
  script?: FakeScript;
  /**
   * What it does with a request over its window. "refuse" refuses, "answer" answers with the true usage, and "truncate"
   * drops the start without a word.
   */
  onOverflow?: "refuse" | "answer" | "truncate";
  /** Refuses in other words: its result is sent instead. Null leaves the refusal as it is. */
  refuse?: (why: "bytes" | "tokens-per-minute" | "window", sizes: FakeSizes) => FakeRefusal | null;
  /** The clock in milliseconds, by which tokens per minute are counted. */
  now?: () => number;
}

/** A provider on this machine. */
export interface FakeProvider {
  /** `http://127.0.0.1:port`, without a path. */
  url: string;
  /** Every request, in order. */
  requests: readonly FakeRequest[];
  /** Counts the tokens of a text as this provider does. */
  countTokens(text: string): number;
  stop(): Promise<void>;
}
