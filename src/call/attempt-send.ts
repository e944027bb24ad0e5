import type { Verdict } from "../contract/verdict.ts";
import { untilAborted } from "../deadline.ts";
import { type ClassifyOptions, classify } from "../stages/recover/classify.ts";
import type { Rule } from "../stages/recover/compile-signatures.ts";
import { peekResponse } from "../stages/recover/peek-response.ts";
import { fieldOf } from "../stages/recover/read-evidence.ts";
import { isPromise } from "../values.ts";
import type { CallOptions, Send, SendContext } from "./call-options.ts";
import type { Draft } from "./draft.ts";

/** The outcome of one send: an answer, or a refusal with what carried it. */
export type Outcome<Reply> =
  | {
      isDone: true;
      reply: Reply;
      /** The request's tokens by the provider's count, or null if the answer does not say them. */
      inputTokens: number | null;
      /** Why the provider may not have read the whole request, although the answer is complete. */
      doubt?: Verdict;
    }
  | {
      isDone: false;
      verdict: Verdict;
      /** What was thrown, or the answer that carries the refusal. */
      cause: unknown;
      /**
       * Null if the refusal was thrown. A silent refusal is still an answer, although the provider lost part of the
       * request.
       */
      answer: { reply: Reply; isSilent: boolean } | null;
    };

/** An outcome that is a refusal. */
export type Refusal<Reply> = Exclude<Outcome<Reply>, { isDone: true }>;

/** What is known when a refusal or an answer is classified. An answer counts as lossy only if that is certain. */
export interface Classifying {
  refusal: ClassifyOptions;
  answer: ClassifyOptions;
  /** True if a complete answer is given up when its usage says that the request was not read whole. */
  resends: boolean;
  /** How long a response is looked at. */
  lookMs?: number | undefined;
}

/** Returns what is known when a draft is sent. `windowTokens` is null if nobody said what the window is. */
export function classifyingOf(
  { provider, rules: own = [], whenPartlyRead, lookMs }: CallOptions,
  more: readonly Rule[],
  windowTokens: number | null,
  draft: Draft | null,
  systemAndToolsTokens: number,
): Classifying {
  const rules = [...own, ...more];
  const known = {
    ...(provider !== undefined && { provider }),
    ...(rules.length > 0 && { rules }),
    ...(windowTokens !== null && { window: windowTokens }),
  };
  const resends = whenPartlyRead === "resend";
  if (draft === null) return { refusal: known, answer: known, resends, lookMs };
  const { leastTokens, total } = draft;
  return {
    refusal: { ...known, estimatedTokens: total.tokens + systemAndToolsTokens },
    answer: leastTokens === null ? known : { ...known, estimatedTokens: leastTokens },
    resends,
    lookMs,
  };
}

/** The kinds of refusal against which a smaller request helps. */
const TOO_LARGE = new Set<Verdict["kind"]>(["context-overflow", "payload-too-large", "request-ceiling"]);

/** The only fields of an answer that are read. They never hold what the answer says. */
const ABOUT_ANSWER = [
  "usage",
  "usageMetadata",
  "usage_metadata",
  "stop_reason",
  "finish_reason",
  "finishReason",
  "stopReason",
  "incomplete_details",
  "base_resp",
];

/** Sends once. An error that is not about size is thrown unchanged. */
export async function attemptSend<Message, Reply>(
  send: Send<Message, Reply>,
  messages: Message[],
  { signal, attempt, answerTokens }: Omit<SendContext, "began">,
  known: () => Classifying,
): Promise<Outcome<Reply>> {
  let hasBegun = false;
  signal.throwIfAborted();
  let reply: Reply;
  try {
    const began = () => {
      hasBegun = true;
    };
    reply = await untilAborted(Promise.resolve(send(messages, { signal, attempt, answerTokens, began })), signal);
  } catch (error) {
    if (hasBegun || signal.aborted) throw error;
    const verdict = classify(error, known().refusal);
    if (!TOO_LARGE.has(verdict.kind)) throw error;
    return { isDone: false, verdict, cause: error, answer: null };
  }
  if (hasBegun) return { isDone: true, reply, inputTokens: null };
  const { refusal, answer, resends, lookMs } = known();
  const isKept = ({ isComplete }: Verdict) => isComplete === true && !resends;
  if (isResponse(reply)) {
    const look = peekResponse(reply, reply.ok ? answer : refusal, lookMs);
    const verdict = await untilAborted(look, signal).catch((error) => {
      discard(reply);
      throw error;
    });
    signal.throwIfAborted();
    if (!TOO_LARGE.has(verdict.kind))
      return { isDone: true, reply, inputTokens: reply.ok ? readTokens(verdict) : null };
    if (isKept(verdict)) return { isDone: true, reply, inputTokens: null, doubt: verdict };
    return { isDone: false, verdict, cause: reply, answer: { reply, isSilent: isSilent(verdict) } };
  }
  const verdict = verdictOnAnswer(reply, answer);
  if (verdict === null || !TOO_LARGE.has(verdict.kind))
    return { isDone: true, reply, inputTokens: readTokens(verdict) };
  if (isKept(verdict)) return { isDone: true, reply, inputTokens: null, doubt: verdict };
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
  // The reason why a choice ended is inside the choice.
  const choices = fieldOf(reply, "choices") ?? fieldOf(reply, "candidates");
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  if (typeof first === "object" && first !== null) {
    about.choices = [{ finish_reason: fieldOf(first, "finish_reason") ?? fieldOf(first, "finishReason") }];
  }
  const error = fieldOf(reply, "error");
  if (fieldOf(reply, "status") === "failed" && typeof error === "object") about.error = error;
  return Object.keys(about).length === 0 ? null : classify(about, options);
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

/**
 * Returns or throws a refusal as it came. It is used if the format of the messages is not known, because nothing can be
 * done then.
 */
export function asItCame<Reply>({ answer, cause }: Refusal<Reply>): Reply {
  if (answer === null) throw cause;
  return answer.reply;
}

/** Releases an answer that is not passed on. */
export function discard(cause: unknown): void {
  // Responses of other libraries may have another kind of body.
  if (isResponse(cause) && typeof cause.body?.cancel === "function") void cause.body.cancel().catch(() => {});
}
