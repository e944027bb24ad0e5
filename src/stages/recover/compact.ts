import { NUMBERS } from "../policy/defaults.ts";
import type { Rung } from "./rung.ts";

/** Has old turns summarised by a model, where the caller handed in somebody who can. */
export const compact: Rung = {
  name: "compact",
  times: NUMBERS.recoverCompactions.default,
  // What a summary leaves is not known before it is made.
  estimate: ({ canCompact, total }) => (canCompact ? { tokens: total.tokens, bytes: total.bytes } : NOTHING),
  plan: ({ targetTokens, total, targetBytes, newestTokens }) => {
    const share = Math.min(1, targetBytes / Math.max(1, total.bytes));
    const asked = Math.floor(Math.min(targetTokens, total.tokens * share));
    // The newest turn is not summarised: a later rung makes it smaller.
    return { compactTo: Math.max(asked, Math.ceil(newestTokens * NEWEST_SHARE) + SUMMARY_TOKENS) };
  },
};

/** Others weigh the newest turn by estimates of their own. */
const NEWEST_SHARE = 1.1;
/** The least that a summary of use takes. */
const SUMMARY_TOKENS = 800;

const NOTHING = { tokens: 0, bytes: 0 };
