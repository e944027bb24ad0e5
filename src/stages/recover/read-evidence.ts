import { tried } from "../../values.ts";
import { normalize } from "./text-pattern.ts";

/** Everything that the provider's error channel says, collected from wrappers and causes. */
export interface Evidence {
  statuses: Set<number>;
  /** Codes, types, status words and names, in lower case, with and without a `_` between their words. */
  codes: Set<string>;
  /** Messages in their normal form. */
  texts: string[];
  /** Numeric fields of the errors, by name. */
  numbers: Map<string, number>;
  /** Why the answer ended, in lower case. */
  stops: Set<string>;
  usage: Usage | null;
  url: string | null;
}

const MAX_DEPTH = 8;
const MAX_TEXTS = 32;
const MAX_TEXT_CHARS = 16 * 1024;

// These are the fields of the error channel. No other field is read: requests, contents, choices and parts are never
// opened.
const MESSAGES = [
  "message",
  "Message",
  "error_message",
  "error_msg",
  "status_msg",
  "detail",
  "details",
  "description",
  "msg",
];
const CODES = ["code", "type", "__type", "name", "errorType", "errorCode", "error_code", "reason", "lc_error_code"];
const STATUSES = ["status", "statusCode", "httpStatusCode", "status_code"];
const INSIDE = ["errorMessage", "error", "Error", "Response", "base_resp", "lastError", "cause", "raw", "$metadata"];
// These fields may hold an error or an answer. A text in them counts only if it is known that the request was refused.
const EITHER = ["responseBody", "body", "data"];
const STREAM_ERRORS = [
  "validationException",
  "modelStreamErrorException",
  "throttlingException",
  "serviceUnavailableException",
  "internalServerException",
];
const STOPS = ["stop_reason", "finish_reason", "finishReason", "stopReason", "done_reason", "incomplete_details"];
const USAGES = ["usage", "usageMetadata", "usage_metadata"];
const ANSWERS = ["choices", "candidates", "delta"];

/**
 * Reads what was thrown, a body, an event of a stream, or the usage of an answer. Never throws, and never looks at
 * content.
 */
export function readEvidence(subject: unknown): Evidence {
  const evidence: Evidence = {
    statuses: new Set(),
    codes: new Set(),
    texts: [],
    numbers: new Map(),
    stops: new Set(),
    usage: null,
    url: null,
  };
  try {
    new Reader(evidence).read(subject, 0);
  } catch {
    // If a foreign object throws when it is read, what was read before still counts.
  }
  return evidence;
}

class Reader {
  private readonly evidence: Evidence;
  private readonly seen = new Set<object>();
  /** How many texts were read, those that were known before included. */
  private heard = 0;

  constructor(evidence: Evidence) {
    this.evidence = evidence;
  }

  read(value: unknown, depth: number): void {
    if (depth > MAX_DEPTH) return;
    if (typeof value === "string") this.text(value, depth);
    else if (Array.isArray(value)) for (const one of value.slice(0, MAX_DEPTH)) this.read(one, depth + 1);
    else if (typeof value === "object" && value !== null && !this.seen.has(value)) {
      this.seen.add(value);
      this.object(value, depth);
    }
  }

  private object(value: object, depth: number): void {
    const { evidence } = this;
    for (const name of STATUSES) this.code(fieldOf(value, name));
    for (const name of CODES) this.code(fieldOf(value, name));
    for (const [name, field] of entries(value)) {
      if (typeof field === "number" && Number.isFinite(field)) evidence.numbers.set(name, field);
    }
    const url = fieldOf(value, "url");
    if (typeof url === "string") evidence.url ??= url;
    // A message of a conversation has a role. Its fields are not an error's.
    if (typeof fieldOf(value, "role") !== "string") {
      for (const name of MESSAGES) this.read(fieldOf(value, name), depth + 1);
    }
    for (const name of INSIDE) this.read(fieldOf(value, name), depth + 1);
    // Beside an error's message, `metadata` belongs to the error. In an answer it is what the caller wrote.
    if (typeof fieldOf(value, "message") === "string") this.read(fieldOf(value, "metadata"), depth + 1);
    const response = fieldOf(value, "response");
    if (typeof response === "object") this.read(response, depth + 1);
    for (const name of EITHER) {
      const inside = fieldOf(value, name);
      if (typeof inside !== "string" || evidence.statuses.size > 0) this.read(inside, depth + 1);
      else this.read(parseJson(inside) ?? parseEvents(inside), depth + 1);
    }
    // If there were several tries, the last one counts. If several failed at the same time, all of them count.
    const errors = fieldOf(value, "errors");
    if (Array.isArray(errors)) {
      const isAggregate = fieldOf(value, "name") === "AggregateError";
      this.read(isAggregate ? errors.slice(-MAX_DEPTH) : errors.at(-1), depth + 1);
    }
    for (const name of STREAM_ERRORS) {
      const error = fieldOf(value, name);
      if (error !== undefined) this.code(name);
      this.read(error, depth + 1);
    }
    this.answer(value, depth);
  }

