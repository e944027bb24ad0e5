import type { WireCall } from "../contract/wire.ts";
import { isRecord, type JsonRecord } from "../values.ts";

// How each API offers tools, makes calls and takes results, as far as our own recall and search need it: they are added to
// a request and answered here, so that the client sees neither their calls nor their results.

/** A tool in no API's form. */
export interface OfferedTool {
  name: string;
  description: string;
  inputSchema: unknown;
}

/** A call of ours with its answer. */
export interface OwnResult {
  call: WireCall;
  text: string;
  isError: boolean;
}

/** Tells whether a tool is ours. */
export type IsOwn = (tool: unknown) => boolean;

/** What was shown of an answer so far, over all its rounds. The client takes them for one. */
export interface Shown {
  /** How many blocks or items. */
  count: number;
  /** Items of the Responses API, which tells all of them again at the end. */
  items: unknown[];
  /** How many events. */
  events: number;
  /** The first event, by which the others go on. */
  first: JsonRecord | null;
  /** Counts from 0. */
  round: number;
}

/** Reads one round of a streamed answer. */
export interface StreamedTurn {
  /** Takes an event. Returns true if a call of ours has begun. */
  add(event: JsonRecord): boolean;
  /**
   * Returns an event as the client gets it: without our calls, and numbered on after what it has. The same object if nothing
   * is different, null if nothing is left. If there is more to come, what ends an answer is left out.
   */
  show(event: JsonRecord, isMore: boolean): JsonRecord | null;
  /** Returns what was said as an answer that is not streamed, as far as `turn` reads it. */
  answer(): JsonRecord;
}

/** One API. */
export interface OwnSpeech {
  /** Returns the request's tools with ours, or null if they cannot be added. */
  offer(tools: unknown, own: readonly OfferedTool[]): unknown;
  /** Returns the messages that an answer is in the next request. */
  turn(answer: JsonRecord): unknown[];
  /** Returns the messages that answer calls of ours. */
  results(results: readonly OwnResult[]): unknown[];
  /** Returns an answer without our calls, after what was shown of the rounds before it. */
  shown(answer: JsonRecord, isOwn: IsOwn, before: JsonRecord | null): JsonRecord;
  stream(isOwn: IsOwn, shown: Shown): StreamedTurn;
  /** Returns an event that tells of an error in the middle of a stream. */
  fault(error: JsonRecord): JsonRecord;
}

const records = (value: unknown): JsonRecord[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const recordOf = (value: unknown): JsonRecord => (isRecord(value) ? value : {});
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const anthropic: OwnSpeech = {
  offer: (tools, own) => {
    const ours = own.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }));
    return Array.isArray(tools) ? [...tools, ...ours] : null;
  },
  turn: ({ content }) => [{ role: "assistant", content }],
  results: (results) => [
    {
      role: "user",
      content: results.map(({ call, text, isError }) => ({
        type: "tool_result",
        tool_use_id: call.id,
        ...(isError && { is_error: true }),
        content: text,
      })),
    },
  ],
  shown(answer, isOwn, before) {
    const blocks = records(answer.content).filter((block) => !isOwnBlock(block, isOwn));
    const hasCalls = blocks.some(({ type }) => type === "tool_use");
    const content = [...records(before?.content), ...blocks];
    return hasCalls || answer.stop_reason !== "tool_use"
      ? { ...answer, content }
      : { ...answer, content, stop_reason: "end_turn" };
  },
  stream(isOwn, shown) {
    const content: JsonRecord[] = [];
    const inputs = new Map<number, string>();
    const places = new Map<number, number>();
    const own = new Set<number>();
    const grow = (block: JsonRecord | undefined, index: number, delta: JsonRecord) => {
      if (block === undefined) return;
      if (delta.type === "input_json_delta") inputs.set(index, (inputs.get(index) ?? "") + textOf(delta.partial_json));
      else if (delta.type === "citations_delta") block.citations = [...records(block.citations), delta.citation];
      else
        for (const name of ["text", "thinking", "signature"])
          if (typeof delta[name] === "string") block[name] = textOf(block[name]) + delta[name];
    };
    return {
      add(event) {
        const index = Number(event.index);
        if (event.type === "content_block_start") {
          content[index] = { ...recordOf(event.content_block) };
          if (isOwnBlock(content[index], isOwn)) own.add(index);
        } else if (event.type === "content_block_delta") grow(content[index], index, recordOf(event.delta));
        return own.size > 0;
      },
      show(given, isMore) {
        const { type, index } = given;
        if (type === "message_start") return shown.round === 0 ? given : null;
        if (type === "message_delta" || type === "message_stop") {
          const hasCalls = content.some((block, at) => block?.type === "tool_use" && !own.has(at));
          const delta = recordOf(given.delta);
          if (isMore) return null;
          if (hasCalls || delta.stop_reason !== "tool_use") return given;
          return { ...given, delta: { ...delta, stop_reason: "end_turn" } };
        }
        if (typeof index !== "number") return given;
        if (own.has(index)) return null;
        const place = places.get(index) ?? shown.count++;
        places.set(index, place);
        return place === index ? given : { ...given, index: place };
      },
      answer: () => ({
        content: content.map((block, index) => {
          return inputs.has(index) ? { ...block, input: parsedInput(inputs.get(index)) } : block;
        }),
      }),
    };
  },
  fault: (error) => ({ type: "error", error }),
};

