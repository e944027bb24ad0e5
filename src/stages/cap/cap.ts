import type { Wire } from "../../contract/wire.ts";
import { badInput } from "../../errors.ts";
import { detectWire } from "../../wire/index.ts";
import { copyWhole, type Json, startWalk } from "../clamp/bound-copy.ts";
import { readField } from "../clamp/bound-open.ts";
import { MESSAGE_TOO_LARGE } from "../mark/texts.ts";
import { checkNumber, describeValue } from "../policy/check-limits.ts";
import { NUMBERS } from "../policy/defaults.ts";
import { lightenMessage } from "./lighten-message.ts";
import { type MessageSource, type Stretch, settlePairs } from "./settle-pairs.ts";

export type { MessageSource };

/** Says how much of a history is handed over, and which part. */
export interface CapOptions {
  /** The most messages. It is applied before anything else. */
  limit?: number | undefined;
  /** The most bytes of the messages as JSON. The default is 80 KiB. */
  maxBytes?: number | undefined;
  /** How many of the newest messages to skip. Use `next` of the page before. */
  offset?: number | undefined;
  /** Returns the messages around the one with this id, or at this index. */
  around?: string | number | undefined;
  /** False leaves out messages of tool results. */
  includeTools?: boolean | undefined;
}

/** A history for another agent. */
export interface CappedHistory {
  /** JSON values. They are copies, except for texts. */
  messages: unknown[];
  /** True if something is missing: a message, part of a text, details, a signature, or an image's data. */
  truncated: boolean;
  /** True if a message within `limit` is missing. */
  droppedMessages: boolean;
  /** True if a text, thinking, partialJson or an argument of a call was cut. */
  contentTruncated: boolean;
  /** The bytes of `messages` as JSON in UTF-8. */
  bytes: number;
  /** How many newer messages were skipped. */
  offset: number;
  /** The `offset` of the next older page, or null if there is none. */
  next: number | null;
  /** The number of messages in the whole history. */
  total: number;
}

/** The brackets of the list. */
const BRACKETS_BYTES = 2;
/** How many messages at each end are read to detect the format. */
const SAMPLE = 32;

interface Copy {
  json: Json;
  bytes: number;
  isShortened: boolean;
  isReduced: boolean;
}

/**
 * Returns a history in at most `maxBytes` of JSON. Removes what a reader cannot use, cuts long texts, cuts
 * the arguments of calls in a message that would not fit otherwise, leaves out the oldest messages, and replaces a message that does not fit even alone by a placeholder. Never changes what it is
 * given.
 */
export function cap(messages: MessageSource, options: CapOptions = {}): CappedHistory {
  const maxBytes = checkNumber(options.maxBytes ?? NUMBERS.capBytes.default, NUMBERS.capBytes, "maxBytes", "bad-limit");
  const limit = wholeNumber(options.limit, "limit") ?? Infinity;
  const offset = wholeNumber(options.offset, "offset") ?? 0;
  const given: MessageSource = Array.isArray(messages) || isSource(messages) ? messages : [];
  const source = options.includeTools === false ? withoutResults(given) : given;
  const total = source.length;
  const anchor = options.around === undefined ? null : placeOf(source, options.around);
  const end = anchor === null ? Math.max(0, total - offset) : total;
  const wanted = Math.min(limit, end);
  if (wanted === 0) return answer([], false, { offset: total - end, next: null, total });
  const page = new Page(source, maxBytes);
  const grown = anchor === null ? page.growBack(end, wanted) : page.growAround(anchor, wanted);
  const target = { from: anchor ?? end - 1, to: (anchor ?? end - 1) + 1 };
  // If nothing fits, one message without its call is better than none. If even that has no room, a placeholder is
  // shown.
  const settled = grown.to > grown.from ? settlePairs(source, wireOf(source), grown, anchor) : target;
  const shown = settled.to > settled.from ? settled : target;
  const place = { offset: total - shown.to, next: shown.from > 0 ? total - shown.from : null, total };
  return answer(page.copies(shown), shown.to - shown.from < wanted, place);
}

/** The copies of one page. They are made while there is room. */
class Page {
  readonly #copies = new Map<number, Copy>();
  readonly #source: MessageSource;
  #left: number;

  constructor(source: MessageSource, maxBytes: number) {
    this.#source = source;
    this.#left = maxBytes - BRACKETS_BYTES;
  }