  /** Reads why an answer ended and what it cost. Does not look at its content. */
  private answer(value: object, depth: number): void {
    const { evidence } = this;
    for (const name of STOPS) {
      const stop = fieldOf(value, name);
      for (const word of typeof stop === "object" && stop !== null ? entries(stop).map(([, word]) => word) : [stop]) {
        if (typeof word === "string") evidence.stops.add(word.toLowerCase());
      }
    }
    evidence.usage ??=
      USAGES.map((name) => readUsage(fieldOf(value, name))).find((usage) => usage !== null) ?? readUsage(value);
    for (const name of ANSWERS) {
      const inside = fieldOf(value, name);
      const answer: unknown = Array.isArray(inside) ? inside[0] : inside;
      if (typeof answer === "object" && answer !== null && depth < MAX_DEPTH) this.answer(answer, depth + 1);
    }
  }

  private code(value: unknown): void {
    const { statuses, codes } = this.evidence;
    if (typeof value !== "string" && typeof value !== "number") return;
    const word = String(value);
    codes.add(word.toLowerCase());
    codes.add(word.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase());
    if (/^[45]\d\d$/.test(word)) statuses.add(Number(word));
  }

  private text(value: string, depth: number): void {
    const { texts, statuses } = this.evidence;
    const events = parseEvents(value);
    if (events !== null) return this.read(events, depth + 1);
    const parsed = parseJson(value);
    const known = this.heard;
    if (parsed !== null) this.read(parsed, depth + 1);
    // A refusal in an unknown form is taken as text. An answer, or the start of one, never is.
    const isBody = parsed !== null || /^\[?\s*\{\s*"/.test(value.trimStart());
    if (isBody && (this.heard > known || statuses.size === 0)) return;
    // A client may have put a status before the body, as in "400 {...}". Then the text is what stands around the body.
    const [open, close] = [value.indexOf("{"), value.lastIndexOf("}") + 1];
    const [at, before] = [texts.length, this.heard];
    if (open > 0) this.read(parseJson(value.slice(open, close)), depth + 1);
    const hasBody = this.heard > before;
    const around = hasBody ? `${value.slice(0, open)} ${value.slice(close)}` : value;
    const text = normalize(around.slice(0, MAX_TEXT_CHARS));
    const status = STATUS_FIRST.exec(text)?.[1];
    if (status !== undefined) statuses.add(Number(status));
    const isStatusOnly = hasBody && text === status;
    if (text !== "") this.heard += 1;
    if (text === "" || isStatusOnly || texts.length >= MAX_TEXTS || texts.includes(text)) return;
    texts.splice(at, 0, text);
  }
}

/**
 * Matches a status at the start: "413 Request Entity Too Large", "Error code: 413 - ...", "... API error (413): ...".
 */
const STATUS_FIRST = /^(?:[a-z. ]{0,24}error:? )?(?:error code: |http |status(?: code)?:? |\()?([45]\d\d)\b/;

function parseJson(text: string): object | null {
  const trimmed = text.trim();
  if (!/^[{[]/.test(trimmed) || !/[}\]]$/.test(trimmed)) return null;
  try {
    const parsed: unknown = JSON.parse(trimmed);
    return typeof parsed === "object" ? parsed : null;
  } catch {
    return null;
  }
}

/** Returns the first events of a stream's text, or null if the text is not a stream. */
function parseEvents(text: string): (object | null)[] | null {
  if (!/^(event|data|id|retry):/.test(text)) return null;
  const events = text.split(/\r?\n\r?\n/, MAX_DEPTH);
  return events.map((one) => parseJson([...one.matchAll(/^data: ?(.*)$/gm)].map((line) => line[1]).join("\n")));
}

// Returns nothing if the foreign object throws.
function entries(value: object): [string, unknown][] {
  return tried(() => Object.entries(value).slice(0, 64)) ?? [];
}

/** Returns a field of a foreign object, or undefined if reading it throws. */
export function fieldOf(value: object, name: string): unknown {
  return tried(() => [(value as Record<string, unknown>)[name]])?.[0];
}

/** What an answer says about sizes: the tokens of the request, with those from a cache, and of the answer. */
interface Usage {
  inputTokens: number;
  /**
   * The most tokens that the request can have had. Some providers do not say whether the input includes what came from
   * a cache.
   */
  mostInputTokens: number;
  outputTokens: number | null;
  /** What came from a cache and what was written to one, as far as the provider says it. */
  cacheReadTokens: number | null;
  cacheWriteTokens: number | null;
}

// The names that providers and frameworks give the input, and for each the parts from a cache that it does not include.
const INPUT: Readonly<Record<string, readonly string[]>> = {
  input_tokens: ["cache_read_input_tokens", "cache_creation_input_tokens"],
  prompt_tokens: [],
  promptTokenCount: [],
  inputTokens: ["cacheReadInputTokens", "cacheWriteInputTokens"],
  promptTokens: [],
  prompt_eval_count: [],
  input: ["cacheRead", "cacheWrite"],
};
const OUTPUT = [
  "output_tokens",
  "completion_tokens",
  "candidatesTokenCount",
  "outputTokens",
  "completionTokens",
  "eval_count",
  "output",
];

const CACHE_READ = ["cache_read_input_tokens", "cacheReadInputTokens", "cacheRead", "cachedContentTokenCount"];
const CACHE_WRITE = ["cache_creation_input_tokens", "cacheWriteInputTokens", "cacheWrite"];

/** Reads usage in any of the known forms. Returns null if the value is not usage. */
export function readUsage(value: unknown): Usage | null {
  if (typeof value !== "object" || value === null) return null;
  const outputTokens = first(value, OUTPUT);
  for (const [name, apart] of Object.entries(INPUT)) {
    const input = count(fieldOf(value, name));
    if (input === null) continue;
    const inputTokens = apart.reduce((sum, share) => sum + (count(fieldOf(value, share)) ?? 0), input);
    // Gateways and frameworks pass on what their provider says, which includes the cache's part or does not.
    const cached = cachedOf(value);
    const mostInputTokens = inputTokens + cached;
    return {
      inputTokens: cached > inputTokens ? mostInputTokens : inputTokens,
      mostInputTokens,
      outputTokens,
      cacheReadTokens: first(value, CACHE_READ) ?? (cached || null),
      cacheWriteTokens: first(value, CACHE_WRITE),
    };
  }
  return null;
}

/** Returns the tokens from a cache that are named beside an input which may or may not include them. */
function cachedOf(value: object): number {
  for (const name of ["prompt_tokens_details", "input_tokens_details"]) {
    const details = fieldOf(value, name);
    if (typeof details === "object" && details !== null) return count(fieldOf(details, "cached_tokens")) ?? 0;
  }
  return first(value, ["cachedInputTokens", "prompt_cache_hit_tokens"]) ?? 0;
}

function first(value: object, names: readonly string[]): number | null {
  for (const name of names) {
    const found = count(fieldOf(value, name));
    if (found !== null) return found;
  }
  return null;
}

/** Returns a count, or the total of a count that is split into parts. */
function count(value: unknown): number | null {
  const whole = typeof value === "object" && value !== null ? fieldOf(value, "total") : value;
  return typeof whole === "number" && Number.isFinite(whole) && whole >= 0 ? whole : null;
}
