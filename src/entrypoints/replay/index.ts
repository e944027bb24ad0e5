export { writePage } from "./page/page.ts";
export { policies } from "./policies/index.ts";
export { PRICES, type Prices } from "./prices.ts";
export { type Recorded, recordedIn } from "./recorded.ts";
export { type Replayed, replay } from "./replay.ts";
export { FIGURES, figuresOf, type Totals } from "./totals.ts";
