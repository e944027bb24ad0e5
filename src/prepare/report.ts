import type { PruningPolicy } from "../contract/policy.ts";
import type { Triggers } from "../stages/prune/plan-steps.ts";
import type { ResolvedWindow } from "../stages/prune/resolve-window.ts";
import type { Weight } from "../stages/prune/weight.ts";

/** A result, the long strings of a call, or media outside results, shown shorter from this request on. */
export interface PruneChange {
  of: "result" | "call" | "media";
  /** Its message's place in the request. */
  message: number;
  tool: string;
  call: string | null;
  /** insured: over its tool's limits, and not through `admit`. batched: its share of what came together. */
  to: "insured" | "batched" | "trimmed" | "cleared";
  fromChars: number;
  toChars: number;
  artifact: string | null;
}

/** What was done to a request, and why not more. */
export interface PruneReport {
  /** The message format; null if it was not told and could not be: then nothing was changed. */
  wire: string | null;
  mode: PruningPolicy["mode"];
  window: ResolvedWindow;
  /** All that is sent, before this call's changes and after them. Tokens and bytes are estimates. */
  before: Weight;
  after: Weight;
  /** The parts of `after` that are no message, and that results take. */
  afterParts: { systemAndToolsTokens: number; resultTokens: number };
  /** `after` against the window. */
  ratio: number;
  /** In one sentence. */
  why: string;
  triggers: Triggers;
  results: {
    total: number;
    /** In a form that an earlier request had. */
    replayed: number;
    insured: number;
    batched: number;
    trimmed: number;
    cleared: number;
  };
  /** Calls with long strings in their arguments. */
  calls: { total: number; replayed: number; trimmed: number; cleared: number };
  /** Images, audio and files, in results and outside them; and those of them that are left out. */
  media: { total: number; leftOut: number };
  /** What changed with this request. */
  changes: PruneChange[];
  /** Changes beyond those listed. */
  moreChanges: number;
  /** Parts of messages that could not be read; they were passed on as they came. */
  malformed: number;
  warnings: string[];
  /** Faults that the agent was spared. */
  faults: string[];
}

/** A request ready to be sent. */
export interface Prepared<Message> {
  /** The array that came if nothing changed; messages that did not change are the same objects in any case. */
  messages: Message[];
  report: PruneReport;
}
