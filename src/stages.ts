// The pure stages: no store, no Node. Anything added here is public API: named exports only.
export type { Admitted } from "./admit/admission.ts";
export { type ClampOptions, clampBlocks, clampText } from "./admit/clamp-text.ts";
export type { Cut, Gap, Piece, Room } from "./contract/cut.ts";
export type { Limits, Unit } from "./contract/limits.ts";
export type { Receipt } from "./contract/receipt.ts";
export type { Extent, Size, Total } from "./contract/size.ts";
export type { Span } from "./contract/span.ts";
export type { Held, Sieve, Strategy, StrategyRequest } from "./contract/strategy.ts";
export type { TokenCounter } from "./contract/token-counter.ts";
export { boundValue } from "./stages/clamp/bound-value.ts";
export { strategies } from "./stages/clamp/strategies/index.ts";
export { errorForDisplay } from "./stages/display/error-for-display.ts";
export { forDisplay } from "./stages/display/for-display.ts";
export { estimateCounter } from "./stages/measure/estimate-tokens.ts";
export { measureText } from "./stages/measure/measure-text.ts";
export { type Measuring, startMeasure } from "./stages/measure/start-measure.ts";
export { resolvePolicy } from "./stages/policy/resolve-policy.ts";
export { resolveToolPolicy } from "./stages/policy/resolve-tool-policy.ts";
