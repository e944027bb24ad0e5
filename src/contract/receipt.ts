import type { ExplainedBlock } from "./cut.ts";
import type { Limits, Unit } from "./limits.ts";
import type { Extent, Size } from "./size.ts";

/** How much of an artifact is durable. */
export type Saved = "yes" | "local" | "partial" | "no";

/** A stretch of source lines that is not shown. */
export interface ReceiptCut {
  fromLine: number;
  toLine: number;
  bytes: number;
  /** Which text of a structured result, from 0. */
  block?: number;
}

/** What happened to one output: kept + folded + redacted + omitted = total, in source bytes and in source lines. */
export interface Receipt {
  tool: string;
  session: string | null;
  call: string | null;
  strategy: string;
  /** What sort of output the strategy was chosen for, where it was chosen. */
  kind?: string;
  total: Extent;
  kept: Extent;
  folded: Extent;
  redacted: Extent;
  omitted: Extent;
  /** What the model got, markers included: limits bind this. */
  shown: Size;
  /** Units of `shown` that were estimated, not counted. */
  estimated: Unit[];
  limits: Limits;
  cutBy: Unit | null;
  cuts: ReceiptCut[];
  /** Cuts beyond those listed. */
  moreCuts: number;
  artifact: string | null;
  /** All of them, where several texts of a structured result were cut. */
  artifacts?: string[];
  /** The artifact that is the output as it came, where what is shown was made of it (a web page as text). */
  original?: string;
  /** The hash of what is stored. */
  sha256: string | null;
  /** Null when nothing had to be saved: nothing was held back, and no byte is shown as U+FFFD. */
  saved: Saved | null;
  savedBytes: number;
  exitCode: number | null;
  /** Secrets replaced in the artifact; what the model got has none replaced unless `redacted` says so. */
  storedRedactions?: { count: number; bytes: number };
  /** A model's summary is shown in place of the output; all of the output is omitted. */
  summarized?: true;
  summaryModel?: string;
  /** The length of what was summarised, in UTF-16 units. */
  originalChars?: number;
  /** The output was binary: described, not shown. */
  binary?: string;
  /** How much of what is omitted the strategy only took a quick look at, because there was so much. */
  unscanned?: Extent;
  /** What was kept and dropped and why, if that was asked for. */
  explained?: ExplainedBlock[];
  /** Faults of ours or of the source that the agent was spared. */
  faults?: string[];
}
