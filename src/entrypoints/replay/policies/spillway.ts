import type { PruningInput } from "../../../contract/policy.ts";
import type { Pruner, ReplayInput, ReplayPolicy } from "./policy.ts";

/** `prepare` with its defaults. */
export const ours: ReplayPolicy = {
  name: "ours",
  rule: "spillway.prepare: old results, images in them and long call arguments are trimmed, then cleared, in rare large steps, each saved and named with its recall line",
  source: "docs/guide/pruning.md",
  // The recorded results were admitted by the host when they were new, so they are not clamped again.
  start: (parts) => startPrepare(parts, true, { insure: false, cacheTtlMs: parts.cacheTtlMs }),
};

/** A plain form of the same pruning: each request by itself, a token counted as four characters, and no store. */
export const eachRequest: ReplayPolicy = {
  name: "each-request",
  rule: "over 0.3 of the window results over 4,000 characters are trimmed, over 0.5 the oldest are cleared, for each request anew",
  source: "openclaw docs/concepts/session-pruning.md, 2026-01",
  start: (parts) =>
    startPrepare(parts, false, {
      sticky: false,
      estimate: "chars/4",
      callArguments: false,
      media: "off",
      insure: false,
    }),
};

async function startPrepare(parts: ReplayInput, keeps: boolean, pruning: PruningInput): Promise<Pruner> {
  const { recorded, windowTokens, makeSpillway } = parts;
  let nowMs = 0;
  const spillway = await makeSpillway({
    keeps,
    reader: { by: "tool", recall: "recall", search: "search" },
    now: () => nowMs,
  });
  return async (end, atMs) => {
    nowMs = atMs ?? nowMs;
    const { messages, report } = await spillway.prepare(recorded.messages.slice(0, end), {
      wire: recorded.wire.name,
      window: windowTokens,
      pruning,
    });
    if (report.faults.length > 0) throw new Error(report.faults.join("; "));
    return messages;
  };
}
