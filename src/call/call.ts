import { SpillwayError } from "../errors.ts";
import { ladderOf } from "../stages/recover/ladders.ts";
import { CallMemory } from "./call-memory.ts";
import type { Call, CallOptions, Send } from "./call-options.ts";
import type { CallParts } from "./call-parts.ts";
import { CallRun } from "./call-run.ts";
import { countersOf } from "./call-scale.ts";

/** Makes the function that sends requests and recovers those that are refused for their size. */
export function newCall(parts: CallParts): Call {
  const memory = new CallMemory();
  const counters = countersOf(parts);
  return async (messages, send, options = {}) => {
    check(messages, send, options);
    // Off means that nothing is touched, refused or not.
    if (parts.policy.profile === "off") {
      const signal = options.signal ?? new AbortController().signal;
      return send([...messages], { signal, attempt: 1, began: () => {} });
    }
    return new CallRun(parts, memory, counters, messages, options).run(send);
  };
}

/** Options are a programmer's: what is wrong with them is thrown. */
function check(messages: readonly unknown[], send: Send<never, unknown>, options: CallOptions): void {
  if (!Array.isArray(messages)) throw new SpillwayError("bad-input", "call takes a list of messages");
  if (typeof send !== "function") throw new SpillwayError("bad-input", "call takes a function that sends");
  const { media, deadlineMs, persist, history, compactor, rules, signal, model, answerTokens } = options;
  ladderOf(options.ladder ?? "default");
  if (media !== undefined && media !== "results" && media !== "all")
    throw new SpillwayError("bad-input", `media must be "results" or "all"; got ${String(media)}`);
  if (deadlineMs !== undefined && !(deadlineMs > 0))
    throw new SpillwayError("bad-input", `deadlineMs must be over 0; got ${String(deadlineMs)}`);
  if (compactor !== undefined && typeof compactor?.compact !== "function")
    throw new SpillwayError("bad-input", "compactor needs a compact function");
  // They are asked first when a request is refused, and must not hide why it was.
  if (rules !== undefined && !(Array.isArray(rules) && rules.every((rule) => typeof rule?.signature === "object")))
    throw new SpillwayError("bad-input", "rules must be what compileSignatures gave");
  if (signal !== undefined && typeof signal?.addEventListener !== "function")
    throw new SpillwayError("bad-input", "signal must be an AbortSignal");
  if (model !== undefined && typeof model !== "string")
    throw new SpillwayError("bad-input", `model must be a name; got ${String(model)}`);
  if (answerTokens !== undefined && !(Number.isFinite(answerTokens) && answerTokens >= 0))
    throw new SpillwayError("bad-input", `answerTokens must be 0 or more; got ${String(answerTokens)}`);
  if (persist === true && typeof history?.replace !== "function")
    throw new SpillwayError("bad-input", "persist needs a history with a replace function");
}
