import type {
  ModelAnswer,
  ModelCaps,
  ModelClient,
  ModelEndpoint,
  ModelPrompt,
  ModelSource,
} from "../../contract/model-client.ts";
import { newTurns, stopAfter, untilAborted } from "../../deadline.ts";
import { badInput, messageOf, SpendingCapError, type SpillwayError } from "../../errors.ts";
import { checkNumber, describeValue } from "../../stages/policy/check-limits.ts";
import { NUMBERS, type NumberRow } from "../../stages/policy/defaults.ts";
import { addressOf, count, SPEECHES } from "./speeches.ts";

/** The most bytes that one token of an answer takes, with the JSON around it. */
const ANSWER_BYTES_PER_TOKEN = 32;
const MAX_ERROR_CHARS = 200;
const MAX_NAME_CHARS = 64;

/**
 * Asks a model at an endpoint or through a function. Bounds the time, the number of calls and the length of answers.
 * Throws if the configuration is wrong.
 */
export function modelClient(source: ModelSource, now: () => number = () => Date.now()): ModelClient {
  const askIt = askOf(source);
  const caps: ModelCaps = typeof source === "function" ? {} : source;
  const number = (value: number | undefined, row: NumberRow, name: string) =>
    checkNumber(value ?? row.default, row, `summarizer.${name}`, "bad-input");
  const timeoutMs = number(caps.timeoutMs, NUMBERS.modelTimeoutMs, "timeoutMs");
  const maxConcurrent = number(caps.maxConcurrent, NUMBERS.modelConcurrent, "maxConcurrent");
  const maxAnswerTokens = number(caps.maxAnswerTokens, NUMBERS.modelAnswerTokens, "maxAnswerTokens");
  const hourly = hourlyCaps(
    number(caps.maxCallsPerHour, NUMBERS.modelCallsPerHour, "maxCallsPerHour"),
    number(caps.maxCharsPerHour, NUMBERS.modelCharsPerHour, "maxCharsPerHour"),
    now,
  );
  const price = priceOf(caps);
  const turns = newTurns(maxConcurrent);
  return {
    model: nameOf(typeof source === "function" ? source.name : source.model),
    maxAnswerTokens,
    maxConcurrent,
    async ask(prompt) {
      await turns.take(prompt.signal);
      try {
        const answered = hourly.take(prompt.system.length + prompt.user.length);
        const maxTokens = Math.min(prompt.maxTokens, maxAnswerTokens);
        const given = await inTime(prompt.signal, timeoutMs, (signal) => askIt({ ...prompt, maxTokens, signal }));
        const chars = typeof given.text === "string" ? given.text.length : 0;
        answered(chars);
        const inputTokens = given.inputTokens ?? estimated(prompt.system.length + prompt.user.length);
        const outputTokens = given.outputTokens ?? estimated(chars);
        const isEstimate = given.inputTokens === undefined || given.outputTokens === undefined;
        const dollars = price(inputTokens, outputTokens);
        prompt.spent?.({ calls: 1, inputTokens, outputTokens, isEstimate, dollars });
        if (typeof given.text !== "string") throw given.text;
        return given.text.toWellFormed();
      } finally {
        turns.give();
      }
    },
  };
}

/** What came back, with what it took as far as that is said. */
interface Answered {
  /** The answer, or why it is of no use. It was paid for in either case. */
  text: string | Error;
  inputTokens: number | undefined;
  outputTokens: number | undefined;
}

type Ask = (prompt: ModelPrompt) => Promise<Answered>;

const CHARS_PER_TOKEN = 4;

