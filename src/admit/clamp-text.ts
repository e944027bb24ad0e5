import type { Limits } from "../contract/limits.ts";
import type { Strategy, StrategyName } from "../contract/strategy.ts";
import { SpillwayError } from "../errors.ts";
import { strategies } from "../stages/clamp/strategies/index.ts";
import { DEFAULT_STRATEGY } from "../stages/policy/defaults.ts";
import type { Admitted } from "./admission.ts";
import { admitBlocks, holdBlocks } from "./admit-blocks.ts";
import { clampWith, type PlainOptions, requestFor } from "./clamp-with.ts";

/** How a text is clamped where there is no policy. */
export interface ClampOptions extends PlainOptions {
  /** A built-in strategy's name, or a strategy. */
  strategy?: StrategyName | Strategy;
  /** Off unless asked for: a text may be exact content. */
  fold?: boolean;
}

/** Clamps one text, with no store: markers say that the rest was not saved. */
export function clampText(text: string, limits: Limits, options: ClampOptions = {}): Admitted {
  if (typeof text !== "string") throw new SpillwayError("bad-input", `clampText takes a text; got ${typeof text}`);
  const strategy = strategyOf(options.strategy ?? DEFAULT_STRATEGY);
  return clampWith(strategy, text, limits, options, options.fold ?? false);
}

/** Clamps the texts of a structured result under one budget, with no store. */
export function clampBlocks<T extends object>(
  result: T,
  limits: Limits,
  options: ClampOptions = {},
): Admitted & { output: T } {
  const request = requestFor(strategyOf(options.strategy ?? DEFAULT_STRATEGY), limits, options, options.fold ?? false);
  const { texts: _texts, ...admitted } = admitBlocks(request, result).write([]);
  return holdBlocks(request, admitted);
}

function strategyOf(strategy: string | Strategy): Strategy {
  if (typeof strategy !== "string") return strategy;
  const known = strategies.find(({ name }) => name === strategy);
  if (known !== undefined) return known;
  throw new SpillwayError(
    "unknown-strategy",
    `strategy must be one of ${strategies.map(({ name }) => name).join(", ")}; got "${strategy}"`,
  );
}
