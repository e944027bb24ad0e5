/** What a model is asked. */
export interface ModelPrompt {
  /** What it is told to do; only words of ours stand here. */
  system: string;
  /** The material, marked as data. */
  user: string;
  /** What the answer may take at most. */
  maxTokens: number;
  signal?: AbortSignal | undefined;
  /** Is told what the call took once the model has answered, even if the answer is of no use. */
  spent?: ((spend: ModelSpend) => void) | undefined;
}

/** What calls of a model took. */
export interface ModelSpend {
  calls: number;
  inputTokens: number;
  outputTokens: number;
  /** True if a count is an estimate, because an answer did not say it. */
  isEstimate: boolean;
  /** In US dollars; null if nobody stated prices. */
  dollars: number | null;
}

/** An answer with the tokens that it took, where the asker knows them. */
export interface ModelAnswer {
  text: string;
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
}

/** Asks a model. Resolves with its text, rejects with a reason where there is none. */
export type AskModel = (prompt: ModelPrompt) => Promise<string>;

/** A model that writes summaries. Contract: bounded in time, in calls and in the size of an answer. */
export interface ModelClient {
  /** The model's name, for markers and receipts. */
  readonly model: string;
  /** The longest answer it gives. */
  readonly maxAnswerTokens: number;
  /** Calls that run at once. */
  readonly maxConcurrent: number;
  ask: AskModel;
}

/** The APIs that a model may be reached by. */
export type ModelSpeech = "openai" | "anthropic" | "ollama";

/** What a model costs at most. What is left out has a default. */
export interface ModelCaps {
  /** One call. */
  timeoutMs?: number | undefined;
  maxConcurrent?: number | undefined;
  maxAnswerTokens?: number | undefined;
  maxCallsPerHour?: number | undefined;
  /** Characters sent and received. */
  maxCharsPerHour?: number | undefined;
  /** US dollars for a million tokens. With both, events and `stats` say what summaries cost. */
  inputPrice?: number | undefined;
  outputPrice?: number | undefined;
}

/** Where a model is. */
export interface ModelEndpoint extends ModelCaps {
  /** `https://host/v1`, or the whole address of the API. */
  endpoint: string;
  model: string;
  key?: string | undefined;
  speaks: ModelSpeech;
}

/** A model that a function asks. */
export interface ModelFunction extends ModelCaps {
  ask(prompt: ModelPrompt): string | ModelAnswer | Promise<string | ModelAnswer>;
  model: string;
}

/** A model as a program hands it in: where it is, or a function that asks it. */
export type ModelSource = ModelEndpoint | ModelFunction | ModelFunction["ask"];