function isOwnBlock({ type, name }: JsonRecord, isOwn: IsOwn): boolean {
  return type === "tool_use" && isOwn(name);
}

/** Arguments as an object. What is not JSON is the model's mistake, and is told as one. */
export function parsedInput(text: unknown): unknown {
  if (typeof text !== "string") return text;
  try {
    return text.trim() === "" ? {} : JSON.parse(text);
  } catch {
    return text;
  }
}

const openaiChat: OwnSpeech = {
  offer: (tools, own) => {
    const ours = own.map(({ name, description, inputSchema }) => ({
      type: "function",
      function: { name, description, parameters: inputSchema },
    }));
    return Array.isArray(tools) ? [...tools, ...ours] : null;
  },
  turn: (answer) => [messageIn(answer)],
  results: (results) => results.map(({ call, text }) => ({ role: "tool", tool_call_id: call.id, content: text })),
  shown(answer, isOwn, before) {
    const message = messageIn(answer);
    const calls = records(message.tool_calls).filter((call) => !isOwnFunction(call, isOwn));
    const said = [textOf(before === null ? "" : messageIn(before).content), textOf(message.content)].join("");
    const { tool_calls: _calls, ...rest } = message;
    const shown = { ...rest, content: said === "" ? null : said, ...(calls.length > 0 && { tool_calls: calls }) };
    const [choice = {}, ...more] = records(answer.choices);
    const isOver = calls.length === 0 && choice.finish_reason === "tool_calls";
    return { ...answer, choices: [{ ...choice, message: shown, ...(isOver && { finish_reason: "stop" }) }, ...more] };
  },
  stream(isOwn, shown) {
    const calls: JsonRecord[] = [];
    const said: Record<string, string> = {};
    const own = new Set<number>();
    const places = new Map<number, number>();
    const deltaOf = (event: JsonRecord) => recordOf(records(event.choices)[0]?.delta);
    return {
      add(event) {
        const delta = deltaOf(event);
        for (const name of ["content", "reasoning_content", "refusal"])
          if (typeof delta[name] === "string") said[name] = (said[name] ?? "") + delta[name];
        for (const part of records(delta.tool_calls)) {
          const index = Number(part.index ?? 0);
          const { index: _index, function: made, ...rest } = part;
          const before = recordOf(calls[index]?.function);
          const name = before.name ?? recordOf(made).name;
          const text = textOf(before.arguments) + textOf(recordOf(made).arguments);
          calls[index] = { ...calls[index], ...rest, function: { name, arguments: text } };
          if (isOwn(name)) own.add(index);
        }
        return own.size > 0;
      },
      show(given, isMore) {
        shown.first ??= given;
        const { id, created } = shown.first;
        const event = given.id === id ? given : { ...given, id, created };
        const [choice, ...more] = records(given.choices);
        // The usage stands in a chunk of its own.
        if (choice === undefined) return isMore ? null : event;
        const { tool_calls: made, ...delta } = deltaOf(given);
        const parts = records(made).filter(({ index }) => !own.has(Number(index ?? 0)));
        const numbered = parts.map((part) => {
          const index = Number(part.index ?? 0);
          const place = places.get(index) ?? places.size;
          places.set(index, place);
          return place === index ? part : { ...part, index: place };
        });
        const finished = isMore ? null : choice.finish_reason;
        const isOver = finished === "tool_calls" && calls.every((_call, index) => own.has(index));
        const isSame =
          finished === choice.finish_reason && !isOver && numbered.every((part, at) => part === records(made)[at]);
        if (isSame && numbered.length === records(made).length) return event;
        const isEmpty = numbered.length === 0 && !textOf(delta.content) && (finished ?? null) === null;
        if (isEmpty) return null;
        const shownDelta = numbered.length === 0 ? delta : { ...delta, tool_calls: numbered };
        const ending = isOver ? "stop" : finished;
        return { ...event, choices: [{ ...choice, delta: shownDelta, finish_reason: ending }, ...more] };
      },
      answer: () => {
        const { content = null, ...rest } = said;
        const message = { role: "assistant", content, ...rest, ...(calls.length > 0 && { tool_calls: calls }) };
        return { choices: [{ message }] };
      },
    };
  },
  fault: (error) => ({ error }),
};

function messageIn(answer: JsonRecord): JsonRecord {
  return recordOf(records(answer.choices)[0]?.message);
}

function isOwnFunction({ function: made }: JsonRecord, isOwn: IsOwn): boolean {
  return isOwn(recordOf(made).name);
}

/** Events of the Responses API with which a stream begins. */
const BEGINS = new Set<unknown>(["response.created", "response.in_progress", "response.queued"]);
const ENDS = new Set<unknown>(["response.completed", "response.incomplete", "response.failed"]);

