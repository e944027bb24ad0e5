import type { Wire, WireCall, WireMessage, WireResult } from "../contract/wire.ts";

/** A result with the call it answers. */
export interface PairedResult {
  /** Which message holds the result. */
  message: number;
  result: WireResult;
  call: WireCall | null;
  callMessage: number | null;
  /** How many earlier results have the same id; without ids, the same tool. */
  occurrence: number;
  /** The tool's name as the result or its call says it. */
  tool: string;
}

const UNKNOWN_TOOL = "unknown";

interface Made {
  call: WireCall;
  message: number;
  isAnswered: boolean;
}

/** Calls under one id or name, in order. Those at the end that are answered are dropped when the next is asked for. */
interface Line {
  open: Made[];
  latest: Made;
  /** The message whose calls are being answered, and where in `open` to look for the next of them. */
  message: number;
  next: number;
}

/** Pairs the results of one message after another. */
export interface Pairing {
  add(view: WireMessage): PairedResult[];
}

/** Pairs results with calls, in order of results. */
export function pairResults(views: readonly WireMessage[]): PairedResult[] {
  const pairing = startPairing();
  return views.flatMap((view) => pairing.add(view));
}

/**
 * Starts pairing at a conversation's first message. Ids may repeat: a result answers the first unanswered call with its id
 * in the latest message that has one, and where all are answered, the latest. Without ids the tool's name stands for them.
 */
export function startPairing(): Pairing {
  const byId = new Map<string, Line>();
  const byTool = new Map<string, Line>();
  const bare = new Map<string, Line>();
  const countsById = new Map<string, number>();
  const countsByTool = new Map<string, number>();
  let message = -1;
  const find = ({ id, tool }: WireResult): Made | null => {
    const line = id === null ? byTool.get(tool ?? UNKNOWN_TOOL) : byId.get(id);
    if (line !== undefined) return take(line) ?? line.latest;
    const unnamed = id === null || tool === null ? undefined : bare.get(tool);
    return unnamed === undefined ? null : take(unnamed);
  };
  const pair = (result: WireResult): PairedResult => {
    const made = find(result);
    if (made !== null) made.isAnswered = true;
    const [counts, key] = result.id === null ? [countsByTool, result.tool ?? UNKNOWN_TOOL] : [countsById, result.id];
    const occurrence = counts.get(key) ?? 0;
    counts.set(key, occurrence + 1);
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
        else add(byId, call.id, made);
        // Gemini's ids are optional on either side.
        add(byTool, call.tool, made);
      }
      return view.results.map(pair);
    },
  };
}

function add(lines: Map<string, Line>, key: string, made: Made): void {
  const line = lines.get(key);
  if (line === undefined) lines.set(key, { open: [made], latest: made, message: -1, next: 0 });
  else {
    line.open.push(made);
    line.latest = made;
  }
}

function take(line: Line): Made | null {
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

/** Messages that answer calls which got no result: one for all where the format allows it, else one for each. */
export function missingMessages(wire: Wire, calls: readonly WireCall[], text: string): unknown[] {
  const single = calls.map((call) => wire.missing([call], text));
  const answerable = calls.filter((_call, at) => single[at] !== null);
  if (answerable.length === 0) return [];
  const whole = wire.missing(answerable, text);
  return wire.read(whole).results.length === answerable.length ? [whole] : single.filter((message) => message !== null);
}
