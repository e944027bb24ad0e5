import type { Strategy } from "../../../contract/strategy.ts";
import { signal, startSignal } from "./signal.ts";

/**
 * The strategy for what a command's output looks like at its start, unless the command failed and says so further on, or
 * the output turns out not to be what it looked like: then what tells why is kept.
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
          const isBroken = held === plain;
          // A document that is whole says itself what went wrong.
          if (!isBroken && (strategy.name === "json" || exitCode === undefined || exitCode === 0)) return held;
          return other.tellsFailure() ? { ...other.end(total, exitCode), strategy: signal.name } : held;
        },
      };
    },
  };
}
