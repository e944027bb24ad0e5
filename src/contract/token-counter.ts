/** Counts tokens. Contract: pure, never throws, and `count` never falls when text is appended. */
export interface TokenCounter {
  name: string;
  /** False for an estimate: receipts then name tokens in `estimated`. */
  exact: boolean;
  /** No token of this counter is longer: lets a clamp know how many bytes a token limit can hold. */
  maxBytesPerToken: number;
  count(text: string): number;
  /**
   * Where the longest start (or end) of `text` that fits into `maxTokens` stops (or begins): an index on a
   * code point's border. Optional; without it the border is searched with `count`.
   */
  fit?(text: string, maxTokens: number, from: "start" | "end"): number;
}
