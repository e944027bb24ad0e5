import { gemini } from "./gemini.ts";
import type { ReplayPolicy } from "./policy.ts";
import { anthropic, langchain, lastTen, none, opencode } from "./rules.ts";
import { eachRequest, ours } from "./spillway.ts";

/** Every policy that conversations can be replayed under. */
export const policies: readonly ReplayPolicy[] = [
  none,
  ours,
  opencode,
  gemini,
  anthropic,
  langchain,
  eachRequest,
  lastTen,
];
