import type { ModelPrompt, ModelSpeech } from "../../contract/model-client.ts";

/** How one API is asked and how its answer is read. */
export interface Speech {
  /** The end of its address. */
  path: string;
  headers(key: string | undefined): Record<string, string>;
  body(model: string, prompt: ModelPrompt): Record<string, unknown>;
  /** The body to send instead after this refusal; null if there is none. */
  otherBody?(body: Record<string, unknown>, refusal: string): Record<string, unknown> | null;
  /** Throws where there is no whole answer. */
  read(answer: unknown): string;
}

/** An answer that is no summary, in words for a receipt. */
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
  // Newer models have another name for it.
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
};

/** The APIs we speak. */
export const SPEECHES: Readonly<Record<ModelSpeech, Speech>> = { openai, anthropic, ollama };

/** The whole address of an API, however much of it was given. */
export function addressOf(endpoint: URL, { path }: Speech): URL {
  const address = new URL(endpoint);
  const given = address.pathname.replace(/\/+$/, "");
  // The end of the path may stand there already, in whole or in part.
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

/** A text, or the texts of blocks. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw new Error("the answer has no text");
  return content
    .map((block) => field(block, "text"))
    .filter((text) => typeof text === "string")
    .join("");
}
