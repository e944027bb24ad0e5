import { type CapOptions, type CappedHistory, cap, type MessageSource } from "../stages/cap/cap.ts";
import type { PersistAbout, PersistHook } from "./guard-message.ts";
import type { GuardedSession, SessionManager } from "./guard-session.ts";
import {
  type Guarding,
  type GuardOptions,
  type GuardParts,
  type GuardSessionOptions,
  newGuarding,
} from "./guarding.ts";

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

/** What may be done with messages that are kept or handed over, rather than sent. */
export interface Histories extends Guarding {
  /** A history for another agent: long texts cut, the oldest left out, in at most 80 KiB of JSON. */
  cap(messages: MessageSource, options?: CapOptions): CappedHistory;
}

/** Puts them together. */
export function newHistories(parts: GuardParts): Histories {
  const { recorder, now } = parts;
  return {
    ...newGuarding(parts),
    cap(messages, options) {
      const { messages: shown, ...capped } = cap(messages, options);
      const event = { kind: "history-capped" as const, atMs: now(), session: null, tool: null, call: null };
      if (capped.truncated) void recorder.event({ ...event, artifact: null, receipt: null, more: { ...capped } });
      return { messages: shown, ...capped };
    },
  };
}
