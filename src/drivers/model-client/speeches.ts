import type { ModelPrompt, ModelSpeech } from "../../contract/model-client.ts";

/** Says how to ask one API and how to read its answer. */
export interface Speech {
  /** The end of the API's address. */
  path: string;
  headers(key: string | undefined): Record<string, string>;
  body(model: string, prompt: ModelPrompt): Record<string, unknown>;
  /** Returns the body to send instead after this refusal, or null if there is none. */
  otherBody?(body: Record<string, unknown>, refusal: string): Record<string, unknown> | null;
  /** Returns the answer's text. Throws if the answer is not whole. */
  read(answer: unknown): string;
  /** Returns what the answer says that it took. */
  usage(answer: unknown): Usage;
}

interface Usage {
  inputTokens: number | undefined;
  outputTokens: number | undefined;
}

/** Returns a number of tokens, or undefined if the value is none. */
export function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Why an answer is no summary, in the words of a receipt. */
const CUT_OFF = "the answer was cut off by its own limit";
const REFUSED = "the model refused";

const openai: Speech = {
  path: "/chat/completions",
  headers: bearer,
  body: (model, { system, user, maxTokens }) => ({
    model,
    max_tokens: maxTokens,
    messages: [
      { role: "system", content: system },
      { role: "user", content: user },
    ],
  }),
  // Newer models want max_completion_tokens instead of max_tokens.
  otherBody({ max_tokens, ...body }, refusal) {
    return max_tokens !== undefined && refusal.includes("max_completion_tokens")
      ? { ...body, max_completion_tokens: max_tokens }
      : null;
  },
  read(answer) {
    const choice = field(list(field(answer, "choices"))[0] ?? null, "message");
    const why = field(list(field(answer, "choices"))[0] ?? null, "finish_reason");
    if (why === "length") throw new Error(CUT_OFF);
    if (why === "content_filter" || typeof field(choice, "refusal") === "string") throw new Error(REFUSED);
    return textOf(field(choice, "content"));
  },
  usage(answer) {
    const usage = field(answer, "usage");
    return {
      inputTokens: count(field(usage, "prompt_tokens")),
      outputTokens: count(field(usage, "completion_tokens")),
    };
  },
};

const anthropic: Speech = {
  path: "/v1/messages",
  headers: (key) => ({ "anthropic-version": "2023-06-01", ...(key === undefined ? {} : { "x-api-key": key }) }),
  body: (model, { system, user, maxTokens }) => ({
    model,
    max_tokens: maxTokens,
    system,
    messages: [{ role: "user", content: user }],
  }),
  read(answer) {
    const why = field(answer, "stop_reason");
    if (why === "max_tokens" || why === "model_context_window_exceeded") throw new Error(CUT_OFF);
    if (why === "refusal") throw new Error(REFUSED);
    return textOf(field(answer, "content"));
  },
  usage(answer) {
    const usage = field(answer, "usage");
    const parts = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
    const [input, ...cached] = parts.map((name) => count(field(usage, name)));
    return {
      inputTokens: input === undefined ? undefined : cached.reduce((sum: number, part) => sum + (part ?? 0), input),
      outputTokens: count(field(usage, "output_tokens")),
    };
  },
};

const ollama: Speech = {
  path: "/api/chat",
  headers: bearer,
  body: (model, { system, user, maxTokens }) => ({
    model,
    stream: false,
    options: { num_predict: maxTokens },
    messages: [
      { role: "system", content: system },
      { role: "user", content: user },
    ],
  }),
  read(answer) {
    if (field(answer, "done_reason") === "length") throw new Error(CUT_OFF);
    return textOf(field(field(answer, "message"), "content"));
  },
  usage: (answer) => ({
    inputTokens: count(field(answer, "prompt_eval_count")),
    outputTokens: count(field(answer, "eval_count")),
  }),
};

/** The APIs that can be asked. */
export const SPEECHES: Readonly<Record<ModelSpeech, Speech>> = { openai, anthropic, ollama };

/** Returns the whole address of an API, however much of it was given. */
export function addressOf(endpoint: URL, { path }: Speech): URL {
  const address = new URL(endpoint);
  const given = address.pathname.replace(/\/+$/, "");
  // The given path may already end with all or part of the API's path.
  const steps = path.split("/").slice(1);
  for (let has = steps.length; has >= 0; has--) {
    const start = steps.slice(0, has).map((step) => `/${step}`);
    if (!given.endsWith(start.join(""))) continue;
    address.pathname = `${given}${steps
      .slice(has)
      .map((step) => `/${step}`)
      .join("")}`;
    return address;
  }
  return address;
}

function bearer(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a text as it is, or joins the texts of blocks. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw new Error("the answer has no text");
  return content
    .map((block) => field(block, "text"))
    .filter((text) => typeof text === "string")
    .join("");
}