  /** Takes messages from the newest backwards, while there is room. */
  growBack(end: number, wanted: number): Stretch {
    let from = end;
    while (end - from < wanted && this.#take(from - 1)) from--;
    return { from, to: end };
  }

  /** Takes messages from one outwards, older and newer in turn. */
  growAround(anchor: number, wanted: number): Stretch {
    if (!this.#take(anchor)) return { from: anchor, to: anchor };
    let [from, to] = [anchor, anchor + 1];
    for (let [older, newer] = [true, true]; (older || newer) && to - from < wanted; ) {
      older &&= from > 0 && this.#take(from - 1);
      if (older) from--;
      newer &&= to < this.#source.length && to - from < wanted && this.#take(to);
      if (newer) to++;
    }
    return { from, to };
  }

  /** Returns null for a message that had no room. */
  copies({ from, to }: Stretch): (Copy | null)[] {
    return Array.from({ length: to - from }, (_, index) => this.#copies.get(from + index) ?? null);
  }

  #take(index: number): boolean {
    const room = this.#left - (this.#copies.size > 0 ? 1 : 0);
    const message = this.#source.at(index);
    const copy = copyMessage(message, room, false) ?? copyMessage(message, room, true);
    if (copy === null) return false;
    this.#left = room - copy.bytes;
    this.#copies.set(index, copy);
    return true;
  }
}

/** Returns null if the message takes more than `maxBytes` as JSON. Copies no more of it than that. */
function copyMessage(message: unknown, maxBytes: number, cutsCalls: boolean): Copy | null {
  const { value, isShortened, isReduced } = lightenMessage(message, cutsCalls);
  try {
    const walk = startWalk(maxBytes);
    const copied = copyWhole(value, maxBytes, walk);
    return copied && { ...copied, isShortened, isReduced: isReduced || walk.tooDeep };
  } catch {
    return null; // a limit of the engine itself
  }
}

function answer(
  copies: readonly (Copy | null)[],
  isShort: boolean,
  place: Pick<CappedHistory, "offset" | "next" | "total">,
): CappedHistory {
  const shown = copies.filter((copy) => copy !== null);
  const isOmitted = shown.length < copies.length;
  const droppedMessages = isShort || isOmitted;
  const contentTruncated = shown.some(({ isShortened }) => isShortened);
  const messages = isOmitted ? [{ role: "assistant", content: MESSAGE_TOO_LARGE }] : shown.map(({ json }) => json);
  const sizes = shown.reduce((sum, { bytes }) => sum + bytes + 1, -1);
  return {
    messages,
    truncated: droppedMessages || contentTruncated || shown.some(({ isReduced }) => isReduced),
    droppedMessages,
    contentTruncated,
    bytes: isOmitted ? JSON.stringify(messages).length : BRACKETS_BYTES + Math.max(0, sizes),
    ...place,
  };
}

/** Returns null if the format is not sure. Then nothing is known about calls and results. */
function wireOf(source: MessageSource): Wire | null {
  const { length } = source;
  const sample = Array.from({ length: Math.min(length, 2 * SAMPLE) }, (_, index) =>
    source.at(index < SAMPLE ? index : Math.max(index, length - 2 * SAMPLE + index)),
  );
  return detectWire(sample);
}

/** Returns the same messages without those of tool results. */
function withoutResults(source: MessageSource): MessageSource {
  const wire = wireOf(source);
  const kept: number[] = [];
  for (let index = 0; index < source.length; index++) {
    if (wire?.read(source.at(index)).role !== "result") kept.push(index);
  }
  return { length: kept.length, at: (index) => source.at(kept[index] as number) };
}

function placeOf(source: MessageSource, around: string | number): number {
  if (typeof around === "number" && Number.isSafeInteger(around) && around >= 0 && around < source.length)
    return around;
  const isId = typeof around === "string";
  for (let index = isId ? source.length - 1 : -1; index >= 0; index--) {
    if (idsOf(source.at(index)).includes(around)) return index;
  }
  throw badInput(`around: there is no message ${describeValue(around)} in this history`);
}

/** Returns the values of the fields in which formats keep a message's own id. */
function idsOf(message: unknown): unknown[] {
  if (typeof message !== "object" || message === null) return [];
  const inner = ["__openclaw", "kwargs"].map((name) => readField(message, name));
  return [message, ...inner].map((holder) =>
    typeof holder === "object" && holder !== null ? readField(holder, "id") : null,
  );
}

function wholeNumber(value: unknown, name: string): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw badInput(`${name} must be a whole number of 0 or more; got ${describeValue(value)}`);
}

function isSource(value: unknown): boolean {
  return typeof value === "object" && value !== null && typeof readField(value, "at") === "function";
}
