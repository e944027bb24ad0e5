import type { ModelClient, ModelSpend } from "../contract/model-client.ts";

/** What a summary was for and what its calls took. */
export interface SummaryCost extends ModelSpend {
  of: "output" | "conversation";
  model: string;
  session: string | null;
  tool: string | null;
  call: string | null;
  /** Why there is no summary although the model was asked. */
  fault: string | null;
}

/** Records what a summary cost. */
export type BookCost = (cost: SummaryCost) => void | Promise<void>;

/** A client that counts what its calls take. */
export function countingClient(client: ModelClient): { client: ModelClient; spent: ModelSpend } {
  const spent: ModelSpend = { calls: 0, inputTokens: 0, outputTokens: 0, isEstimate: false, dollars: null };
  const add = (one: ModelSpend) => {
    spent.calls += one.calls;
    spent.inputTokens += one.inputTokens;
    spent.outputTokens += one.outputTokens;
    spent.isEstimate ||= one.isEstimate;
    if (one.dollars !== null) spent.dollars = (spent.dollars ?? 0) + one.dollars;
  };
  return { client: { ...client, ask: (prompt) => client.ask({ ...prompt, spent: add }) }, spent };
}
