import { createHash } from "node:crypto";
import type { Wire, WireCall } from "../contract/wire.ts";
import { READ_BACK_TOOLS } from "../recall/index.ts";
import { isRecord, type JsonRecord } from "../values.ts";
import { withField } from "../wire/record.ts";
import { type OfferedTool, OWN_SPEECHES, type OwnResult, type OwnSpeech, parsedInput } from "./own-speech.ts";

/** Reads artifacts back. A Spillway does. */
export type ReadsBack = Parameters<(typeof READ_BACK_TOOLS)[number]["call"]>[0];

/** Ours are told from a client's own tools by this. */
const PREFIX = "spillway_";
const TOOLS = READ_BACK_TOOLS.map((tool) => ({ ...tool, name: `${PREFIX}${tool.name}` }));

/** Our tools as they are offered. */
export const OWN_TOOLS: readonly OfferedTool[] = TOOLS;

/** Tells whether a call is to one of the tools that we added. */
export function isOwnTool(name: unknown): boolean {
  return TOOLS.some((tool) => tool.name === name);
}

/** Answers a call of ours. Never throws: the model reads what is wrong. */
export async function answerOwn(call: WireCall, from: ReadsBack): Promise<OwnResult> {
  const tool = TOOLS.find(({ name }) => name === call.tool);
  if (tool === undefined) return { call, text: `there is no tool ${call.tool}`, isError: true };
  return { call, ...(await tool.call(from, parsedInput(call.input))) };
}

/** A turn of which the client saw only part: all of it, and the results of our calls at its end. */
export interface HiddenTurn {
  /** The messages of all rounds, in order. */
  messages: readonly unknown[];
  /** The results of our calls in the last of them. */
  results: readonly OwnResult[];
}

const MAX_TURNS = 256;

/**
 * Turns that are put back into the client's next requests, since a provider wants each call with its result and the model
 * should see what it read. The oldest are forgotten: then the client's own history stands, which is valid by itself.
 */
export class HiddenTurns {
  readonly #turns = new Map<string, HiddenTurn>();

  /** Keeps a turn under the client's calls in it. `before` is what the client sent before it. */
  keep(calls: readonly WireCall[], before: readonly unknown[], turn: HiddenTurn): void {
    for (const call of calls) this.#turns.set(keyOf(call, before, before.length), turn);
    for (const oldest of this.#turns.keys()) {
      if (this.#turns.size <= MAX_TURNS) return;
      this.#turns.delete(oldest);
    }
  }

  /** Returns the messages with the turns put back, or the same list if there are none. */
  restore(wire: Wire, messages: readonly unknown[], isHeld: boolean): readonly unknown[] {
    const speech = OWN_SPEECHES[wire.name];
    if (this.#turns.size === 0 || speech === undefined) return messages;
    const restored: unknown[] = [];
    let isChanged = false;
    for (let at = 0; at < messages.length; at++) {
      const message = messages[at];
      const { calls, results } = wire.read(message);
      const answered = isHeld ? results.map(({ id }) => ({ id, tool: "", input: "" })) : [];
      const turn = this.#find([...calls, ...answered], messages, at);
      const put = turn === null ? null : putBack({ speech, messages, at, turn, isHeld, restored });
      isChanged ||= put !== null;
      restored.push(...(put?.messages ?? [message]));
      at += put?.taken ?? 0;
    }
    return isChanged ? restored : messages;
  }

  #find([call]: readonly WireCall[], messages: readonly unknown[], at: number): HiddenTurn | null {
    return call === undefined ? null : (this.#turns.get(keyOf(call, messages, at)) ?? null);
  }
}

/** Ids are the provider's, and unique. Gemini may leave them out: then the call is known by what was said before it. */
function keyOf({ id, tool, input }: WireCall, messages: readonly unknown[], at: number): string {
  if (id !== null) return id;
  const before = createHash("sha256")
    .update(JSON.stringify([messages[0], messages[at - 1]]))
    .digest("hex");
  return JSON.stringify([before, at, tool, input]);
}

interface Place {
  speech: OwnSpeech;
  messages: readonly unknown[];
  at: number;
  turn: HiddenTurn;
  isHeld: boolean;
  restored: unknown[];
}

/** Returns what stands for a message and for so many after it, or null if the turn does not fit there. */
function putBack({
  speech,
  messages,
  at,
  turn,
  isHeld,
  restored,
}: Place): { messages: unknown[]; taken: number } | null {
  const message = messages[at];
  const next = messages[at + 1];
  if (!isRecord(message)) return null;
  if (typeof message.type === "string" && message.role === undefined) {
    // Items of the Responses API. What the provider holds has our call already, and misses its result.
    if (isHeld) return { messages: [message, ...speech.results(turn.results)], taken: 0 };
    return { messages: mergeItems(message, turn, speech, restored), taken: 0 };
  }
  if (Array.isArray(message.tool_calls))
    return { messages: [...turn.messages, ...speech.results(turn.results)], taken: 0 };
  // Anthropic and Gemini want all results in one message, Gemini in the order of the calls.
  const [own] = speech.results(turn.results);
  if (turn.results.length === 0) return { messages: [...turn.messages], taken: 0 };
  const field = Array.isArray(message.parts) ? "parts" : "content";
  const ours: unknown = isRecord(own) ? own[field] : null;
  const theirs: unknown = isRecord(next) ? next[field] : null;
  if (!isRecord(next) || !Array.isArray(ours) || !Array.isArray(theirs)) return null;
  const blocks = field === "parts" ? inOrder(turn, ours, theirs) : [...ours, ...theirs];
  return { messages: [...turn.messages, withField(next, field, blocks)], taken: 1 };
}

/** Puts our calls and results among the client's items of the same turn, where they were. */
function mergeItems(last: JsonRecord, turn: HiddenTurn, speech: OwnSpeech, restored: unknown[]): unknown[] {
  const whole = [...turn.messages, ...speech.results(turn.results)].filter(isRecord);
  const nameOf = ({ type, id, call_id }: JsonRecord) => JSON.stringify([type, call_id ?? id]);
  const known = new Map(whole.map((item) => [nameOf(item), item]));
  const client = new Map([[nameOf(last), last]]);
  // The client's items before this one that belong to the turn.
  for (let item = restored.at(-1); isRecord(item) && known.has(nameOf(item)); item = restored.at(-1)) {
    client.set(nameOf(item), item);
    restored.pop();
  }
  const isHidden = new Set(whole.filter(({ name }) => isOwnTool(name)).map(({ call_id }) => call_id));
  const merged = whole.flatMap((item) => client.get(nameOf(item)) ?? (isHidden.has(item.call_id) ? [item] : []));
  const rest = [...client.values()].filter((item) => !merged.includes(item));
  return [...rest, ...merged];
}

/** Gemini's responses in the order of the calls. */
function inOrder({ messages }: HiddenTurn, own: readonly unknown[], given: readonly unknown[]): unknown[] {
  const isResponse = (part: unknown) => isRecord(part) && part.functionResponse !== undefined;
  const [ours, theirs] = [[...own], given.filter(isResponse)];
  const last = messages.at(-1);
  const calls = isRecord(last) && Array.isArray(last.parts) ? last.parts.filter(isRecord) : [];
  const ordered = calls.flatMap(({ functionCall }) => {
    if (!isRecord(functionCall)) return [];
    const next = isOwnTool(functionCall.name) ? ours.shift() : theirs.shift();
    return next === undefined ? [] : [next];
  });
  return [...ordered, ...ours, ...theirs, ...given.filter((part) => !isResponse(part))];
}
