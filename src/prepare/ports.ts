import type { AdmittedOutput } from "../admit/admission.ts";
import type { Intent } from "../admit/intent.ts";
import type { KnownTexts } from "../admit/known-texts.ts";
import type { Recorder } from "../admit/recorder.ts";
import type { Ledger } from "../contract/ledger.ts";
import type { Policy, PruningInput, ToolPolicy } from "../contract/policy.ts";
import type { Artifact } from "../contract/store.ts";
import type { TokenCounter } from "../contract/token-counter.ts";
import type { Breaker } from "../deadline.ts";
import type { Access } from "../stages/mark/access.ts";
import type { SpillPlace } from "../stages/spill/spill.ts";

/** What may be said for one request. */
export interface PrepareOptions {
  /** The message format's name; it is found out where it is not said. */
  wire?: string | undefined;
  session?: string | undefined;
  /** The model's context in tokens: beats every other word on it. */
  window?: number | undefined;
  /** The model's name, by which its window is found. */
  model?: string | undefined;
  /** Stronger than the policy's. */
  pruning?: PruningInput | undefined;
  /** How the reader of this request's markers gets at the rest, where that is not as for the others. */
  reader?: Exclude<Access, { by: "file" }> | undefined;
  /** What is sent besides the messages (system prompt, tools). With it, the weight is that of the whole request. */
  systemAndTools?: unknown;
  /** An older name of `systemAndTools`, which wins if both are there. */
  beside?: unknown;
  /** The program that sends the request: events name it. */
  agent?: string | undefined;
  /**
   * Which results that no model has seen yet are recorded: those that are cut, or all. "all" is for requests of others,
   * whose tools do not run here; results that came through `admit` would be counted twice.
   */
  records?: "cut" | "all" | undefined;
}

/** The request that a result came in, as events name it. */
export interface RequestVia {
  wire?: string | undefined;
  model?: string | undefined;
  agent?: string | undefined;
}

/** One result to be brought under limits, as `admit` takes it. */
export interface ResultRequest {
  tool: string;
  session: string | undefined;
  call: string | undefined;
  output: unknown;
  /** What the tool was called with. */
  command?: string | undefined;
  args?: unknown;
  /** The last words before it. */
  intent?: Intent | undefined;
  via: RequestVia;
  limits?: { maxChars: number };
  /** Does not wait until it is recorded. */
  isRecordedLater?: boolean;
  reader?: PrepareOptions["reader"];
}

/** Locks a text with a key of 64 hex digits; only who has the key can read it. */
export interface Seal {
  close(key: string, text: string): string;
  /** Throws where the key is another or the text was changed. */
  open(key: string, sealed: string): string;
}

/** What preparing works with; nothing is looked up. */
export interface PreparePorts {
  policy: Policy;
  counter: TokenCounter;
  scope: string;
  /** How the reader of a marker gets at the rest, and at that of one artifact. */
  access: Access;
  accessTo(artifact: Pick<Artifact, "id" | "session" | "tool">): Promise<Access>;
  place: SpillPlace;
  knownTexts: KnownTexts;
  ledger: Ledger | null;
  /** The ledger's. */
  breaker: Breaker;
  deadlineMs: number;
  recorder: Recorder;
  resolve(tool: string): ToolPolicy;
  admit(request: ResultRequest): Promise<Omit<AdmittedOutput, "totalChars">>;
  /** What made an output, without secrets. */
  safeMade(made: { command?: string; args?: unknown }): Promise<{ command: string | null; folder: string | null }>;
  sha256(text: string): string;
  seal: Seal;
  now(): number;
}

/** The same ports for a request whose reader is another. */
export function readBy<Request, Result, Ports extends ReadByPorts<Request, Result>>(
  ports: Ports,
  reader: NonNullable<PrepareOptions["reader"]>,
): Ports {
  return {
    ...ports,
    access: reader,
    accessTo: async () => reader,
    admit: (request: Request) => ports.admit({ ...request, reader }),
  };
}

interface ReadByPorts<Request, Result> extends Pick<PreparePorts, "access" | "accessTo"> {
  admit(request: Request & Pick<PrepareOptions, "reader">): Promise<Result>;
}
