import type { Strategy } from "../../../contract/strategy.ts";
import { headTail } from "./head-tail.ts";
import { signal, startSignal } from "./signal.ts";

/**
 * The strategy for what a command's output looks like at its start, unless the command failed and says so further on, or
 * the output is not what it looked like, or like nothing, and tells of a failure or has lines that stand out: then those
 * are kept.
 */
export function orSignal(strategy: Strategy): Strategy {
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
          const held = own.end(total, exitCode, plain);
          // Both ends are for what nobody knows; a document that is whole says itself what went wrong.
          const isKnown = held !== plain && strategy.name !== headTail.name;
          if (isKnown && (strategy.name === "json" || exitCode === undefined || exitCode === 0)) return held;
          const isForSignal = other.tellsFailure() || (!isKnown && other.hasOdd());
          return isForSignal ? { ...other.end(total, exitCode), strategy: signal.name } : held;
        },
      };
    },
  };
}
