import type { SpillwayEvent } from "../../contract/event.ts";
import type { Ledger } from "../../contract/ledger.ts";
import { SERVE_NUMBERS } from "../../stages/policy/serve-numbers.ts";

/** Requests wait while events are written: these take a few milliseconds, most of them for sums that many events share. */
const MOST_GATHERED = 256;

/**
 * A ledger that writes events which nobody waits for together: each answered request has one, most have one of a new result
 * that was shown whole, and a commit for each would cost more than the rest of the gateway. An event that tells where saved
 * bytes are, and every other one, is written at once, with all that were gathered.
 */
export function gatherEvents(ledger: Ledger): Ledger {
  let gathered: { event: SpillwayEvent; resolve: (recorded: Promise<void>) => void }[] = [];
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const all = gathered;
    gathered = [];
    const recorded = all.map(({ event, resolve }) => {
      const one = ledger.record(event);
      resolve(one);
      return one;
    });
    // Who asked for it is told what failed.
    await Promise.allSettled(recorded);
  }

  return {
    ...ledger,
    record(event) {
      if (!mayWait(event)) {
        void flush();
        return ledger.record(event);
      }
      timer ??= setTimeout(() => void flush(), SERVE_NUMBERS.gatherEventsMs.default);
      const recorded = new Promise<void>((resolve) => gathered.push({ event, resolve }));
      if (gathered.length >= MOST_GATHERED) void flush();
      return recorded;
    },
    async events(query) {
      await flush();
      return ledger.events(query);
    },
    async close() {
      await flush();
      await ledger.close();
    },
  };
}

function mayWait({ kind, artifact }: SpillwayEvent): boolean {
  return kind === "request-answered" || (kind === "output-passed" && artifact === null);
}
