import type { Verdict } from "../contract/verdict.ts";
import { type ClassifyOptions, classify } from "../stages/recover/classify.ts";
import type { Rule } from "../stages/recover/compile-signatures.ts";
import { peekResponse } from "../stages/recover/peek-response.ts";
import { fieldOf } from "../stages/recover/read-evidence.ts";
import type { CallOptions, Send } from "./call-options.ts";
import type { Draft } from "./draft.ts";

/** What came of one send: an answer, or a refusal with what carried it. */
export type Outcome<Reply> =
  | {
      isDone: true;
      reply: Reply;
      /** The request's tokens by the provider's count, where the answer says it. */
      inputTokens: number | null;
    }
  | {
      isDone: false;
      verdict: Verdict;
      /** What was thrown, or the answer that carries it. */
      cause: unknown;
      /** Null if it was thrown. A silent one is an answer all the same, though the provider lost part of what it was sent. */
      answer: { reply: Reply; isSilent: boolean } | null;
    };

/** An outcome that is no answer. */
export type Refusal<Reply> = Exclude<Outcome<Reply>, { isDone: true }>;

/** What is known beside a refusal, and beside an answer: that something was lost is only believed if it surely was. */
export interface Classifying {
  refusal: ClassifyOptions;
  answer: ClassifyOptions;
}

/** What is known when a draft is sent; `windowTokens` where somebody said what the window is. */
export function classifyingOf(
  { provider, rules: own = [] }: CallOptions,
  more: readonly Rule[],
  windowTokens: number | null,
  draft: Draft | null,
  besideTokens: number,
): Classifying {
  const rules = [...own, ...more];
  const known = {
    ...(provider !== undefined && { provider }),
    ...(rules.length > 0 && { rules }),
    ...(windowTokens !== null && { window: windowTokens }),
  };
  if (draft === null) return { refusal: known, answer: known };
  const { leastTokens, total } = draft;
  return {
    refusal: { ...known, estimatedTokens: total.tokens + besideTokens },
    answer: leastTokens === null ? known : { ...known, estimatedTokens: leastTokens },
  };
}

/** Kinds that less helps against. */
const TOO_LARGE = new Set<Verdict["kind"]>(["context-overflow", "payload-too-large", "request-ceiling"]);

/** Of an answer only these are looked at: never what it says. */
const ABOUT_ANSWER = [
  "usage",
  "usageMetadata",
  "usage_metadata",
  "stop_reason",
  "finish_reason",
  "finishReason",
  "stopReason",
  "incomplete_details",
];

/** Sends once. What is not about size is thrown as it came. */
export async function attemptSend<Message, Reply>(
  send: Send<Message, Reply>,
  messages: Message[],
  { signal, attempt }: { signal: AbortSignal; attempt: number },
  { refusal, answer }: Classifying,
): Promise<Outcome<Reply>> {
  let hasBegun = false;
  signal.throwIfAborted();
  let reply: Reply;
  try {
    const began = () => {
      hasBegun = true;
    };
    reply = await untilAborted(Promise.resolve(send(messages, { signal, attempt, began })), signal);
  } catch (error) {
    if (hasBegun || signal.aborted) throw error;
    const verdict = classify(error, refusal);
    if (!TOO_LARGE.has(verdict.kind)) throw error;
    return { isDone: false, verdict, cause: error, answer: null };
  }
  if (hasBegun) return { isDone: true, reply, inputTokens: null };
  if (isResponse(reply)) {
    const verdict = await untilAborted(peekResponse(reply, reply.ok ? answer : refusal), signal).catch((error) => {
      discard(reply);
      throw error;
    });
    signal.throwIfAborted();
    if (!TOO_LARGE.has(verdict.kind))
      return { isDone: true, reply, inputTokens: reply.ok ? readTokens(verdict) : null };
    return { isDone: false, verdict, cause: reply, answer: { reply, isSilent: isSilent(verdict) } };
  }
  const verdict = verdictOnAnswer(reply, answer);
  if (verdict === null || !TOO_LARGE.has(verdict.kind))
    return { isDone: true, reply, inputTokens: readTokens(verdict) };
  return { isDone: false, verdict, cause: reply, answer: { reply, isSilent: isSilent(verdict) } };
}

function readTokens(verdict: Verdict | null): number | null {
  return verdict?.observedTokens ?? null;
}

const SILENT = new Set(["usage-over-window", "empty-at-full-window", "truncated-by-server"]);

function isSilent({ rule }: Verdict): boolean {
  return rule !== null && SILENT.has(rule);
}

function verdictOnAnswer(reply: unknown, options: ClassifyOptions): Verdict | null {
  if (typeof reply !== "object" || reply === null) return null;
  const about: Record<string, unknown> = {};
  for (const name of ABOUT_ANSWER) {
    const value = fieldOf(reply, name);
    if (value !== undefined && typeof value !== "function" && !isPromise(value)) about[name] = value;
  }
  // Why a choice ended stands inside it.
  const choices = fieldOf(reply, "choices") ?? fieldOf(reply, "candidates");
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  if (typeof first === "object" && first !== null) {
    about.choices = [{ finish_reason: fieldOf(first, "finish_reason") ?? fieldOf(first, "finishReason") }];
  }
  const error = fieldOf(reply, "error");
  if (fieldOf(reply, "status") === "failed" && typeof error === "object") about.error = error;
  return Object.keys(about).length === 0 ? null : classify(about, options);
}

function isPromise(value: unknown): boolean {
  return typeof value === "object" && value !== null && typeof fieldOf(value, "then") === "function";
}

function isResponse(value: unknown): value is Response {
  if (typeof Response === "function" && value instanceof Response) return true;
  if (typeof value !== "object" || value === null) return false;
  const headers = fieldOf(value, "headers");
  return (
    typeof fieldOf(value, "status") === "number" &&
    typeof fieldOf(value, "clone") === "function" &&
    typeof headers === "object" &&
    headers !== null &&
    typeof fieldOf(headers, "get") === "function"
  );
}

/** A refusal handed on: nothing can be done for messages in an unknown format. */
export function asItCame<Reply>({ answer, cause }: Refusal<Reply>): Reply {
  if (answer === null) throw cause;
  return answer.reply;
}

/** Lets go of an answer that is not handed on. */
export function discard(cause: unknown): void {
  // Others' responses have bodies of another kind.
  if (isResponse(cause) && typeof cause.body?.cancel === "function") void cause.body.cancel().catch(() => {});
}

/** Ends when the signal does, even if the work does not heed it. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    signal.throwIfAborted();
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
    work.catch(() => {});
  }
}
