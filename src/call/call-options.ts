import type { AdmittedOutput } from "../admit/admit-output.ts";
import type { Recorder } from "../admit/recorder.ts";
import type { Compactor } from "../contract/compactor.ts";
import type { Limits } from "../contract/limits.ts";
import type { Policy, PruningInput } from "../contract/policy.ts";
import type { TokenCounter } from "../contract/token-counter.ts";
import type { PrepareParts } from "../prepare/parts.ts";
import type { Prepare } from "../prepare/prepare.ts";
import type { Access } from "../stages/mark/access.ts";
import type { Rule } from "../stages/recover/compile-signatures.ts";
import type { Ladder } from "../stages/recover/ladders.ts";
import type { SpillPlace } from "../stages/spill/spill.ts";

/** What a send is told. */
export interface SendContext {
  /** Aborted when the caller's is, or when the time for recovery is over. */
  signal: AbortSignal;
  /** From 1. */
  attempt: number;
  /** To be called when output has begun to stream: from then on nothing is sent again. */
  began(): void;
}

/** Sends one request: the messages go into the body, whatever the client. */
export type Send<Message, Reply> = (messages: Message[], context: SendContext) => Reply | PromiseLike<Reply>;

/** A transcript that may be replaced. */
export interface RewritableHistory {
  /** Gets all messages as they were accepted, each guarded. */
  replace(messages: unknown[]): unknown;
}

/** What may be said for one call. */
export interface CallOptions {
  /** The message format's name; it is found out where it is not said. */
  wire?: string | undefined;
  session?: string | undefined;
  /** The model's context in tokens: beats every other word on it. */
  window?: number | undefined;
  /** The model's name, by which its window is found. */
  model?: string | undefined;
  /** Stronger than the policy's. */
  pruning?: PruningInput | undefined;
  /** What is sent beside the messages (system prompt, tools): makes the estimate that of the whole request. */
  beside?: unknown;
  /** Tokens that the request reserves for the answer: some providers count them. */
  answerTokens?: number | undefined;
  /** Which rungs are taken, in order. */
  ladder?: Ladder | undefined;
  /** Summarises old turns; without it that rung is left out. */
  compactor?: Compactor | undefined;
  /** Whose images, audio and files may be left out: those in results, or those of all messages. */
  media?: "results" | "all" | undefined;
  /** The provider's name, where errors do not say it. */
  provider?: string | undefined;
  /** Signatures of one's own, asked before all others. */
  rules?: readonly Rule[] | undefined;
  signal?: AbortSignal | undefined;
  /** For recovery as a whole, from the first refusal on. */
  deadlineMs?: number | undefined;
  /** Writes what was accepted back into `history`, each message through `guard`. Nothing is rewritten without it. */
  persist?: boolean | undefined;
  history?: RewritableHistory | undefined;
}

/** Prepares, sends, and recovers what a provider refuses for its size. */
export type Call = <Message, Reply>(
  messages: readonly Message[],
  send: Send<Message, Reply>,
  options?: CallOptions,
) => Promise<Reply>;

/** One result to be brought under limits, as `admit` takes it. */
interface CallClamp {
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
