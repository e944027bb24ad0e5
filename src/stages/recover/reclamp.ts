import { fairShares } from "../clamp/fair-shares.ts";
import { NUMBERS } from "../policy/defaults.ts";
import { subtract } from "../prune/weight.ts";
import { cuttingRung, type Pressure, type Rung, type RungCut, type RungItem, type RungRequest } from "./rung.ts";
import { clampTo } from "./shorten-result.ts";

/** How often shares are made smaller for one refusal: what a marker takes is only known once it is written. */
const TIMES = 4;

/** What a result keeps at the least, and what it keeps where the request would not surely fit with that. */
const FLOORS = [NUMBERS.pruneBatchFloorChars.default, NUMBERS.recoverFloorChars.default];

/**
 * Brings every result under the hard limits, then all into what room is left: old ones first, then those that no model has
 * seen yet, in fair shares and none below the floor; in need, below that too.
 */
export const reclamp: Rung = cuttingRung({ name: "reclamp", times: TIMES }, function* (request, pressure) {
  const limits = new Map<RungItem, RungCut>();
  for (const cut of overHardLimits(request)) {
    limits.set(cut.item, cut);
    yield cut;
  }
  const open = request.items.filter(({ fixed }) => !fixed);
  for (const floor of FLOORS) {
    for (const isNewest of [false, true]) {
      const group = open.filter((item) => item.isNewest === isNewest);
      for (const { item, maxChars } of sharesOf(group, limits, pressure, floor)) {
        const cut = clampTo(item, { ...request.hardLimits, maxChars });
        const before = limits.get(item)?.frees ?? { chars: 0, tokens: 0, bytes: 0 };
        limits.set(item, cut);
        yield { ...cut, frees: subtract(cut.frees, before) };
      }
    }
  }
});

/** Only the hard limits: what is within them stays whole, so that there may be nothing to do. */
export const rewriteResults: Rung = cuttingRung({ name: "rewrite-results" }, overHardLimits);

function* overHardLimits({ items, hardLimits }: RungRequest): Generator<RungCut & { item: RungItem }> {
  for (const item of items) {
    if (item.fixed) continue;
    const cut = clampTo(item, hardLimits);
    if (cut.frees.tokens > 0 && "item" in cut) yield cut;
  }
}

function sharesOf(
  group: readonly RungItem[],
  limits: ReadonlyMap<RungItem, RungCut>,
  pressure: Pressure,
  floor: number,
) {
  const sizes = group.map((item) => ({
    chars: item.texts.chars - (limits.get(item)?.frees.chars ?? 0),
    tokens: item.texts.tokens - (limits.get(item)?.frees.tokens ?? 0),
    bytes: item.texts.bytes - (limits.get(item)?.frees.bytes ?? 0),
  }));
  const sum = (unit: "chars" | "tokens" | "bytes") => sizes.reduce((all, size) => all + size[unit], 0);
  const chars = sum("chars");
  const share = Math.max(pressure.tokens / Math.max(1, sum("tokens")), pressure.bytes / Math.max(1, sum("bytes")));
  if (share <= 0) return [];
  const shares = fairShares(
    sizes.map((size) => size.chars),
    Math.max(0, Math.floor(chars * (1 - share))),
  );
  return group
    .map((item, at) => ({ item, maxChars: Math.max(floor, shares[at] as number) }))
    .filter(({ maxChars }, at) => maxChars < (sizes[at]?.chars ?? 0));
}
