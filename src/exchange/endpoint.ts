import { isRecord, type JsonRecord } from "../values.ts";

/** What of a request's body is read. Names are those of the body's fields. */
export interface BodyShape {
  wire: string;
  messages: string;
  /** The system prompt, the tools and what else a model reads besides the messages. */
  beside: readonly string[];
  /** Small fields that say something about the request. */
  about: readonly string[];
  /** Returns how many tokens the request reserves for the answer. */
  answerTokens(body: JsonRecord): number;
  /** Returns the fields that reserve more than this, with this instead. There are none if they must stay as they are. */
  withAnswerTokens(body: JsonRecord, tokens: number): JsonRecord;
  /** How many answers the request asks for at once, where that is not one. */
  answers(body: JsonRecord): unknown;
  /** Returns true if the provider holds part of the conversation. Then only new results can be made shorter. */
  isHeld(body: JsonRecord): boolean;
}

/** What an HTTP request asks of a model provider. */
export interface Endpoint {
  shape: BodyShape;
  /** "answer": the model speaks. "count": the provider counts the tokens of such a request. */
  asks: "answer" | "count";
  /** The model that the path names. */
  model: string | null;
  /** True if the answer comes as one JSON list, piece by piece. */
  isList: boolean;
}

const isSet = (value: unknown) => value !== undefined && value !== null;

/** Returns the largest number in these fields, or -Infinity if there is none. */
function largest(body: JsonRecord, names: readonly string[]): number {
  return Math.max(...names.map((name) => body[name]).filter((value) => typeof value === "number"));
}

function lowered(body: JsonRecord, names: readonly string[], tokens: number): JsonRecord {
  return Object.fromEntries(names.filter((name) => largest(body, [name]) > tokens).map((name) => [name, tokens]));
}

const CHAT_ANSWER = ["max_completion_tokens", "max_tokens"];
const GEMINI_ANSWER = ["maxOutputTokens", "max_output_tokens"];

const openaiChat: BodyShape = {
  wire: "openai-chat",
  messages: "messages",
  beside: ["tools", "functions", "response_format"],
  about: ["model", "max_completion_tokens", "max_tokens", "n"],
  answerTokens: (body) => largest(body, CHAT_ANSWER),
  withAnswerTokens: (body, tokens) => lowered(body, CHAT_ANSWER, tokens),
  answers: ({ n }) => n,
  isHeld: () => false,
};

const openaiResponses: BodyShape = {
  wire: "openai-responses",
  messages: "input",
  beside: ["instructions", "tools", "text"],
  about: ["model", "max_output_tokens", "previous_response_id", "conversation"],
  answerTokens: (body) => largest(body, ["max_output_tokens"]),
  withAnswerTokens: (body, tokens) => lowered(body, ["max_output_tokens"], tokens),
  answers: () => 1,
  isHeld: ({ previous_response_id, conversation }) => isSet(previous_response_id) || isSet(conversation),
};

const anthropic: BodyShape = {
  wire: "anthropic",
  messages: "messages",
  beside: ["system", "tools"],
  about: ["model", "max_tokens", "thread", "thinking"],
  answerTokens: (body) => largest(body, ["max_tokens"]),
  withAnswerTokens(body, tokens) {
    const budget = isRecord(body.thinking) ? largest(body.thinking, ["budget_tokens"]) : 0;
    // What is set apart for thinking is part of it, and has to be less than all of it.
    return lowered(body, ["max_tokens"], Math.max(tokens, budget + 1));
  },
  answers: () => 1,
  isHeld: ({ thread }) => isSet(thread) && !(isRecord(thread) && thread.type === "create"),
};

const gemini: BodyShape = {
  wire: "gemini",
  messages: "contents",
  beside: ["systemInstruction", "system_instruction", "tools"],
  about: ["model", "generationConfig", "generation_config"],
  answerTokens: (body) => largest(generationOf(body), GEMINI_ANSWER),
  withAnswerTokens(body, tokens) {
    const config = generationOf(body);
    const thinking = config.thinkingConfig ?? config.thinking_config;
    const budget = isRecord(thinking) ? largest(thinking, ["thinkingBudget", "thinking_budget"]) : 0;
    // What is set apart for thinking is part of it. The answer needs at least one token more.
    const changed = lowered(config, GEMINI_ANSWER, Math.max(tokens, budget + 1));
    if (Object.keys(changed).length === 0) return {};
    return { [isSet(body.generationConfig) ? "generationConfig" : "generation_config"]: { ...config, ...changed } };
  },
  answers: (body) => generationOf(body).candidateCount ?? generationOf(body).candidate_count,
  isHeld: () => false,
};

function generationOf({ generationConfig, generation_config }: JsonRecord): JsonRecord {
  const config = generationConfig ?? generation_config;
  return isRecord(config) ? config : {};
}

/** Paths by their ends: gateways, regions and Azure put other things before. The first group is the model. */
const PATHS: readonly (readonly [RegExp, BodyShape, Endpoint["asks"]])[] = [
  [/(?:\/deployments\/([^/]+))?\/chat\/completions$/, openaiChat, "answer"],
  [/(?:\/deployments\/([^/]+))?\/responses$/, openaiResponses, "answer"],
  [/\/responses\/input_tokens$/, openaiResponses, "count"],
  [/\/messages$/, anthropic, "answer"],
  [/\/messages\/count_tokens$/, anthropic, "count"],
  [/\/publishers\/anthropic\/models\/([^/:]+):(?:rawPredict|streamRawPredict)$/, anthropic, "answer"],
  [/\/([^/:]+):(?:generateContent|streamGenerateContent)$/, gemini, "answer"],
  [/\/([^/:]+):countTokens$/, gemini, "count"],
];

/** Tells what a request asks for, by its method and URL or path. Returns null for everything that is no model's endpoint. */
export function endpointOf(method: string, url: string): Endpoint | null {
  if (method.toUpperCase() !== "POST") return null;
  const [given = "", query = ""] = url.split(/[?#]/, 2);
  const path = given.replace(/\/+$/, "");
  for (const [pattern, shape, asks] of PATHS) {
    const found = pattern.exec(path);
    if (found === null) continue;
    const model = found[1] === undefined ? null : decoded(found[1]);
    const isList = path.endsWith(":streamGenerateContent") && !/(?:^|&)alt=sse(?:&|$)/.test(query);
    return { shape, asks, model, isList };
  }
  return null;
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
