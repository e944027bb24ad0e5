import type { SpillPlace, StartRedactor } from "../stages/spill/spill.ts";
import type { SourceAccount } from "./admission.ts";
import { addRedactions } from "./join-receipts.ts";

/** A place for an output whose secrets were replaced already; `again` where what is stored has more in it than was looked at. */
export function redactedPlace(place: SpillPlace, source: SourceAccount | undefined, again = false): SpillPlace {
  const { loadRedactor } = place;
  if (source === undefined || loadRedactor === null) return place;
  return {
    ...place,
    async loadRedactor() {
      const start: StartRedactor | null = again ? await loadRedactor() : null;
      return (take) => {
        const more = start?.(take) ?? { add: take, end: () => ({ count: 0, bytes: 0 }) };
        return { add: (bytes) => more.add(bytes), end: () => addRedactions(source.redactions, more.end()) };
      };
    },
  };
}
