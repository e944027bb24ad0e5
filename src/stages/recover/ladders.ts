import { badInput } from "../../errors.ts";
import { fairShares } from "../clamp/fair-shares.ts";
import { NUMBERS } from "../policy/defaults.ts";
import { planBatch } from "../prune/plan-batch.ts";
import { selectItems } from "../prune/prune-item.ts";
import { add, NO_WEIGHT, subtract, type Weight } from "../prune/weight.ts";
import {
  clampTo,
  cuttingRung,
  overChars,
  Pressure,
  type Rung,
  type RungCut,
  type RungItem,
  type RungRequest,
  shortenTo,
} from "./rung.ts";

/** The least characters that a result keeps. */
const LEAST_CHARS = NUMBERS.recoverFloorChars.default;
/** How often shares are reduced for one refusal. The size of a marker is known only after it is written. */
const TIMES = 4;

/**
 * Cuts results that are over their share of the window, and those that no model has seen yet and that are over their
 * shared budget. It takes only what must go: each keeps a fair part of what the target leaves, and at least its share.
 */
const clampResults: Rung = cuttingRung({ name: "clamp-results", times: TIMES }, function* (request, pressure) {
  const open = request.items.filter(({ fixed }) => !fixed);
  const newest = open.filter(({ isNewest }) => isNewest).map((item) => ({ ...item, shown: item.texts, item }));
  const shares = new Map(
    planBatch(newest, request.pruning, request.windowTokens).map((share) => [share.item.item, share.maxChars]),
  );
  const shareOf = (item: RungItem) => Math.min(request.resultChars, shares.get(item) ?? Infinity);
  const over = open.filter((item) => item.texts.chars > shareOf(item));
  for (const { item, maxChars } of sharesOf(over, new Map(), pressure, shareOf))
    yield clampTo(item, { ...request.hardLimits, maxChars });
});

/** The newest turn is counted with this margin, because a compactor may count tokens differently. */
const NEWEST_SHARE = 1.1;
/** The least tokens of a useful summary. */
const SUMMARY_TOKENS = 800;

const NOTHING = { tokens: 0, bytes: 0 };

/** Lets the caller's compactor summarise old turns, once for each refusal. If there is none, this rung is not taken. */
const compact: Rung = {
  name: "compact",
  // How much a summary leaves is not known before it is made.
  estimate: ({ canCompact, total }) => (canCompact ? { tokens: total.tokens, bytes: total.bytes } : NOTHING),
  plan: ({ targetTokens, total, targetBytes, newestTokens }) => {
    const share = Math.min(1, targetBytes / Math.max(1, total.bytes));
    const asked = Math.floor(Math.min(targetTokens, total.tokens * share));
    // The newest turn is not summarised. A later rung makes it smaller.
    return { compactTo: Math.max(asked, Math.ceil(newestTokens * NEWEST_SHARE) + SUMMARY_TOKENS) };
  },
};

const DROP_MEDIA = { name: "drop-media", firstFor: ["payload-too-large"] } as const;

/**
 * Replaces images, audio and files inside results by a text, the oldest first. Replaces those in other messages only if
 * the caller allows it.
 */
const dropMedia: Rung = cuttingRung(DROP_MEDIA, (request, pressure) => withoutMedia(request, pressure, () => true));

/**
 * Does the same with media that a model has seen. Others go only if the newest turn would not fit with them, whatever else
 * goes.
 */
const dropSeenMedia: Rung = cuttingRung(DROP_MEDIA, function* (request, pressure) {
  const last = request.assistants.at(-1) ?? -1;
  yield* withoutMedia(request, pressure, (message) => message <= last);
  const least = new Pressure(request);
  for (const { weight } of request.turns.slice(0, -1)) least.free(weight);
  for (const item of request.items) if (item.isNewest) least.free(overChars(item, LEAST_CHARS));
  for (const cut of withoutMedia(request, least, (message) => message > last)) {
    yield cut;
    least.free(cut.frees);
  }
});

function* withoutMedia(
  { items, outsideMedia }: RungRequest,
  pressure: Pressure,
  isTaken: (message: number) => boolean,
): Generator<RungCut> {
  for (const item of items) {
    if (!pressure.isOver) return;
    if (!item.fixed && item.media.bytes > 0 && isTaken(item.message))
      yield { item, to: "without-media", frees: item.media };
  }
  for (const { message, weight } of outsideMedia) {
    if (!pressure.isOver) return;
    if (isTaken(message)) yield { message, to: "without-media", frees: weight };
  }
}

/**
 * Trims old results and then clears them until enough is free, then does the same with long strings in the arguments of old
 * calls. Results that a later read of the same file supersedes come first, then the oldest. As with turns, more go than must,
 * so that the next turns have room.
 */
const prune: Rung = cuttingRung(
  { name: "prune", share: NUMBERS.recoverTurnsShare.default },
  function* (request, pressure) {
    yield* shorten(request, request.items, pressure);
    yield* shorten(request, request.calls, pressure);
  },
);

