import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Wire, WireCall, WireResult } from "../contract/wire.ts";
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

/** A request as its client made it. */
export interface ClientRequest {
  wire: Wire;
  /** Whose request it is. Nobody gets a turn of somebody else's. */
  scope: string;
  messages: readonly unknown[];
}

/** A turn, the client's calls in it, and the conversation that it belongs to: what was said before it. */
interface KeptTurn {
  wire: string;
  calls: readonly WireCall[];
  before: string | undefined;
  /** How many messages were before it. */
  at: number;
  turn: HiddenTurn;
}

/**
 * Turns that are put back into the client's next requests, since a provider wants each call with its result and the model
 * should see what it read. The oldest are forgotten: then the client's own history stands, which is valid by itself.
 */
export class HiddenTurns {
  readonly #kept: KeptTurn[] = [];

  /** Keeps the turn that answered a request, by the client's calls in it. */
  keep(request: ClientRequest, calls: readonly WireCall[], turn: HiddenTurn): void {
    if (calls.length === 0) return;
    const at = request.messages.length;
    this.#kept.push({ wire: request.wire.name, calls, before: new Said(request).before(at), at, turn });
    if (this.#kept.length > MAX_TURNS) this.#kept.shift();
  }

  /** Returns the messages with the turns put back, or the same list if there are none. */
  restore(request: ClientRequest, isHeld: boolean): readonly unknown[] {
    const { wire, messages } = request;
    const speech = OWN_SPEECHES[wire.name];
    if (this.#kept.length === 0 || speech === undefined) return messages;
    const said = new Said(request);
    const restored: unknown[] = [];
    let isChanged = false;
    for (let at = 0; at < messages.length; at++) {
      const message = messages[at];
      const { calls, results } = wire.read(message);
      const turn = isHeld ? this.#findHeld(wire, results) : this.#find(calls, said, at);
      const put = turn === null ? null : putBack({ speech, messages, at, turn, isHeld, restored });
      isChanged ||= put !== null;
      restored.push(...(put?.messages ?? [message]));
      at += put?.taken ?? 0;
    }
    return isChanged ? restored : messages;
  }

  /** Ids alone do not tell: some models number their calls anew in each conversation, and some give no ids. */
  #find(calls: readonly WireCall[], said: Said, at: number): HiddenTurn | null {
    if (calls.length === 0) return null;
    const found = this.#kept.findLast((kept) => {
      // An item of the Responses API holds one call of a turn, a message all of them.
      const isItem = kept.wire === "openai-responses";
      const isThere = isItem ? kept.at <= at && at < kept.at + 2 * kept.turn.messages.length : kept.at === at;
      const isShown = isItem
        ? calls.every((call) => kept.calls.some((other) => isSameCall(call, other)))
        : calls.length === kept.calls.length && calls.every((call, of) => isSameCall(call, kept.calls[of]));
      return isThere && isShown && kept.wire === said.wire && said.before(kept.at) === kept.before;
    });
    return found?.turn ?? null;
  }

  /** What the provider holds is not in the request. Providers that do hold it give ids that are unique. */
  #findHeld({ name }: Wire, [result]: readonly WireResult[]): HiddenTurn | null {
    if (!result?.id) return null;
    return (
      this.#kept.findLast(({ wire, calls }) => wire === name && calls.some(({ id }) => id === result.id))?.turn ?? null
    );
  }
}

function isSameCall(one: WireCall, other: WireCall | undefined): boolean {
  if (other === undefined || one.id !== other.id || one.tool !== other.tool) return false;
  return isDeepStrictEqual(parsedInput(one.input), parsedInput(other.input));
}

/** What was said in a request, as digests. Fields that say nothing, such as a cache mark that moves, do not count. */
class Said {
  readonly wire: string;
  readonly #request: ClientRequest;
  /** The hashes of no message, of the first one, of the first two and so on. */
  readonly #digests: string[];

  constructor(request: ClientRequest) {
    this.wire = request.wire.name;
    this.#request = request;
    this.#digests = [digestOf(request.scope)];
  }

  before(count: number): string | undefined {
    const { wire, messages } = this.#request;
    while (this.#digests.length <= Math.min(count, messages.length)) {
      const { role, text, moreTexts, calls, results, media } = wire.read(messages[this.#digests.length - 1]);
      const made = calls.map(({ id, tool, input }) => [id, tool, input]);
      const given = results.map(({ id, texts, media: shown }) => [id, texts, shown]);
      this.#digests.push(digestOf([this.#digests.at(-1), role, text, moreTexts, made, given, media]));
    }
    return this.#digests[count];
  }
}

function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
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
