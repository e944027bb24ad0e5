import type { Summarize } from "../admit/admit-output.ts";
import type { Recorder } from "../admit/recorder.ts";
import type { Redaction } from "../admit/redaction.ts";
import type { Compactor } from "../contract/compactor.ts";
import type { ModelClient } from "../contract/model-client.ts";
import type { Artifact } from "../contract/store.ts";
import type { TokenCounter } from "../contract/token-counter.ts";
import type { Access } from "../stages/mark/access.ts";
import { summarizerFromEnvironment } from "../stages/policy/policy-from-environment.ts";
import type { Breaker } from "../stages/spill/breaker.ts";
import type { SpillPlace } from "../stages/spill/spill.ts";
import type { BookCost } from "../summarize/spending.ts";
import type { SpillwayPorts } from "./ports.ts";

/** What summaries are made with, beside the model. */
export interface CondensingPorts {
  place: SpillPlace;
  access: (artifact: Artifact) => Access | Promise<Access>;
  scope: string;
  counter: TokenCounter;
  breaker: Breaker;
  maxInputChars: number;
  recorder: Recorder;
  now(): number;
}

/** Summaries of outputs and of conversations, loaded with the first one. */
export interface Condensing {
  summarize: Summarize;
  compactor: Compactor;
}

/** Makes summaries with one client, so that its caps hold for both; null if nobody named a model. */
export function newCondensing(
  { summarizer, openModel, redaction, env = {} }: Pick<SpillwayPorts, "summarizer" | "openModel" | "redaction" | "env">,
  ports: CondensingPorts,
): Condensing | null {
  const source = summarizer ?? summarizerFromEnvironment(env);
  if (source === null) return null;
  let opened: Promise<Condensing> | undefined;
  const open = () => (opened ??= load(ports, openModel(source), redaction));
  return {
    summarize: async (ended, kept, about) => (await open()).summarize(ended, kept, about),
    compactor: { compact: async (input) => (await open()).compactor.compact(input) },
  };
}

async function load(
  ports: CondensingPorts,
  opening: Promise<ModelClient>,
  redaction: Redaction | null,
): Promise<Condensing> {
  const [{ newSummarize }, { newCompactor }, client] = await Promise.all([
    import("../summarize/summarize-output.ts"),
    import("../summarize/compactor.ts"),
    opening,
  ]);
  const { recorder, now } = ports;
  const bookCost: BookCost = ({ session, tool, call, ...more }) =>
    recorder.event({ kind: "summary-paid", atMs: now(), session, tool, call, artifact: null, receipt: null, more });
  const loadRedact = redaction === null ? null : () => redaction.loadText();
  return {
    summarize: newSummarize({ ...ports, client, store: ports.place.store, bookCost }),
    compactor: newCompactor({ ...ports, client, loadRedact, bookCost }),
  };
}