function* shorten(request: RungRequest, all: readonly RungItem[], pressure: Pressure): Generator<RungCut> {
  if (request.pruning.mode === "off") return;
  const items = selectItems({ ...request, items: all }, request.pruning).items.toSorted(
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
}

/** What a result keeps at least. The second value is used if the request would not surely fit with the first. */
const FLOORS = [NUMBERS.pruneBatchFloorChars.default, LEAST_CHARS];

/**
 * Brings every result under the hard limits, then all results into the room that is left. Old results are cut first,
 * then those that no model has seen yet. Each gets a fair share and keeps at least the floor. If that is not enough, it
 * goes below the floor.
 */
const reclamp: Rung = cuttingRung({ name: "reclamp", times: TIMES }, function* (request, pressure) {
  const limits = new Map<RungItem, RungCut>();
  for (const cut of overHardLimits(request)) {
    if (!pressure.isOver) return;
    limits.set(cut.item, cut);
    yield cut;
  }
  const open = request.items.filter(({ fixed }) => !fixed);
  for (const floor of FLOORS) {
    for (const isNewest of [false, true]) {
      const group = open.filter((item) => item.isNewest === isNewest);
      for (const { item, maxChars } of sharesOf(group, limits, pressure, () => floor)) {
        const cut = clampTo(item, { ...request.hardLimits, maxChars });
        const before = limits.get(item)?.frees ?? { chars: 0, tokens: 0, bytes: 0 };
        limits.set(item, cut);
        yield { ...cut, frees: subtract(cut.frees, before) };
      }
    }
  }
});

/** A request that takes more of its target than this would be refused again within a few turns. */
const ROOM_SHARE = 0.9;
/** About what the marker takes that stands for turns. */
const MARKER: Weight = { chars: 400, tokens: 120, bytes: 400 };

/**
 * Leaves out whole old turns, the oldest first, and needs no model. The newest turn and what is before the first one
 * stay. `reclamp` comes after it, so no turn goes if all of it fits with every result at its floor. If turns go, more go
 * than must, so that the next ones have room.
 */
const dropTurns: Rung = {
  name: "drop-turns",
  // How much the marker quotes is known only after it is written.
  times: 2,
  roomShare: ROOM_SHARE,
  estimate({ turns, pruning, canCompact, total, targetTokens, targetBytes }) {
    // If it fits, a summary that comes a few turns later keeps more.
    const waits = canCompact && total.tokens <= targetTokens && total.bytes <= targetBytes;
    if (waits || pruning.preset === "openclaw") return NOTHING;
    return turns.slice(0, -1).reduce<Weight>((sum, { weight }) => add(sum, weight), NO_WEIGHT);
  },
  plan(request) {
    const { items, turns, total, targetTokens, targetBytes } = request;
    const within = (share: number) =>
      new Pressure({ ...request, targetTokens: targetTokens * share, targetBytes: targetBytes * share });
    const isOver = total.tokens > targetTokens || total.bytes > targetBytes;
    const least = within(isOver ? 1 : ROOM_SHARE);
    const pressure = within(NUMBERS.recoverTurnsShare.default);
    pressure.free(subtract(NO_WEIGHT, MARKER));
    const left = new Map<number, Weight>();
    for (const item of items) {
      const over = overChars(item, NUMBERS.pruneBatchFloorChars.default);
      least.free(over);
      pressure.free(over);
      left.set(item.message, add(left.get(item.message) ?? NO_WEIGHT, over));
    }
    if (!least.isOver) return { cuts: [] };
    const from = turns[0]?.from ?? 0;
    let to = from;
    for (const [at, { weight }] of turns.slice(0, -1).entries()) {
      if (!pressure.isOver) break;
      pressure.free(weight);
      const next = turns[at + 1]?.from as number;
      for (; to < next; to++) pressure.free(subtract(NO_WEIGHT, left.get(to) ?? NO_WEIGHT));
    }
    return from === to ? { cuts: [] } : { leaveOut: { from, to } };
  },
};

/** Brings results under the hard limits only. A result within them stays whole, so there may be nothing to do. */
const rewriteResults: Rung = cuttingRung({ name: "rewrite-results" }, overHardLimits);

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
  floorOf: (item: RungItem) => number,
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
    .map((item, at) => ({ item, maxChars: Math.max(floorOf(item), shares[at] as number) }))
    .filter(({ maxChars }, at) => maxChars < (sizes[at]?.chars ?? 0));
}

const RUNGS = [clampResults, prune, dropMedia, compact, dropTurns, reclamp, rewriteResults] as const;

/** The names of the built-in rungs. */
export type RungName =
  | "clamp-results"
  | "prune"
  | "drop-media"
  | "compact"
  | "drop-turns"
  | "reclamp"
  | "rewrite-results";

/**
 * Says which rungs are taken, in order. "default" is the built-in order, "compact-first" is `compact` and then
 * `rewrite-results`, and a list is the caller's own order.
 */
export type Ladder = "default" | "compact-first" | readonly (RungName | Rung)[];

/** Returns the rungs of a ladder, and how often a request is sent at most. */
export function ladderOf(ladder: Ladder): { rungs: readonly Rung[]; maxSends: number } {
  const maxSends = NUMBERS.recoverSends.default;
  if (ladder === "default") {
    // What no model has seen yet is left out after everything else.
    const last = { ...dropMedia, firstFor: [] };
    return { rungs: [clampResults, prune, dropSeenMedia, compact, dropTurns, reclamp, last], maxSends };
  }
  if (ladder === "compact-first") {
    return {
      rungs: [{ ...compact, times: NUMBERS.recoverCompactions.default, insists: true }, rewriteResults],
      maxSends: NUMBERS.recoverCompactFirstSends.default,
    };
  }
  if (!Array.isArray(ladder)) throw badInput('ladder must be "default", "compact-first" or a list of rungs');
  return { rungs: ladder.map(rungOf), maxSends };
}

function rungOf(rung: RungName | Rung): Rung {
  if (typeof rung === "object" && rung !== null && typeof rung.plan === "function") return rung;
  const named = RUNGS.find(({ name }) => name === rung);
  if (named !== undefined) return named;
  const known = RUNGS.map(({ name }) => name).join(", ");
  throw badInput(`a rung is one of ${known}, or an object with a plan; got ${String(rung)}`);
}
