import type { Choice, Strategy, StrategyRequest } from "../../../contract/strategy.ts";
import { startRanked } from "../ranked/start-ranked.ts";
import { headTail } from "./edges.ts";
import { type Kind, type KindStrategy, kindSample } from "./kind.ts";
import { outline } from "./outline.ts";
import { signal, startSignal } from "./signal.ts";

/** What an output is that no strategy recognises. */
const UNKNOWN = "unknown";

/** Commands that end with 1 where they found differences. */
const DIFFERS = /^\s*(?:\S*\/)?(?:diff|colordiff|git\s+(?:-\S+\s+)*diff)(?:\s|$)/;

/**
 * Makes the strategy that recognises what an output is and leaves it to the one of `strategies` for that kind. If no kind
 * is recognised, it keeps both ends.
 */
export function autoOf(strategies: readonly KindStrategy[]): Strategy {
  const known = strategies
    .flatMap((strategy) => (strategy.kinds ?? []).map((kind): [Kind, Strategy] => [kind, strategy]))
    .sort(([a], [b]) => a.order - b.order);
  return {
    name: "auto",
    choose(start: Uint8Array, request: StrategyRequest): Choice {
      const sample = kindSample(start, request);
      const [kind, found] = known.find(([{ is }]) => is(sample)) ?? [{ name: UNKNOWN }, headTail];
      // Both ends alone would leave out what somebody is after.
      const strategy =
        found !== headTail || request.focus === undefined ? found : request.focus.isSoft ? wantedOrEnds : outline;
      const mayFail = strategy !== signal && (kind.name === UNKNOWN || sample.hasRun);
      return { strategy: mayFail ? orSignal(strategy) : strategy, kind: kind.name };
    },
    // Only a caller that does not ask `choose` first comes here.
    start: (request) => headTail.start(request),
  };
}

/** Both ends, and between them lines that the call seems to be for. */
const wantedOrEnds: Strategy = {
  ...headTail,
  start: (request) => {
    const { headShare } = request;
    return startRanked(request, {
      ranks: 1,
      rank: () => 0,
      name: () => "text",
      lastHasAll: true,
      headShare,
      isForWanted: true,
    });
  },
};

/**
 * The strategy for what an output looks like at its start. At the end `signal` stands in for it in three cases: the command
 * failed and the output says so further on; the output is not what it looked like, or of no known kind, and it tells of
 * a failure or has lines that stand out; or it only looked like source, and its lines are too much alike for that.
 */
function orSignal(strategy: Strategy): Strategy {
  return {
    ...strategy,
    start(request) {
      const own = strategy.start(request);
      const other = startSignal(request);
      return {
        add(span) {
          own.add(span);
          other.add(span);
        },
        end(total, exitCode = request.exitCode, plain) {
          const cutter = own.end(total, exitCode, plain);
          const isKnown = cutter !== plain && strategy.name !== headTail.name;
          // A whole JSON document says itself what went wrong.
          const isFine =
            exitCode === undefined || exitCode === 0 || (exitCode === 1 && DIFFERS.test(request.command ?? ""));
          const mayHaveOdd = !isKnown || strategy === outline;
          if (isKnown && (strategy.name === "json" || (isFine && !mayHaveOdd))) return cutter;
          const isForSignal = (mayHaveOdd && other.hasOdd()) || (!(isKnown && isFine) && other.tellsFailure());
          return isForSignal ? { ...other.end(total, exitCode), strategy: signal.name } : cutter;
        },
      };
    },
  };
}
