import { planBatch } from "../prune/plan-batch.ts";
import { cuttingRung, type Rung } from "./rung.ts";
import { clampTo } from "./shorten-result.ts";

/**
 * Brings each result under its share of the window, and those that no model has seen yet under one budget: nothing that
 * usually matters is lost by it.
 */
export const clampResults: Rung = cuttingRung({ name: "clamp-results" }, function* (request) {
  const open = request.items.filter(({ fixed }) => !fixed);
  const newest = open.filter(({ isNewest }) => isNewest).map((item) => ({ ...item, shown: item.texts, item }));
  const shares = new Map(
    planBatch(newest, request.pruning, request.windowTokens).map((share) => [share.item.item, share.maxChars]),
  );
  for (const item of open) {
    const most = Math.min(request.resultChars, shares.get(item) ?? Infinity);
    if (item.texts.chars > most) yield clampTo(item, { maxChars: most });
  }
});
