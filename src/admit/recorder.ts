import type { SpillwayEvent } from "../contract/event.ts";
import type { Ledger } from "../contract/ledger.ts";
import type { Receipt } from "../contract/receipt.ts";
import { receiptEvents } from "../stages/record/receipt-events.ts";
import { type Breaker } from "../stages/spill/breaker.ts";
import { within } from "../stages/spill/within.ts";

/** Who is told what happened. */
export interface Listeners {
  onReceipt?: ((receipt: Receipt) => void) | undefined;
  onEvent?: ((event: SpillwayEvent) => unknown) | undefined;
}

/** Tells ledger and listeners what happened. Nothing that goes wrong there reaches an agent. */
export interface Recorder {
  receipt(receipt: Receipt): Promise<void>;
  event(event: SpillwayEvent): Promise<void>;
}

/** A recorder; `now` is the clock. */
export function newRecorder(
  ledger: Ledger | null,
  listeners: Listeners,
  breaker: Breaker,
  deadlineMs: number,
  now: () => number,
): Recorder {
  async function record(events: SpillwayEvent[]): Promise<void> {
    for (const event of events) void (async () => listeners.onEvent?.(event))().catch(() => {});
    if (ledger === null || !breaker.allows()) return;
    try {
      await within(Promise.all(events.map((event) => ledger.record(event))), deadlineMs, "recording");
      breaker.succeeded();
    } catch {
      breaker.failed();
    }
  }
  return {
    event: (event) => record([event]),
    async receipt(receipt) {
      void (async () => listeners.onReceipt?.(receipt))().catch(() => {});
      await record(receiptEvents(receipt, now()));
    },
  };
}
