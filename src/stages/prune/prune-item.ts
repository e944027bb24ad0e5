import type { Weight } from "./weight.ts";

/** How far a result's form is from the result itself. Forms only grow in this. */
export const STEP = { whole: 0, clamped: 1, trimmed: 2, cleared: 3 } as const;

/** A result as pruning sees it. */
export interface PruneItem {
  /** Its message's place in the request. */
  message: number;
  tool: string;
  isError: boolean;
  /** It holds images, audio or files, or is not ours to change: never trimmed or cleared. */
  untouchable: boolean;
  /** The same file was read again later. */
  superseded: boolean;
  /** What a model is shown now. */
  shown: Weight;
  step: number;
}

/** A request as pruning sees it. */
export interface PruneFrame<Item extends PruneItem = PruneItem> {
  /** All results, in order. */
  items: readonly Item[];
  /** Where assistants speak, in order. */
  assistants: readonly number[];
  /** The first message of a user; null if there is none. */
  firstUser: number | null;
  messages: number;
  /** All that is sent, as shown now. */
  total: Weight;
  windowTokens: number;
  /** What the item would take trimmed; null if it is not over the size from which results are trimmed. */
  afterTrim(item: Item): Weight | null;
  afterClear(item: Item): Weight;
}

/** One result to be shown shorter. */
export interface PruneCut<Item extends PruneItem = PruneItem> {
  item: Item;
  to: "trimmed" | "cleared";
}
