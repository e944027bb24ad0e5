import { selectItems } from "../prune/select-items.ts";
import { cuttingRung, type Rung } from "./rung.ts";
import { shortenTo } from "./shorten-result.ts";

/** Trims old results, then clears them, the oldest and those that a later read stands for first, until enough is free. */
export const prune: Rung = cuttingRung({ name: "prune" }, function* (request, pressure) {
  if (request.pruning.mode === "off") return;
  const items = selectItems(request, request.pruning).items.toSorted(
    (a, b) => Number(b.superseded) - Number(a.superseded),
  );
  const trimmed = new Map(items.map((item) => [item, item.shown]));
  for (const item of items) {
    if (!pressure.isOver) return;
    const after = request.afterTrim(item);
    if (after === null || after.chars >= item.shown.chars) continue;
    trimmed.set(item, after);
    yield shortenTo(item, "trimmed", after);
  }
  if (!request.pruning.hardClear.enabled) return;
  for (const item of items) {
    if (!pressure.isOver) return;
    const shown = trimmed.get(item) ?? item.shown;
    const { frees } = shortenTo({ ...item, shown }, "cleared", request.afterClear(item));
    yield { item, to: "cleared", frees };
  }
});
