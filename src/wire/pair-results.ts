import type { Wire, WireCall, WireMessage, WireResult, WireRole } from "../contract/wire.ts";

/** A result with the call that it answers. */
export interface PairedResult {
  /** The index of the message that holds the result. */
  message: number;
  result: WireResult;
  call: WireCall | null;
  callMessage: number | null;
  /** How many earlier results have the same id, or the same tool if there is no id. */
  occurrence: number;
  /** The tool's name, from the result or from its call. */
  tool: string;
}

const UNKNOWN_TOOL = "unknown";

interface Made {
  call: WireCall;
  message: number;
  isAnswered: boolean;
}

/** Several calls under one id or name, in order. Answered calls at the end are dropped when the next call is needed. */
interface Line {
  open: Made[];
  latest: Made;
  /** The message whose calls are being answered, and the place in `open` of the next one. */
  message: number;
  next: number;
}

/** Pairs the results of one message after another. */
export interface Pairing {
  add(view: WireMessage): PairedResult[];
}

/** Pairs results with calls, in the order of the results. */
export function pairResults(views: readonly WireMessage[]): PairedResult[] {
  const pairing = startPairing();
  return views.flatMap((view) => pairing.add(view));
}

/**
 * Starts pairing at a conversation's first message. Ids may repeat: a result answers the first unanswered call with its
 * id in the latest message that has one. If all are answered, it answers the latest call. If there are no ids, the
 * tool's name is used instead.
 */
export function startPairing(): Pairing {
  const byId: Lines = new Map();
  const byTool: Lines = new Map();
  const bare: Lines = new Map();
  /** How often an id or a tool is answered; only what is not answered exactly once, by its one call, stands here. */
  const countsById = new Map<string, number>();
  const countsByTool = new Map<string, number>();
  let message = -1;
  const find = ({ id, tool }: WireResult): Made | null => {
    const line = id === null ? byTool.get(tool ?? UNKNOWN_TOOL) : byId.get(id);
    if (line !== undefined) return take(line) ?? latestOf(line);
    const unnamed = id === null || tool === null ? undefined : bare.get(tool);
    return unnamed === undefined ? null : take(unnamed);
  };
  const occurrenceOf = ({ id, tool }: WireResult): number => {
    const [counts, key] = id === null ? [countsByTool, tool ?? UNKNOWN_TOOL] : [countsById, id];
    const line = id === null ? undefined : byId.get(id);
    const isFirst = line !== undefined && !("open" in line) && !line.isAnswered && !counts.has(key);
    if (isFirst) return 0;
    const occurrence = counts.get(key) ?? answersOf(line);
    counts.set(key, occurrence + 1);
    return occurrence;
  };
  const pair = (result: WireResult): PairedResult => {
    const occurrence = occurrenceOf(result);
    const made = find(result);
    if (made !== null) made.isAnswered = true;
    return {
      message,
      result,
      call: made?.call ?? null,
      callMessage: made?.message ?? null,
      occurrence,
      tool: result.tool ?? made?.call.tool ?? UNKNOWN_TOOL,
    };
  };
  return {
    add(view) {
      message += 1;
      for (const call of view.calls) {
        const made: Made = { call, message, isAnswered: false };
        if (call.id === null) add(bare, call.tool, made);
        else {
          const before = answersOf(byId.get(call.id));
          if (before > 0 && !countsById.has(call.id)) countsById.set(call.id, before);
          add(byId, call.id, made);
        }
        // In Gemini's format, ids are optional for calls and for results.
        add(byTool, call.tool, made);
      }
      return view.results.map(pair);
    },
  };
}

/** Most ids are of one call. */
type Lines = Map<string, Line | Made>;

function latestOf(line: Line | Made): Made {
  return "open" in line ? line.latest : line;
}

/** How often the one call of an id was answered, as far as it tells itself. */
function answersOf(line: Line | Made | undefined): number {
  return line === undefined || "open" in line || !line.isAnswered ? 0 : 1;
}

function add(lines: Lines, key: string, made: Made): void {
  const line = lines.get(key);
  if (line === undefined) lines.set(key, made);
  else if ("open" in line) {
    line.open.push(made);
    line.latest = made;
  } else lines.set(key, { open: [line, made], latest: made, message: -1, next: 0 });
}

function take(line: Line | Made): Made | null {
  if (!("open" in line)) return line.isAnswered ? null : line;
  const { open } = line;
  while (open.at(-1)?.isAnswered) open.pop();
  const last = open.at(-1);
  if (last === undefined) return null;
  if (line.message !== last.message) {
    line.message = last.message;
    line.next = open.length - 1;
    while (open[line.next - 1]?.message === last.message) line.next -= 1;
  }
  while (open[line.next]?.isAnswered) line.next += 1;
  return open[line.next] ?? null;
}

/**
 * Returns messages that answer calls which got no result: one message for all calls if the format allows it, otherwise
 * one for each.
 */
export function missingMessages(wire: Wire, calls: readonly WireCall[], text: string): unknown[] {
  const single = calls.map((call) => wire.missing([call], text));
  const answerable = calls.filter((_call, at) => single[at] !== null);
  if (answerable.length === 0) return [];
  const whole = wire.missing(answerable, text);
  return wire.read(whole).results.length === answerable.length ? [whole] : single.filter((message) => message !== null);
}

/**
 * Returns where a conversation may be cut, in order: before the messages of a turn, and never between a call and its
 * result. If there is no assistant's turn, a user's message counts as one. Nothing is cut before the first message that
 * is said.
 */
export function turnPlaces(
  roles: readonly WireRole[],
  pairs: readonly Pick<PairedResult, "message" | "callMessage">[],
): number[] {
  // Holds, as differences, how many pairs a cut before each message would split.
  const opened = new Int32Array(roles.length + 1);
  for (const { message, callMessage } of pairs) {
    if (callMessage === null || callMessage >= message) continue;
    opened[callMessage + 1] = (opened[callMessage + 1] ?? 0) + 1;
    opened[message + 1] = (opened[message + 1] ?? 0) - 1;
  }
  const head = roles.findIndex((role) => role !== "system" && role !== "other");
  const [turns, users]: [number[], number[]] = [[], []];
  let split = 0;
  roles.forEach((role, at) => {
    split += opened[at] ?? 0;
    if (at <= head || split > 0) return;
    // Some formats spread one turn over several messages. They stay together.
    if (role === "assistant" && roles[at - 1] !== "assistant") turns.push(at);
    if (role === "user") users.push(at);
  });
  return turns.length > 0 ? turns : users;
}
