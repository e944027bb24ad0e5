import { SpillwayError } from "../errors.ts";
import { ladderOf } from "../stages/recover/ladders.ts";
import { CallMemory } from "./call-memory.ts";
import type { Call, CallOptions, Send } from "./call-options.ts";
import type { CallParts } from "./call-parts.ts";
import { CallRun } from "./call-run.ts";

/** Makes the function that sends requests and recovers those that are refused for their size. */
export function newCall(parts: CallParts): Call {
  const memory = new CallMemory();
  return async (messages, send, options = {}) => {
    check(messages, send, options);
    // Off means that nothing is touched, refused or not.
    if (parts.policy.profile === "off") {
      const signal = options.signal ?? new AbortController().signal;
      return send([...messages], { signal, attempt: 1, began: () => {} });
    }
    return new CallRun(parts, memory, messages, options).run(send);
  };
}

/** Options are a programmer's: what is wrong with them is thrown. */
function check(messages: readonly unknown[], send: Send<never, unknown>, options: CallOptions): void {
  if (!Array.isArray(messages)) throw new SpillwayError("bad-input", "call takes a list of messages");
  if (typeof send !== "function") throw new SpillwayError("bad-input", "call takes a function that sends");
  const { media, deadlineMs, persist, history } = options;
  ladderOf(options.ladder ?? "default");
  if (media !== undefined && media !== "results" && media !== "all")
    throw new SpillwayError("bad-input", `media must be "results" or "all"; got ${String(media)}`);
  if (deadlineMs !== undefined && !(deadlineMs > 0))
    throw new SpillwayError("bad-input", `deadlineMs must be over 0; got ${String(deadlineMs)}`);
  if (persist === true && typeof history?.replace !== "function")
    throw new SpillwayError("bad-input", "persist needs a history with a replace function");
}
