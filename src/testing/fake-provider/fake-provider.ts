/** The APIs that the fake provider speaks. */
export type Speaks = "anthropic" | "openai-chat" | "openai-responses" | "gemini";

/** Providers with OpenAI's API that refuse in words of their own. */
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

/** How large a request is, by the provider's own count. */
export interface FakeSizes {
  inputTokens: number;
  /** How many of them are the tools'. */
  toolTokens: number;
  /** What the request reserves for the answer; 0 where it does not say. */
  outputTokens: number;
  window: number;
  bytes: number;
  maxBytes: number;
  /** How full the minute is, where that is why it is refused. */
  minute?: FakeMinute;
}

/** Tokens of the last minute against those of this request. */
export interface FakeMinute {
  limit: number;
  used: number;
  requested: number;
  /** Until there is room for it, if there ever is. */
  retryMs: number;
}

/** An answer that is an error. */
export interface FakeRefusal {
  status: number;
  /** An object is sent as JSON, a text as it is. */
  body: unknown;
  headers?: Record<string, string>;
  /** Where the body was seen. */
  source: string;
}

/** A call that the model makes. */
export interface FakeCall {
  tool: string;
  input: Record<string, unknown>;
  /** Made up where it is left out. */
  id?: string;
}

/** What the model answers. */
export interface FakeReply {
  text?: string;
  calls?: readonly FakeCall[];
  /** Refuse instead, with this. */
  refusal?: FakeRefusal;
  /** Break the connection after this many pieces of a streamed answer. */
  dropAfterPieces?: number;
}

/** A request as it came, and what became of it. */
export interface FakeRequest {
  /** From 0. */
  index: number;
  path: string;
  headers: Record<string, string>;
  /** As parsed; null where it was not JSON. */
  body: Record<string, unknown> | null;
  bytes: number;
  inputTokens: number;
  /** What it was answered with; 0 while the script is asked. */
  status: number;
  /** Why it was refused. */
  refused: "bytes" | "json" | "pairs" | "tokens-per-minute" | "window" | "script" | "unknown" | null;
  /** Where the refusal's body was seen. */
  source: string | null;
}

/** What the model says: replies in turn (then "Done."), or a function of each request. */
export type FakeScript =
  | readonly (FakeReply | string)[]
  | ((request: FakeRequest) => FakeReply | string | Promise<FakeReply | string>);

/** How the fake provider behaves. What is left out is as with the real one, or without a limit. */
export interface FakeProviderOptions {
  speaks: Speaks;
  /** Refuses what is over the window as this provider does; with `openai-chat` only. */
  as?: SpeaksAs;
  /** The model's context in tokens. */
  window?: number;
  maxRequestBytes?: number;
  tokensPerMinute?: number;
  /** Its vocabulary against o200k: 1.2 counts 20 % more. The client is not told. */
  tokenFactor?: number;
  script?: FakeScript;
  /** What it does with more than its window: refuse, answer with the usage that shows it, or drop the start unsaid. */
  onOverflow?: "refuse" | "answer" | "truncate";
  /** Refuses in other words: what it gives back is sent instead, null leaves it as it is. */
  refuse?: (why: "bytes" | "tokens-per-minute" | "window", sizes: FakeSizes) => FakeRefusal | null;
  /** Milliseconds; tokens per minute are counted by it. */
  now?: () => number;
}

/** A provider on this machine. */
export interface FakeProvider {
  /** `http://127.0.0.1:port`, without a path. */
  url: string;
  /** Every request, in order. */
  requests: readonly FakeRequest[];
  /** A text's tokens by its count. */
  countTokens(text: string): number;
  stop(): Promise<void>;
}
