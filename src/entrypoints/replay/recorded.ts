import type { Wire } from "../../contract/wire.ts";
import { detectWire, readRequest, wireNamed } from "../../wire/index.ts";

/** A conversation that took place. */
export interface Recorded {
  name: string;
  wire: Wire;
  messages: readonly unknown[];
  /** How many of the messages another conversation had too: its requests are not played again. */
  carried?: number;
  /** Requests of the recording that are in no conversation, such as those of other branches. */
  leftOut?: number;
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

interface ChatMessage {
  role: string;
  content: string;
}

const BLOCK = /```(?:bash|sh)\n([\s\S]*?)\n?```/;
/** How mini-swe-agent begins an output, or the word that a command took too long. */
const OBSERVATION = /^(?:<returncode>|The last command <command>)/;

/**
 * Agents without tool calls write a command as a code block and get its output from the user. Pruning is about results, so
 * such messages are read as a call and its result; what they say stays the same.
 */
function callsFromShellBlocks(messages: readonly unknown[]): readonly unknown[] {
  const isPlain = messages.every(isChatMessage);
  if (!isPlain || !messages.some(({ role, content }) => role === "user" && OBSERVATION.test(content))) return messages;
  return messages.map((message, index) => {
    const before = messages[index - 1];
    const after = messages[index + 1];
    if (message.role === "user" && before !== undefined && isAnswered(before, message)) {
      return { role: "tool", tool_call_id: `call_${index - 1}`, content: message.content };
    }
    if (after === undefined || !isAnswered(message, after)) return message;
    const [block = "", command = ""] = BLOCK.exec(message.content) ?? [];
    const call = { name: "bash", arguments: JSON.stringify({ command }) };
    return {
      role: "assistant",
      content: message.content.replace(block, () => ""),
      tool_calls: [{ id: `call_${index}`, type: "function", function: call }],
    };
  });
}

function isAnswered(message: ChatMessage, next: ChatMessage): boolean {
  return (
    message.role === "assistant" &&
    next.role === "user" &&
    OBSERVATION.test(next.content) &&
    BLOCK.test(message.content)
  );
}

/** A message of plain text. */
function isChatMessage(message: unknown): message is ChatMessage {
  if (typeof message !== "object" || message === null) return false;
  const { role, content, tool_calls } = message as Record<string, unknown>;
  return typeof role === "string" && typeof content === "string" && tool_calls === undefined;
}
