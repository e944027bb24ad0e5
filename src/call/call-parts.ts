import type { AdmittedOutput } from "../admit/admit-output.ts";
import type { Recorder } from "../admit/recorder.ts";
import type { Limits } from "../contract/limits.ts";
import type { Policy } from "../contract/policy.ts";
import type { TokenCounter } from "../contract/token-counter.ts";
import type { PrepareParts } from "../prepare/parts.ts";
import type { Prepare } from "../prepare/prepare.ts";
import type { Access } from "../stages/mark/access.ts";
import type { Rule } from "../stages/recover/compile-signatures.ts";
import type { SpillPlace } from "../stages/spill/spill.ts";

/** One result to be brought under limits, as `admit` takes it. */
export interface CallClamp {
  tool: string;
  session: string | undefined;
  call: string | undefined;
  output: unknown;
  limits: Limits;
}

/** What a call works with; nothing is looked up. */
export interface CallParts {
  policy: Policy;
  counter: TokenCounter;
  /** Loads a counter with a real vocabulary. It may fail: the package is optional. */
  exactCounter?: (() => Promise<TokenCounter>) | undefined;
  scope: string;
  access: Access;
  accessTo: PrepareParts["accessTo"];
  place: SpillPlace;
  recorder: Recorder;
  /** Signatures of the user's own, asked after those of one call. */
  rules: readonly Rule[];
  prepare: Prepare;
  admit(request: CallClamp): Promise<Pick<AdmittedOutput, "output" | "text">>;
  guard(message: unknown, options: { wire: string; session?: string | undefined }): Promise<unknown>;
  now(): number;
}
