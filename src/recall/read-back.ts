import type { EventKind, SpillwayEvent } from "../contract/event.ts";
import type { Ledger } from "../contract/ledger.ts";
import type { Searcher } from "../contract/searcher.ts";
import type { Store } from "../contract/store.ts";
import type { TokenCounter } from "../contract/token-counter.ts";
import { SpillwayError } from "../errors.ts";
import { measureText } from "../stages/measure/estimate-tokens.ts";
import { type WholeArtifact, wholeArtifact } from "./open-artifact.ts";
import { type ReadBy, type RecallOptions, type RecallPage, recall, recallText } from "./recall.ts";
import type { RecallWant, SearchQuery } from "./recall-want.ts";
import { type SearchOptions, type SearchPage, search, searchText } from "./search.ts";
import { type SinceOptions, type SincePage, since } from "./since.ts";

/** What reading back works with. */
export interface ReadBackPorts {
  store: Store | null;
  ledger: Ledger | null;
  scope: string;
  counter: TokenCounter;
  searcher(): Promise<Searcher>;
  record(event: SpillwayEvent): Promise<void>;
  now(): number;
}

/** Reads artifacts back, and records what was read. */
export interface ReadBack {
  /** Records nothing, unless it is said who reads. */
  artifact(id: string, by?: ReadBy): Promise<WholeArtifact>;
  recall(id: string, want?: RecallWant, options?: RecallOptions): Promise<RecallPage>;
  search(id: string, query: SearchQuery, options?: SearchOptions): Promise<SearchPage>;
  since(id: string, options?: SinceOptions): Promise<SincePage>;
}

/** Makes the four ways to read back. Each throws if there is no store. */
export function newReadBack({ store, ledger, scope, counter, searcher, record, now }: ReadBackPorts): ReadBack {
  const stored = (): Store => {
    if (store !== null) return store;
    throw new SpillwayError("missing-part", "nothing is kept here: this Spillway was made with store: null");
  };
  const tell = async (
    kind: EventKind,
    id: string,
    text: string | null,
    by: ReadBy = {},
    what: { pattern?: string; literal?: boolean; lines?: readonly number[] } = {},
  ): Promise<void> => {
    // Counted for the tool whose output was read back.
    const about = await store?.find(id, scope).catch(() => null);
    const { session = null, tool = null, call = null } = about ?? {};
    const { reads = "model", readBy } = by;
    const size = text === null ? {} : { bytes: measureText(text).bytes, tokens: counter.count(text) };
    const more = { reads, ...(readBy !== undefined && { readBy }), ...size, ...what };
    await record({ kind, atMs: now(), session, tool, call, artifact: id, receipt: null, more });
  };
  return {
    async artifact(id, by) {
      const artifact = await wholeArtifact(stored(), id, scope);
      if (by !== undefined) await tell("artifact-recalled", id, null, by);
      return artifact;
    },
    async recall(id, want, options) {
      const page = await recall(stored(), id, scope, want, { searcher: await searcher(), ...options });
      await tell("artifact-recalled", id, recallText(page), options, { lines: page.lines });
      return page;
    },
    async search(id, query, options) {
      const page = await search(stored(), id, scope, query, { ...options, searcher: await searcher() });
      // Whole: part of a secret that somebody looks for would not be known as one.
      const { pattern, literal = false } = query;
      await tell("artifact-searched", id, searchText(page), options, { pattern, ...(literal && { literal }) });
      return page;
    },
    async since(id, options) {
      const page = await since({ store: stored(), ledger }, id, scope, options);
      await tell("artifact-recalled", id, page.text, options);
      return page;
    },
  };
}
