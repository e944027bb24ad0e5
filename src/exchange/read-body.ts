import { isRecord, type JsonRecord } from "../values.ts";
import type { BodyShape } from "./endpoint.ts";
import { asBuffer, type MemberSpan, moreElements, parseSpan, readObject, type Span } from "./json-spans.ts";
import type { BodyMessages } from "./write-body.ts";

/** A request's body: where its messages stand, and what else it says. */
export interface ExchangeBody extends BodyMessages {
  shape: BodyShape;
  /** The small fields that say something about the request. */
  about: JsonRecord;
  /** What is sent besides the messages. Frozen: the same bytes give the same object. */
  beside: Readonly<JsonRecord>;
  /** The fields of the object that holds the messages, in order. */
  members: readonly MemberSpan[];
}

/** Gemini's countTokens may wrap the request that it counts. */
const WRAPPER = "generateContentRequest";
/** The longest list of fields that is read. No provider has nearly as many. */
const MAX_MEMBERS = 1000;

/** The list of messages, and the earlier body from which its first ones were taken. */
interface FoundList extends Omit<BodyMessages, "bytes"> {
  like: ExchangeBody | null;
}

/** The earlier body that is most like one, and how many bytes of their lists are the same from the start on. */
interface Alike {
  like: ExchangeBody | null;
  same: number;
}

/** Reads bodies, and remembers the latest ones. */
export class BodyReader {
  readonly #maxBytes: number;
  readonly #maxBodies: number;
  /** The newest last. */
  readonly #known: ExchangeBody[] = [];
  #bytes = 0;

  constructor(limits: { maxBytes: number; maxBodies: number }) {
    this.#maxBytes = limits.maxBytes;
    this.#maxBodies = limits.maxBodies;
  }

  /**
   * Reads a body. A message that begins an earlier body in the same bytes is the same object as then, so that it is neither
   * parsed nor weighed again. Returns null if the body is not JSON or has no messages. The bytes must not be changed later.
   */
  read(bytes: Uint8Array, shape: BodyShape): ExchangeBody | null {
    try {
      const body = this.#readAgain(bytes, shape) ?? this.#read(bytes, 0, shape);
      if (body !== null) this.#remember(body);
      return body;
    } catch {
      return null;
    }
  }

