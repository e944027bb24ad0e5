import type { AdmitPlan } from "../admit/admission.ts";
import type { Recorder } from "../admit/recorder.ts";
import type { Limits } from "../contract/limits.ts";
import type { Wire } from "../contract/wire.ts";
import { badInput } from "../errors.ts";
import { type CapOptions, type CappedHistory, cap, type MessageSource } from "../stages/cap/cap.ts";
import { guardLimits, type PendingCalls } from "../stages/guard/guard.ts";
import { detectWire } from "../wire/index.ts";
import { requireWire } from "../wire/registry.ts";
import {
  type GuardedMessage,
  type GuardRequest,
  guardMessage,
  guardMessageNow,
  type PersistAbout,
  type PersistHook,
  type SpillPorts,
} from "./guard-message.ts";
import { type GuardedSession, guardSession, type SessionManager } from "./guard-session.ts";

export type {
  CapOptions,
  CappedHistory,
  GuardedSession,
  GuardOptions,
  GuardSessionOptions,
  MessageSource,
  PersistAbout,
  PersistHook,
  SessionManager,
};

/** What Spillway does with messages that are kept or handed over, not sent. */
export interface Histories extends Guarding {
  /**
   * Returns a history for another agent, in at most 80 KiB of JSON. Cuts long texts and leaves out the oldest messages.
   */
  cap(messages: MessageSource, options?: CapOptions): CappedHistory;
}

/** Makes the guards and the cap, and records what they did. */
export function newHistories(ports: GuardPorts): Histories {
  const { recorder, now } = ports;
  return {
    ...newGuarding(ports),
    cap(messages, options) {
      const { messages: shown, ...capped } = cap(messages, options);
      const event = { kind: "history-capped" as const, atMs: now(), session: null, tool: null, call: null };
      if (capped.truncated) void recorder.event({ ...event, artifact: null, receipt: null, more: { ...capped } });
      return { messages: shown, ...capped };
    },
  };
}

interface GuardOptions {
  /** The name of the message format. If it is absent, the format is detected. */
  wire?: string | undefined;
  session?: string | undefined;
  /** The tool's name, used if neither the message nor a call names it. */
  tool?: string | undefined;
  /** The model's context in tokens. One result gets at most 0.3 of it. */
  window?: number | undefined;
  /** Gets a message with a result as it came. */
  before?: PersistHook | undefined;
  /** Gets it as it will be persisted. What it changes is bound by the same limits. */
  after?: PersistHook | undefined;
}

interface GuardSessionOptions extends Omit<GuardOptions, "tool"> {
  /** Set it if the host awaits what appendMessage returns. Then the store is awaited too. */
  async?: boolean | undefined;
  /** False leaves calls without a result as they are. */
  fillMissing?: boolean | undefined;
}

/** What guarding needs. Nothing is looked up. */
export interface GuardPorts {
  /** Returns how a tool's output is admitted under these limits and the ceiling. */
  planFor(tool: string, call: string | null, session: string | undefined, limits: Limits): AdmitPlan;
  ports: SpillPorts;
  recorder: Recorder;
  now(): number;
}

/** Guards messages on their way into a transcript. */
interface Guarding {
  /**
   * Returns a message as it should be persisted: results and their details are within the ceiling, and the whole is
   * saved first.
   */
  guard(message: unknown, options?: GuardOptions): Promise<unknown>;
  /** Does the same for a host that cannot wait. If the store cannot save at once, the result is marked as not saved. */
  guardSync(message: unknown, options?: GuardOptions): unknown;
  /** Returns a session manager that guards what it appends, and writes error results for calls that never got one. */
  guardSession<T extends SessionManager>(manager: T, options?: GuardSessionOptions): GuardedSession<T>;
}

/** Sets no limit besides the ceiling, so that a result that was admitted under limits of its own is not cut again. */
const NO_OWN_LIMITS: Required<Limits> = {
  maxBytes: Infinity,
  maxChars: Infinity,
  maxLines: Infinity,
  maxTokens: Infinity,
};

/** Makes the guards from their parts. */
function newGuarding({ planFor, ports, recorder, now }: GuardPorts): Guarding {
  function requestOf(
    wire: Wire | null,
    options: GuardOptions,
    pending?: PendingCalls,
    isSynthetic = false,
  ): GuardRequest {
    const { tool = "tool", session, window, before, after } = options;
    return {
      wire,
      ports,
      isSynthetic,
      before,
      after,
      toolOf: (result) => pending?.toolOf(result) ?? result.tool ?? tool,
      planFor(name, call) {
        const plan = planFor(name, call, session, NO_OWN_LIMITS);
        return { ...plan, limits: guardLimits(plan.limits, window ?? null) };
      },
    };
  }

  async function told({ receipts, faults }: GuardedMessage, session: string | undefined): Promise<void> {
    for (const receipt of receipts) await recorder.receipt(receipt, null);
    if (faults.length > 0) await tell(session, { faults });
  }

  async function guardAndTell(message: unknown, request: GuardRequest, session: string | undefined): Promise<unknown> {
    const guarded = await guardMessage(message, request);
    await told(guarded, session);
    return guarded.message;
  }

  function guardAndTellNow(message: unknown, request: GuardRequest, session: string | undefined): unknown {
    const guarded = guardMessageNow(message, request);
    void told(guarded, session);
    return guarded.message;
  }

  function tell(session: string | undefined, more: Record<string, unknown>): Promise<void> {
    const event = { kind: "history-guarded" as const, atMs: now(), session: session ?? null, tool: null, call: null };
    return recorder.event({ ...event, artifact: null, receipt: null, more });
  }

  return {
    async guard(message, options = {}) {
      return guardAndTell(message, requestOf(wireOf(message, options.wire), options), options.session);
    },
    guardSync: (message, options = {}) =>
      guardAndTellNow(message, requestOf(wireOf(message, options.wire), options), options.session),
    guardSession(manager, options = {}) {
      if (typeof manager?.appendMessage !== "function")
        throw badInput("guardSession takes a session manager with an appendMessage");
      const { wire: name, session } = options;
      const named = name === undefined ? null : requireWire(name);
      // Loads the redactor now, because guardSync cannot wait for it later.
      void ports.place.loadRedactor?.().catch(() => {});
      const sure = (message: unknown) => named ?? detectWire([message]);
      let known: Wire | null = named;
      const wireAt = (message: unknown) => (known = sure(message) ?? known);
      return guardSession(manager, {
        wireOf: sure,
        isAsync: options.async ?? false,
        fillMissing: options.fillMissing ?? true,
        now,
        guardNow: (message, pending, isSynthetic) =>
          guardAndTellNow(message, requestOf(wireAt(message), options, pending, isSynthetic), session),
        guard: (message, pending, isSynthetic) =>
          guardAndTell(message, requestOf(wireAt(message), options, pending, isSynthetic), session),
        tellLost: (calls) => void tell(session, { lost: calls.map(({ id, tool }) => ({ id, tool })).slice(0, 50) }),
      });
    },
  };
}

function wireOf(message: unknown, name: string | undefined): Wire | null {
  return name === undefined ? detectWire([message]) : requireWire(name);
}