const openaiResponses: OwnSpeech = {
  offer: (tools, own) => {
    const ours = own.map(({ name, description, inputSchema }) => ({
      type: "function",
      name,
      description,
      parameters: inputSchema,
      strict: false,
    }));
    return Array.isArray(tools) ? [...tools, ...ours] : null;
  },
  turn: ({ output }) => records(output),
  results: (results) =>
    results.map(({ call, text }) => ({ type: "function_call_output", call_id: call.id, output: text })),
  shown: (answer, isOwn, before) => ({
    ...answer,
    output: [...records(before?.output), ...records(answer.output).filter((item) => !isOwnItem(item, isOwn))],
  }),
  stream(isOwn, shown) {
    const items: JsonRecord[] = [];
    const own = new Set<number>();
    const places = new Map<number, number>();
    return {
      add({ output_index, item }) {
        if (typeof output_index === "number" && isRecord(item)) {
          items[output_index] = item;
          if (isOwnItem(item, isOwn)) own.add(output_index);
        }
        return own.size > 0;
      },
      show(given, isMore) {
        const { type, output_index, sequence_number, response: whole } = given;
        if (BEGINS.has(type) && shown.round > 0) return null;
        if (typeof output_index === "number" && own.has(output_index)) return null;
        if (ENDS.has(type) && isMore) {
          shown.items.push(...items.filter((_item, at) => !own.has(at)));
          return null;
        }
        let event = given;
        if (typeof output_index === "number") {
          const place = places.get(output_index) ?? shown.count++;
          places.set(output_index, place);
          if (place !== output_index) event = { ...event, output_index: place };
        }
        if (ENDS.has(type) && (own.size > 0 || shown.items.length > 0)) {
          const output = [...shown.items, ...records(recordOf(whole).output).filter((item) => !isOwnItem(item, isOwn))];
          event = { ...event, response: { ...recordOf(whole), output } };
        }
        const sequence = shown.events++;
        if (typeof sequence_number === "number" && sequence_number !== sequence)
          event = { ...event, sequence_number: sequence };
        return event;
      },
      answer: () => ({ output: items }),
    };
  },
  fault: (error) => ({ type: "error", ...error, sequence_number: 0 }),
};

function isOwnItem({ type, name }: JsonRecord, isOwn: IsOwn): boolean {
  return type === "function_call" && isOwn(name);
}

const gemini: OwnSpeech = {
  offer(tools, own) {
    const ours = own.map(({ name, description, inputSchema }) => ({ name, description, parameters: inputSchema }));
    const at = records(tools).findIndex((tool) => Array.isArray(tool.functionDeclarations));
    // A second list of functions, or one beside tools of Google's own, is refused.
    if (!Array.isArray(tools) || at === -1) return null;
    return tools.map((tool: unknown, index) => {
      if (index !== at || !isRecord(tool)) return tool;
      return { ...tool, functionDeclarations: [...records(tool.functionDeclarations), ...ours] };
    });
  },
  turn: (answer) => [{ role: "model", parts: partsIn(answer) }],
  results: (results) => [
    {
      role: "user",
      parts: results.map(({ call, text, isError }) => ({
        functionResponse: {
          ...(call.id !== null && { id: call.id }),
          name: call.tool,
          response: isError ? { error: text } : { output: text },
        },
      })),
    },
  ],
  shown(answer, isOwn, before) {
    const parts = [...(before === null ? [] : partsIn(before)), ...partsIn(answer)];
    return withParts(
      answer,
      parts.filter((part) => !isOwnPart(part, isOwn)),
    );
  },
  stream(isOwn) {
    const parts: JsonRecord[] = [];
    let hasOwn = false;
    return {
      add(given) {
        parts.push(...partsIn(given));
        hasOwn ||= partsIn(given).some((part) => isOwnPart(part, isOwn));
        return hasOwn;
      },
      show(given, isMore) {
        const all = partsIn(given);
        const left = all.filter((part) => !isOwnPart(part, isOwn));
        const isEnd = records(given.candidates)[0]?.finishReason !== undefined;
        if (left.length === 0 && (isMore || (!isEnd && all.length > 0))) return null;
        if (left.length === all.length && !(isMore && isEnd)) return given;
        return withParts(given, left, isMore);
      },
      answer: () => withParts({}, parts),
    };
  },
  fault: (error) => ({ error }),
};

function partsIn(answer: JsonRecord): JsonRecord[] {
  return records(recordOf(records(answer.candidates)[0]?.content).parts);
}

function withParts(answer: JsonRecord, parts: readonly JsonRecord[], isMore = false): JsonRecord {
  const [first = {}, ...more] = records(answer.candidates);
  const { finishReason, ...rest } = first;
  const ending = isMore || finishReason === undefined ? {} : { finishReason };
  return { ...answer, candidates: [{ ...rest, content: { ...recordOf(first.content), parts }, ...ending }, ...more] };
}

function isOwnPart({ functionCall }: JsonRecord, isOwn: IsOwn): boolean {
  return isOwn(recordOf(functionCall).name);
}

/** By the name of the wire. */
export const OWN_SPEECHES: Readonly<Record<string, OwnSpeech>> = {
  anthropic,
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  gemini,
};
