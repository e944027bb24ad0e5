import type { Call, CallOptions, CallPorts, RewritableHistory, Send, SendContext } from "../call/call-options.ts";
import type { Compacted, CompactInput, Compactor } from "../contract/compactor.ts";
import type { Ladder, RungName } from "../stages/recover/ladders.ts";
import type { Rung, RungCut, RungItem, RungMedia, RungPlan, RungRequest } from "../stages/recover/rung.ts";
import { checkCall } from "./check-options.ts";

export type {
  Call,
  CallOptions,
  Compacted,
  CompactInput,
  Compactor,
  Ladder,
  RewritableHistory,
  Rung,
  RungCut,
  RungItem,
  RungMedia,
  RungName,
  RungPlan,
  RungRequest,
  Send,
  SendContext,
};

/** Calls, loaded with the first one. Conversations are summarised by `compactor` where a call names no other. */
export function lazyCall(ports: CallPorts, compactor?: Compactor): Call {
  let loading: Promise<Call> | undefined;
  return async (messages, send, options) => {
    checkCall(options);
    loading ??= import("../call/call-run.ts").then(({ newCall }) => newCall(ports));
    return (await loading)(messages, send, compactor === undefined ? options : { compactor, ...options });
  };
}
