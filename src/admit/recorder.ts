import type { SpillwayEvent } from "../contract/event.ts";
import type { Ledger } from "../contract/ledger.ts";
import type { Receipt } from "../contract/receipt.ts";
import type { Breaker } from "../deadline.ts";
import { within } from "../deadline.ts";
import { messageOf } from "../errors.ts";
import {
  eventMayHoldSecret,
  isCut,
  type Logger,
  logFault,
  receiptEvents,
  redactEvent,
} from "../stages/record/events.ts";
import type { Redaction } from "./redaction.ts";

/** Who is told what happened. */
export interface Listeners {
  onReceipt?: ((receipt: Receipt) => void) | undefined;
  onEvent?: ((event: SpillwayEvent) => unknown) | undefined;
  logger?: Logger | undefined;
}

/** Keeps events; waited for. */
export type EventLog = (event: SpillwayEvent) => Promise<void>;

/** The user, the machine and the process that record an event. */
export interface RecordedBy {
  user: string;
  host: string;
  process: number;
}

/** What a recorder is made of. */
export interface RecorderPorts {
  ledger: Ledger | null;
  /** Logs beside the ledger. */
  logs: readonly EventLog[];
  listeners: Listeners;
  /** Takes secrets out of what is recorded; null leaves them. */
  redaction: Redaction | null;
  /** Who records; stands in every event. */
  by?: RecordedBy | undefined;
  newBreaker(): Breaker;
  /** The longest wait for each of them. */
  deadlineMs: number;
  /** The clock. */
  now(): number;
}

/** Tells ledger, logs and listeners what happened. Nothing that goes wrong there reaches an agent. */
export interface Recorder {
  /**
   * `more` goes with the event of the output itself. What recovery cut may have been told before, and then is no second call.
   * Gives what could not be recorded, and why.
   */
  receipt(receipt: Receipt, more: SpillwayEvent["more"], isRecovery?: boolean): Promise<string[]>;
  event(...events: SpillwayEvent[]): Promise<void>;
}

/** A recorder. */
export function newRecorder(ports: RecorderPorts): Recorder {
  const { ledger, listeners, redaction, deadlineMs, by } = ports;
  const logs: ((events: SpillwayEvent[]) => Promise<unknown>)[] = ports.logs.map((log) => async (events) => {
    for (const event of events) await log(event);
  });
  if (ledger !== null) logs.unshift((events) => Promise.all(events.map((event) => ledger.record(event))));
  // One that fails must not keep events from the others.
  const kept = logs.map((log) => ({ log, breaker: ports.newBreaker(), fault: null as string | null }));

  async function record(given: SpillwayEvent[]): Promise<string[]> {
    if (kept.length === 0 && listeners.onEvent === undefined) return [];
    // Nothing is recorded that could not be redacted.
    const safe = await redacted(given, redaction).catch(() => []);
    const events = by === undefined ? safe : safe.map((event) => ({ ...event, more: { by, ...event.more } }));
    for (const event of events) void (async () => listeners.onEvent?.(event))().catch(() => {});
    await Promise.all(
      kept.map(async (each) => {
        if (!each.breaker.allows()) return;
        try {
          await within(each.log(events), deadlineMs, "recording");
          each.breaker.succeeded();
          each.fault = null;
        } catch (error) {
          each.breaker.failed();
          const fault = `not recorded: ${messageOf(error)}`;
          // Once for each reason: a log that cannot be written would fill another one.
          if (each.fault !== fault) logFault(listeners.logger, fault);
          each.fault = fault;
        }
      }),
    );
    return kept.flatMap(({ fault }) => fault ?? []);
  }

  return {
    async event(...events) {
      await record(events);
    },
    async receipt(receipt, more, isRecovery) {
      void (async () => listeners.onReceipt?.(receipt))().catch(() => {});
      const isAsked = ledger !== null && kept[0]?.breaker.allows() === true;
      const ask = async (was: typeof wasCutBefore) =>
        isAsked && (await within(was(ledger, receipt), deadlineMs, "reading").catch(() => false));
      if (isRecovery && (await ask(wasTold)))
        return record(receiptEvents(receipt, ports.now(), { ...more, isRecut: true }));
      const isRerun = await ask(wasCutBefore);
      return record(receiptEvents(receipt, ports.now(), isRerun ? { ...more, isRerun } : more));
    },
  };
}

/**
 * Returns true if the same bytes were cut in this session before. The tool told nothing new, so that it ran again for what was cut.
 */
async function wasCutBefore(ledger: Ledger, receipt: Receipt): Promise<boolean> {
  const { artifact, session, tool } = receipt;
  if (artifact === null || session === null || !isCut(receipt)) return false;
  return (await ledger.events({ artifact, session, tool, kinds: ["output-clamped"], max: 1 })).length > 0;
}

/** Returns true if this call's output was told before: it is one call, though it is cut a second time. */
async function wasTold(ledger: Ledger, { session, call, tool }: Receipt): Promise<boolean> {
  if (session === null || call === null) return false;
  return (await ledger.events({ session, call, tool, kinds: ["output-clamped", "output-passed"], max: 1 })).length > 0;
}

async function redacted(events: SpillwayEvent[], redaction: Redaction | null): Promise<SpillwayEvent[]> {
  if (redaction === null || !events.some((event) => eventMayHoldSecret(event, redaction.mayHoldSecret))) return events;
  const redact = await redaction.loadText();
  return events.map((event) => redactEvent(event, redact));
}
