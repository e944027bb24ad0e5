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

/** The earlier body that is most like one, and with how many of its messages this one begins. */
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
      const body = this.#read(bytes, 0, shape);
      if (body !== null) this.#remember(body);
      return body;
    } catch {
      return null;
    }
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
    for (const [at, span] of (like?.spans ?? []).slice(0, same).entries()) {
      const moved = from - (like?.list.from ?? 0);
      spans.push({ from: span.from + moved, to: span.to + moved });
      messages.push(like?.messages[at]);
    }
    const to = moreElements(bytes, spans.at(-1)?.to ?? from + 1, spans);
    if (to === null) return null;
    for (const span of spans.slice(messages.length)) messages.push(parseSpan(bytes, span));
    return { list: { from, to }, spans, messages, like };
  }

  /** Finds the earlier body of which a list that starts at a place has most bytes in messages that are the same. */
  #mostAlike(bytes: Uint8Array, place: number): Alike {
    let best: Alike = { like: null, same: 0 };
    let bestBytes = -1;
    for (const known of this.#known.toReversed()) {
      const same = sameMessages(known, bytes, place);
      const sameBytes = endOf(known, same) - known.list.from;
      if (sameBytes > bestBytes) [best, bestBytes] = [{ like: known, same }, sameBytes];
      // Nothing is likelier than a list that goes on after all that came before.
      if (same === known.spans.length) break;
    }
    return best;
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

/** Where so many messages end. */
function endOf({ list, spans }: ExchangeBody, count: number): number {
  return spans[count - 1]?.to ?? list.from;
}

/** Counts the messages with which an earlier body and a list that starts at a place begin in the same bytes. */
function sameMessages(known: ExchangeBody, bytes: Uint8Array, place: number): number {
  const { list, spans } = known;
  let [same, step] = [0, 1];
  // Most bodies differ in the first message or go on after the last one.
  while (step > 0) {
    const more = Math.min(step, spans.length - same);
    const span = { from: endOf(known, same), to: endOf(known, same + more) };
    if (more > 0 && isSame(known.bytes, span, bytes, place + span.from - list.from)) {
      same += more;
      step *= 2;
    } else step = Math.floor(more / 2);
  }
  return same;
}

/** Returns true if the bytes of a span stand at a place of other bytes too. */
function isSame(one: Uint8Array, { from, to }: Span, other: Uint8Array, otherFrom: number): boolean {
  const otherTo = otherFrom + to - from;
  return otherTo <= other.length && asBuffer(one).compare(other, otherFrom, otherTo, from, to) === 0;
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
