import type { HtmlReader } from "../contract/html-reader.ts";
import type { Limits } from "../contract/limits.ts";
import type { Artifact, ArtifactAbout } from "../contract/store.ts";
import type { KnownLines } from "../contract/strategy.ts";
import type { Access } from "../stages/mark/access.ts";
import type { Logger } from "../stages/record/events.ts";
import type { SpillPlace } from "../stages/spill/spill.ts";
import type { AdmitPlan, Ended, Summary } from "./admission.ts";
import type { AdmitRequest } from "./admit-request.ts";
import type { KnownText, KnownTexts } from "./known-texts.ts";
import type { ModelView } from "./model-view.ts";
import type { Recorder } from "./recorder.ts";
import type { Redaction } from "./redaction.ts";

/** What admitting works with; nothing is looked up. */
export interface AdmitPorts {
  /** Decides everything about one output. Throws if the request is a mistake. */
  planFor(request: AdmitRequest): AdmitPlan;
  place: SpillPlace;
  /** How the reader of a marker gets at an artifact. */
  accessTo(artifact: Artifact): Promise<Access>;
  knownTexts: KnownTexts;
  redaction: Redaction | null;
  /** A tool's name as it may be stored and logged. */
  safeName(name: string): string | Promise<string>;
  summarize: Summarize | undefined;
  lastGood?: ((made: Pick<ArtifactAbout, "command" | "folder" | "session">) => Promise<KnownLines | null>) | undefined;
  loadHtmlReader: LoadHtmlReader | undefined;
  recorder: Recorder;
  logger: Logger | undefined;
  /** What the host would cut every output to without us. */
  hostLimits: Limits | undefined;
  /** What is wrong with the store from the start: told on each receipt of an output that was saved. */
  placeFaults: readonly string[];
}

/** What one output passes with. */
export interface OutputPorts {
  place: SpillPlace;
  /** What a store is told of the output. */
  about: ArtifactAbout;
  access: (artifact: Artifact) => Access | Promise<Access>;
  knownTexts: KnownTexts;
  /** Replaces secrets in what the model reads, if that is asked for. */
  loadView: (() => Promise<ModelView>) | null;
  /** Makes text of web pages. Without it they are cut as they are. */
  loadHtmlReader?: LoadHtmlReader | undefined;
  /** Puts a summary in place of a clamp, if a model is at hand. */
  summarize?: Summarize | undefined;
  lastGood?: AdmitPorts["lastGood"];
  /** How a command ended, if that is only known once its output has come. */
  exit?: PromiseLike<number | null> | undefined;
}

/** Loads what makes text of web pages. */
export type LoadHtmlReader = () => Promise<HtmlReader>;

/** Never throws. Null: the clamp shows everything. */
export type Summarize = (ended: Ended, kept: KnownText, about: ArtifactAbout) => Promise<Summary | null>;