function estimated(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

/** Makes a function that says what tokens cost in dollars, or null if nobody stated prices. */
function priceOf({ inputPrice, outputPrice }: ModelCaps): (inputTokens: number, outputTokens: number) => number | null {
  for (const [name, price] of Object.entries({ inputPrice, outputPrice })) {
    if (price !== undefined && count(price) === undefined)
      throw bad(`${name} must be dollars for a million tokens, 0 or more; got ${describeValue(price)}`);
  }
  if (inputPrice === undefined || outputPrice === undefined) return () => null;
  return (inputTokens, outputTokens) => (inputTokens * inputPrice + outputTokens * outputPrice) / 1_000_000;
}

function functionAnswer(answer: string | ModelAnswer): Answered {
  const given: Partial<ModelAnswer> = typeof answer === "object" && answer !== null ? answer : { text: answer };
  const text = typeof given.text === "string" ? given.text : new Error("the answer is no text");
  return { text, inputTokens: count(given.inputTokens), outputTokens: count(given.outputTokens) };
}

function askOf(source: ModelSource): Ask {
  if (typeof source === "function") return async (prompt) => functionAnswer(await source(prompt));
  if (typeof source !== "object" || source === null) {
    throw bad(`give { endpoint, model, speaks } or a function; got ${describeValue(source)}`);
  }
  if (!("ask" in source)) return askEndpoint(checked(source));
  if (typeof source.ask !== "function") throw bad(`ask must be a function; got ${describeValue(source.ask)}`);
  if (typeof source.model !== "string") throw bad(`model must be a name; got ${describeValue(source.model)}`);
  return async (prompt) => functionAnswer(await source.ask(prompt));
}

function askEndpoint({ endpoint, model, key, speaks }: ModelEndpoint): Ask {
  const speech = SPEECHES[speaks];
  const address = addressOf(new URL(endpoint), speech);
  return async (prompt: ModelPrompt) => {
    const signal = prompt.signal as AbortSignal;
    const maxBytes = 65_536 + prompt.maxTokens * ANSWER_BYTES_PER_TOKEN;
    const post = (body: unknown) => postJson(address, speech.headers(key), body, maxBytes, signal);
    const body = speech.body(model, prompt);
    let posted = await post(body);
    const other = posted.status === 400 ? (speech.otherBody?.(body, posted.text) ?? null) : null;
    if (other !== null) posted = await post(other);
    if (posted.status < 200 || posted.status > 299) throw new Error(`${posted.status} ${oneLine(posted.text, key)}`);
    if (posted.isCut) {
      const text = new Error(`the answer is over ${maxBytes} bytes`);
      return { text, inputTokens: undefined, outputTokens: prompt.maxTokens };
    }
    const answer = parsed(posted.text);
    return { text: textOrFault(() => speech.read(answer)), ...speech.usage(answer) };
  };
}

function textOrFault(read: () => string): string | Error {
  try {
    return read();
  } catch (error) {
    return error instanceof Error ? error : new Error(messageOf(error));
  }
}

/**
 * Runs a call that ends when the signal aborts or its time is over. If the call ignores the signal, it is no longer
 * waited for.
 */
async function inTime<T>(
  outer: AbortSignal | undefined,
  timeoutMs: number,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, done } = stopAfter(timeoutMs, outer, `no answer in ${timeoutMs} ms`);
  try {
    signal.throwIfAborted();
    return await untilAborted(call(signal), signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw new Error(causeOf(error), { cause: error });
  } finally {
    done();
  }
}

/** Returns the message with its cause, because `fetch failed` alone says nothing. */
function causeOf(error: unknown): string {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const code: unknown = cause instanceof Error ? (cause as Error & { code?: unknown }).code : undefined;
  const why = cause instanceof Error ? cause.message || String(code ?? "") : "";
  return oneLine(why === "" ? messageOf(error) : `${messageOf(error)}: ${why}`, undefined);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("the answer is not JSON");
  }
}

/** Returns the start of a text as one line. Replaces the key, because a server may repeat the key that it was sent. */
function oneLine(text: string, key: string | undefined): string {
  const safe = key === undefined || key === "" ? text : text.replaceAll(key, "[key]");
  const line = safe
    .slice(0, 2 * MAX_ERROR_CHARS)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > MAX_ERROR_CHARS ? `${line.slice(0, MAX_ERROR_CHARS).toWellFormed()}...` : line;
}

/** Returns a name that a marker can hold: printable ASCII of bounded length. */
function nameOf(name: string): string {
  return name.replaceAll(/[^\x21-\x7e]|[[\]]/g, "_").slice(0, MAX_NAME_CHARS) || "model";
}

function checked(source: ModelEndpoint): ModelEndpoint {
  const { endpoint, model, key, speaks } = source;
  if (typeof endpoint !== "string" || !/^https?:\/\//i.test(endpoint) || !URL.canParse(endpoint)) {
    throw bad(`endpoint must be an address such as https://host/v1; got ${describeValue(endpoint)}`);
  }
  if (typeof model !== "string" || model.trim() === "") throw bad(`model must be a name; got ${describeValue(model)}`);
  if (key !== undefined && (typeof key !== "string" || !/^[\x21-\x7e]*$/.test(key))) {
    throw bad("key must be a text of printable characters");
  }
  if (!Object.hasOwn(SPEECHES, speaks)) {
    throw bad(`speaks must be openai, anthropic or ollama; got ${describeValue(speaks)}`);
  }
  return { ...source, key: key === "" ? undefined : key };
}

function bad(message: string): SpillwayError {
  return badInput(`summarizer: ${message}`);
}

const HOUR_MS = 3_600_000;

/**
 * Counts the calls and characters of the last hour. `take` counts a call of this size, or throws if it is over a cap. Call the
 * function that it returns with the length of the answer.
 */
function hourlyCaps(maxCalls: number, maxChars: number, now: () => number) {
  let calls: { atMs: number; chars: number }[] = [];
  return {
    take(chars: number): (answerChars: number) => void {
      const atMs = now();
      calls = calls.filter((call) => atMs - call.atMs < HOUR_MS);
      if (calls.length >= maxCalls) throw new SpendingCapError(`the cap of ${maxCalls} calls an hour is reached`);
      if (calls.reduce((sum, call) => sum + call.chars, chars) > maxChars)
        throw new SpendingCapError(`the cap of ${maxChars} characters an hour is reached`);
      const call = { atMs, chars };
      calls.push(call);
      return (answerChars) => void (call.chars += answerChars);
    },
  };
}

interface Posted {
  status: number;
  text: string;
  /** There was more than is read. */
  isCut: boolean;
}

/** Sends JSON and reads at most `maxBytes` of the answer. */
async function postJson(
  address: URL,
  headers: Record<string, string>,
  body: unknown,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Posted> {
  const response = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    // The key must not be sent to the target of a redirect.
    redirect: "error",
    signal,
  });
  return { status: response.status, ...(await readAtMost(response, maxBytes)) };
}

async function readAtMost({ body }: Response, maxBytes: number): Promise<Omit<Posted, "status">> {
  if (body === null) return { text: "", isCut: false };
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = "";
  let bytes = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return { text: text + decoder.decode(), isCut: false };
    bytes += value.length;
    if (bytes > maxBytes) {
      await reader.cancel();
      return { text, isCut: true };
    }
    text += decoder.decode(value, { stream: true });
  }
}
