import type { Wire, WireCall } from "../contract/wire.ts";
import { PendingCalls } from "../stages/guard/guard.ts";
import { LOST_RESULT } from "../stages/mark/texts.ts";
import { missingMessages } from "../wire/pair-results.ts";

/** Persists messages for a host. */
export interface SessionManager {
  appendMessage(message: never, ...more: never[]): unknown;
}

/** A session whose messages are guarded. */
export interface GuardedSession<T> {
  /** A stand-in for the manager. Give it to the agent. The manager itself is not changed. */
  session: T;
  /** Returns the calls that have no result yet. */
  pending(): WireCall[];
  /**
   * Writes an error result for each of these calls. Call it at the end of a session. Returns what `appendMessage`
   * returned.
   */
  flush(): unknown[] | Promise<unknown[]>;
}

/** Says how a session's messages are guarded. */
export interface SessionPorts {
  /** Returns the message's format, or null if it is not known. */
  wireOf(message: unknown): Wire | null;
  guardNow(message: unknown, pending: PendingCalls, isSynthetic: boolean): unknown;
  guard(message: unknown, pending: PendingCalls, isSynthetic: boolean): Promise<unknown>;
  /** True if the host awaits appendMessage. Then the store is awaited too. */
  isAsync: boolean;
  fillMissing: boolean;
  /** Is called with the calls whose results were filled in. */
  tellLost(calls: readonly WireCall[]): void;
  now(): number;
}

type Append = (...given: unknown[]) => unknown;

/** Returns a session manager that guards what it appends, and writes error results for calls that never got one. */
export function guardSession<T extends SessionManager>(manager: T, ports: SessionPorts): GuardedSession<T> {
  const pending = new PendingCalls();
  const append: Append = (...given) => Reflect.apply(manager.appendMessage, manager, given);
  let stamped = false;
  let wire: Wire | null = null;
  let queue: Promise<unknown> = Promise.resolve();

  /** Takes note of a message. Returns the messages that must be written before it. */
  function prepare(message: unknown): unknown[] {
    wire = ports.wireOf(message) ?? wire;
    stamped ||= isStamped(message);
    const view = wire?.read(message);
    return view === undefined ? [] : fill(pending.lostBefore(view));
  }

  function fill(calls: WireCall[]): unknown[] {
    if (wire === null || calls.length === 0 || !ports.fillMissing) return [];
    const messages = missingMessages(wire, calls, LOST_RESULT);
    if (messages.length > 0) ports.tellLost(calls);
    // If the host's messages carry a time, ours do too.
    return stamped ? messages.map((message) => ({ ...(message as object), timestamp: ports.now() })) : messages;
  }

  const note = (message: unknown) => {
    if (wire !== null) pending.see(wire.read(message));
  };

  const appendNow: Append = (message, ...more) => {
    for (const lost of prepare(message)) append(ports.guardNow(lost, pending, true));
    const guarded = ports.guardNow(message, pending, false);
    note(message);
    return append(guarded, ...more);
  };

  const appendLater = async (message: unknown, more: unknown[]): Promise<unknown> => {
    for (const lost of prepare(message)) await append(await ports.guard(lost, pending, true));
    const guarded = await ports.guard(message, pending, false);
    note(message);
    return append(guarded, ...more);
  };

  /** Runs one action after another, in the order in which they came. */
  function inTurn<R>(act: () => Promise<R>): Promise<R> {
    const turn = queue.then(act);
    queue = turn.catch(() => {});
    return turn;
  }

  const appendMessage: Append = ports.isAsync
    ? (message, ...more) => inTurn(() => appendLater(message, more))
    : appendNow;
  return {
    session: standFor(manager, appendMessage),
    pending: () => [...pending.calls],
    flush() {
      if (!ports.isAsync) return fill(pending.close()).map((lost) => append(ports.guardNow(lost, pending, true)));
      return inTurn(async () => {
        const returned: unknown[] = [];
        for (const lost of fill(pending.close())) returned.push(await append(await ports.guard(lost, pending, true)));
        return returned;
      });
    },
  };
}

function isStamped(message: unknown): boolean {
  try {
    return typeof (message as { timestamp?: unknown } | null)?.timestamp === "number";
  } catch {
    return false; // the message cannot be read
  }
}

/**
 * Returns the manager with another appendMessage. Its other methods run on the manager itself, because they may use
 * private fields.
 */
function standFor<T extends SessionManager>(manager: T, appendMessage: Append): T {
  // Proxies a new object, because a proxy over a frozen manager may not return other values for its fields.
  return new Proxy(Object.create(manager) as T, {
    get(_target, name) {
      if (name === "appendMessage") return appendMessage;
      const value: unknown = Reflect.get(manager, name, manager);
      return typeof value === "function" ? value.bind(manager) : value;
    },
    set: (_target, name, value) => Reflect.set(manager, name, value, manager),
  });
}
