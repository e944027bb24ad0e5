import type { AdmittedOutput } from "../admit/admission.ts";
import type { Recorder } from "../admit/recorder.ts";
import type { Compactor } from "../contract/compactor.ts";
import type { Limits } from "../contract/limits.ts";
import type { Policy } from "../contract/policy.ts";
import type { TokenCounter } from "../contract/token-counter.ts";
import type { PrepareOptions, PreparePorts, ResultRequest } from "../prepare/ports.ts";
import type { Preparing } from "../prepare/prepare.ts";
import type { PruneReport } from "../prepare/report.ts";
import type { Access } from "../stages/mark/access.ts";
import type { Rule } from "../stages/recover/compile-signatures.ts";
import type { Ladder } from "../stages/recover/ladders.ts";
import type { SpillPlace } from "../stages/spill/spill.ts";

/** What the caller's send function gets besides the messages. */
export interface SendContext {
  /** Aborts with the caller's signal, or when the time for recovery is over. */
  signal: AbortSignal;
  /** Counts from 1. */
  attempt: number;
  /** The most that the request may reserve for the answer, after a refusal for that. Null if it may stay as it is. */
  answerTokens: number | null;
  /** Call it when output has begun to stream. After that nothing is sent again. */
  began(): void;
}

/** Sends one request. The messages go into its body; any client will do. */
export type Send<Message, Reply> = (messages: Message[], context: SendContext) => Reply | PromiseLike<Reply>;

/** A transcript that may be replaced. */
export interface RewritableHistory {
  /** Gets all messages as they were accepted, each guarded. */
  replace(messages: unknown[]): unknown;
}

/** Options of one call. */
export interface CallOptions extends PrepareOptions {
  /** Told what the request is before it is sent, and what was made shorter in it. */
  onPrepared?: ((report: PruneReport) => void) | undefined;
  /** How many tokens the request reserves for the answer. Some providers count them. */
  answerTokens?: number | undefined;
  /** True if `send` reserves no more than `context.answerTokens`. Then a reservation that is too large is lowered. */
  lowersAnswer?: boolean | undefined;
  /** Says which rungs are taken, in order. */
  ladder?: Ladder | undefined;
  /** Summarises old turns. If it is absent, that rung is left out. */
  compactor?: Compactor | undefined;
  /** Says which images, audio and files may be left out: those in results, or those of all messages. */
  media?: "results" | "all" | undefined;
  /**
   * Says what is done with a complete answer whose usage says that the provider did not read the whole request. It is
   * kept, unless "resend" asks for a smaller request and a second answer. Usage is wrong more often than answers are.
   */
  whenPartlyRead?: "keep" | "resend" | undefined;
  /** The provider's name, used if errors do not say it. */
  provider?: string | undefined;
  /** The caller's own signatures. They are tried before all others. */
  rules?: readonly Rule[] | undefined;
  signal?: AbortSignal | undefined;
  /**
   * How long a fetch Response is looked at before it is passed on: a minute if this is absent. Its body may stall, and the
   * look must not keep it from the caller.
   */
  lookMs?: number | undefined;
  /** The time for the whole recovery, from the first refusal on. */
  deadlineMs?: number | undefined;
  /**
   * If true, writes what was accepted back into `history`, each message through `guard`. Otherwise nothing is
   * rewritten.
   */
  persist?: boolean | undefined;
  history?: RewritableHistory | undefined;
}

/** Prepares and sends a request, and recovers it if the provider refuses it for its size. */
export type Call = <Message, Reply>(
  messages: readonly Message[],
  send: Send<Message, Reply>,
  options?: CallOptions,
) => Promise<Reply>;

type TriedCut = Pick<AdmittedOutput, "output" | "text"> & { record(): Promise<unknown> };

/** What a call needs. Nothing is looked up. */
export interface CallPorts {
  policy: Policy;
  counter: TokenCounter;
  /** Loads a counter with a real vocabulary. It may fail, because the package is optional. */
  exactCounter?: (() => Promise<TokenCounter>) | undefined;
  scope: string;
  access: Access;
  accessTo: PreparePorts["accessTo"];
  safeMade: PreparePorts["safeMade"];
  place: SpillPlace;
  recorder: Recorder;
  /** The user's own signatures. They are tried after those of one call. */
  rules: readonly Rule[];
  open: Preparing["open"];
  /** Its event is recorded only when `record` is called: most cuts are tries that are never sent. */
  admit(request: Omit<ResultRequest, "via" | "limits"> & { limits: Limits }): Promise<TriedCut>;
  guard(message: unknown, options: { wire: string; session?: string | undefined }): Promise<unknown>;
  now(): number;
}
