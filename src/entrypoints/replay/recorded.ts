import type { Wire } from "../../contract/wire.ts";
import { detectWire, readRequest, wireNamed } from "../../wire/index.ts";
import { callsFromShellBlocks, isChatMessage } from "./shell-blocks.ts";

/** A conversation that took place. */
export interface Recorded {
  name: string;
  wire: Wire;
  messages: readonly unknown[];
}

/** Where files of runs keep their messages. */
const FIELDS = ["messages", "traj", "trajectory", "history", "conversation"];

/**
 * The conversations in a JSON value: a list of messages, a request's body, a run with its messages under a field, or a list
 * of such runs. Empty if there are none.
 */
export function recordedIn(value: unknown, name: string, wire: Wire | null = null): Recorded[] {
  const one = conversationIn(value, name, wire);
  if (one !== null) return [one];
  if (!Array.isArray(value)) return [];
  return value.flatMap((each, index) => conversationIn(each, `${name}#${index + 1}`, wire) ?? []);
}

function conversationIn(value: unknown, name: string, named: Wire | null): Recorded | null {
  if (Array.isArray(value)) return ofMessages(value, name, named);
  if (typeof value !== "object" || value === null) return null;
  for (const field of FIELDS) {
    const messages = (value as Record<string, unknown>)[field];
    if (!Array.isArray(messages)) continue;
    const found = ofMessages(messages, name, named);
    if (found !== null) return found;
  }
  const request = readRequest(value);
  return request === null ? null : { name, wire: named ?? request.wire, messages: request.messages };
}

function ofMessages(messages: readonly unknown[], name: string, named: Wire | null): Recorded | null {
  const read = callsFromShellBlocks(messages);
  // Plain texts are the same in several formats: any of them reads them.
  const plain = read.length > 0 && read.every(isChatMessage) ? wireNamed("openai-chat") : null;
  const wire = named === null ? (detectWire(read) ?? plain) : named.detect(read) > 0 ? named : null;
  return wire === null ? null : { name, wire, messages: read };
}
