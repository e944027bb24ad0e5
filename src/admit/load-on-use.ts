import { isStandIn, loadStrategy } from "../stages/clamp/strategies/on-use.ts";
import type { AdmissionRequest } from "./admission.ts";

/** True if an output over its limits needs nothing that is still to be loaded. */
export function isLoaded({ strategy, fold }: AdmissionRequest): boolean {
  return !isStandIn(strategy) && fold !== true;
}

/** The request with its strategy and its folding themselves: most outputs are within their limits and need neither. */
export async function loadFor(request: AdmissionRequest): Promise<AdmissionRequest> {
  const [strategy, { startFold }] = await Promise.all([
    loadStrategy(request.strategy),
    request.fold === true ? import("../stages/fold/fold.ts") : { startFold: request.fold },
  ]);
  return { ...request, strategy, fold: startFold };
}
