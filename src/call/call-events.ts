import type { EventKind } from "../contract/event.ts";
import type { Verdict } from "../contract/verdict.ts";
import type { CallParts } from "./call-parts.ts";
import type { Draft } from "./draft.ts";

/** Tells what happened to one request. */
export async function tellCall(
  { recorder, now }: CallParts,
  session: string | undefined,
  kind: EventKind,
  more: Record<string, unknown>,
): Promise<void> {
  const about = { session: session ?? null, tool: null, call: null, artifact: null, receipt: null };
  await recorder.event({ kind, atMs: now(), ...about, more });
}

/** The part of a verdict that an event carries. */
export function aboutVerdict({ kind, rule, provider, observedTokens, limitTokens, evidence }: Verdict) {
  return {
    kind,
    rule,
    provider,
    observedTokens: observedTokens ?? null,
    limitTokens: limitTokens ?? null,
    evidence,
  };
}

/** A draft's size, by our estimate. */
export function sizeOf({ total }: Draft) {
  return { estimatedTokens: total.tokens, bytes: total.bytes };
}
