import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import { langchain } from "./langchain.ts";
import { lastTen } from "./last-ten.ts";
import { none } from "./none.ts";
import { opencode } from "./opencode.ts";
import type { ReplayPolicy } from "./policy.ts";
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