  /** Reads a body that differs from an earlier one only in its messages, as most do. Returns null for others. */
  #readAgain(bytes: Uint8Array, shape: BodyShape): ExchangeBody | null {
    const alike = this.#mostAlike(bytes);
    const { like } = alike;
    if (like?.shape !== shape) return null;
    const { list: before, about, beside } = like;
    if (!isSame(like.bytes, { from: 0, to: before.from }, bytes, 0)) return null;
    const found = this.#messages(bytes, before.from, alike);
    if (found === null || found.messages.length === 0 || !found.messages.every(isRecord)) return null;
    const { list, spans, messages } = found;
    const after = { from: before.to, to: like.bytes.length };
    const moved = list.to - before.to;
    if (bytes.length - after.to !== moved || !isSame(like.bytes, after, bytes, list.to)) return null;
    const members = like.members.map((member) => {
      const { name, nameFrom, from, to } = member;
      if (to < before.to) return member;
      return from === before.from
        ? { name, nameFrom, ...list }
        : { name, nameFrom: nameFrom + moved, from: from + moved, to: to + moved };
    });
    return { bytes, shape, list, spans, messages, about, beside, members };
  }

  #read(bytes: Uint8Array, from: number, shape: BodyShape): ExchangeBody | null {
    const lists: FoundList[] = [];
    const members = readObject(bytes, from, (name, at) => {
      if (name !== shape.messages || bytes[at] !== OPEN_ARRAY) return null;
      const list = this.#messages(bytes, at, this.#mostAlike(bytes, at));
      if (list === null) return null;
      lists.push(list);
      return list.list.to;
    });
    if (members === null || members.length > MAX_MEMBERS) return null;
    const last = new Map(members.map((member) => [member.name, member]));
    const wrapped = last.get(WRAPPER);
    const [found] = lists;
    if (found === undefined) return wrapped === undefined || from > 0 ? null : this.#read(bytes, wrapped.from, shape);
    const { list, spans, messages, like } = found;
    // A name that occurs twice is too odd to touch.
    if (last.get(shape.messages)?.from !== list.from || messages.length === 0) return null;
    if (!messages.every(isRecord)) return null;
    const read = (names: readonly string[]) => names.flatMap((name) => last.get(name) ?? []);
    const about = valuesOf(bytes, read(shape.about));
    const spansBeside = read(shape.beside);
    const isKnown = like?.shape === shape && isSameBeside(like, bytes, spansBeside);
    const beside = isKnown ? like.beside : Object.freeze(valuesOf(bytes, spansBeside));
    return { bytes, shape, list, spans, messages, about, beside, members };
  }

  /** Reads the messages. Those that begin an earlier body are taken from it. */
  #messages(bytes: Uint8Array, from: number, { like, same }: Alike): FoundList | null {
    const spans: Span[] = [];
    const messages: unknown[] = [];
    if (like !== null) {
      const moved = from - like.list.from;
      for (const [at, span] of like.spans.entries()) {
        if (span.to - like.list.from > same) break;
        spans.push({ from: span.from + moved, to: span.to + moved });
        messages.push(like.messages[at]);
      }
    }
    const to = moreElements(bytes, spans.at(-1)?.to ?? from + 1, spans);
    if (to === null) return null;
    for (const span of spans.slice(messages.length)) messages.push(parseSpan(bytes, span));
    return { list: { from, to }, spans, messages, like };
  }

  /**
   * Finds the earlier body whose list has the longest common start with this one, and how long that is. The list starts at
   * `place`, or where the earlier body has it.
   */
  #mostAlike(bytes: Uint8Array, place?: number): Alike {
    let [like, same]: [ExchangeBody | null, number] = [null, 0];
    for (let at = this.#known.length - 1; at >= 0; at--) {
      const known = this.#known[at] as ExchangeBody;
      const { list } = known;
      const from = place ?? list.from;
      const most = Math.min(list.to - list.from, bytes.length - from);
      // One that differs no later than the best so far is no better.
      if (most <= same || known.bytes[list.from + same] !== bytes[from + same]) continue;
      const common = commonBytes(known.bytes, list.from, bytes, from, most);
      if (common > same) [like, same] = [known, common];
      // Nothing is likelier than a list that goes on after all that came before.
      if (common >= list.to - list.from - 1) break;
    }
    return { like, same };
  }

  #remember(body: ExchangeBody): void {
    const { bytes } = body;
    if (bytes.length > this.#maxBytes) return;
    // The body that this one goes on from is not needed any more.
    const before = this.#known.findIndex(({ messages }) => {
      return messages.length <= body.messages.length && messages.at(-1) === body.messages[messages.length - 1];
    });
    if (before !== -1) this.#forget(before);
    this.#known.push(body);
    this.#bytes += bytes.length;
    while (this.#bytes > this.#maxBytes || this.#known.length > this.#maxBodies) this.#forget(0);
  }

  #forget(at: number): void {
    const [gone] = this.#known.splice(at, 1);
    this.#bytes -= gone?.bytes.length ?? 0;
  }
}

const OPEN_ARRAY = 0x5b;
const NEAR_BYTES = 64;

/** Counts the bytes that two places have in common. */
function commonBytes(one: Uint8Array, oneFrom: number, other: Uint8Array, otherFrom: number, most: number): number {
  const near = Math.min(most, NEAR_BYTES);
  for (let at = 0; at < near; at++) if (one[oneFrom + at] !== other[otherFrom + at]) return at;
  let [same, step] = [near, most - near];
  // What differs mostly stands at the end, so long stretches are compared first.
  while (step > 0) {
    const length = Math.min(step, most - same);
    const span = { from: oneFrom + same, to: oneFrom + same + length };
    if (length > 0 && isSame(one, span, other, otherFrom + same)) same += length;
    else step = Math.floor(Math.min(step, length) / 2);
  }
  return same;
}

function isSame(one: Uint8Array, { from, to }: Span, other: Uint8Array, otherFrom: number): boolean {
  return to === from || asBuffer(one).compare(other, otherFrom, otherFrom + to - from, from, to) === 0;
}

function isSameBeside(
  { bytes, beside, members }: ExchangeBody,
  now: Uint8Array,
  spans: readonly MemberSpan[],
): boolean {
  if (Object.keys(beside).length !== spans.length) return false;
  return spans.every(({ name, from, to }) => {
    const before = members.findLast((member) => member.name === name);
    if (before === undefined || before.to - before.from !== to - from) return false;
    return isSame(bytes, before, now, from);
  });
}

function valuesOf(bytes: Uint8Array, members: readonly MemberSpan[]): JsonRecord {
  return Object.fromEntries(members.map((member) => [member.name, parseSpan(bytes, member)]));
}
