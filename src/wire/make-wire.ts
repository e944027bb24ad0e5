import type { Wire, WireCall, WireEdit, WireMessage, WireRole } from "../contract/wire.ts";
import { isRecord, type JsonRecord, tried } from "../values.ts";

const MAX_SAMPLE = 64;

/** Describes one format. Its functions get records only, and may throw on malformed messages. */
export interface WireParts {
  name: string;
  /** Returns how surely one message is in this format, from 0 to 1. A negative result means that it cannot be. */
  sign(message: JsonRecord): number;
  read(message: JsonRecord): WireMessage;
  write(message: JsonRecord, edits: readonly WireEdit[]): JsonRecord;
  missing(calls: readonly WireCall[], text: string): unknown;
  say(text: string): unknown;
  /** Returns what of a message goes to the provider. If it is absent, all of it does. */
  sent?(message: JsonRecord): unknown;
}

/**
 * Makes a wire that keeps its promises on any input: if a function of `parts` throws, the message stays as it is and
 * counts as malformed.
 */
export function makeWire(parts: WireParts): Wire {
  return {
    name: parts.name,
    detect: (messages) => judge(messages, parts.sign),
    read(message) {
      const view = isRecord(message) ? tried(() => parts.read(message)) : null;
      return view ?? { ...emptyView("other"), malformed: 1 };
    },
    write(message, edits) {
      return isRecord(message) && edits.length > 0 ? (tried(() => parts.write(message, edits)) ?? message) : message;
    },
    missing: parts.missing,
    say: parts.say,
    sent(message) {
      return isRecord(message) && parts.sent !== undefined ? (tried(() => parts.sent?.(message)) ?? null) : message;
    },
  };
}

/** Returns a view that holds nothing yet. */
export function emptyView(role: WireRole): WireMessage {
  return {
    role,
    id: null,
    calls: [],
    results: [],
    chars: 0,
    media: { count: 0, bytes: 0 },
    text: null,
    aborted: false,
    malformed: 0,
  };
}

// Returns the strongest sign, reduced by the share of messages that cannot be in this format.
function judge(messages: readonly unknown[], sign: WireParts["sign"]): number {
  let [strongest, seen, refused] = [0, 0, 0];
  for (const message of sampleOf(messages)) {
    if (!isRecord(message)) continue;
    seen += 1;
    const strength = tried(() => sign(message)) ?? 0;
    if (strength < 0) refused += 1;
    else strongest = Math.max(strongest, strength);
  }
  return seen === 0 ? 0 : strongest * (1 - refused / seen) ** 2;
}

function sampleOf(messages: readonly unknown[]): readonly unknown[] {
  if (messages.length <= MAX_SAMPLE) return messages;
  return [...messages.slice(0, MAX_SAMPLE / 2), ...messages.slice(-MAX_SAMPLE / 2)];
}
