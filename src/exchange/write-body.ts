import { isRecord, type JsonRecord, joinBytes } from "../values.ts";
import { copiedFrom } from "../wire/record.ts";
import { elementsOf, type MemberSpan, membersOf, type Span } from "./json-spans.ts";

/** The messages of a body, and where they stand in it. */
export interface BodyMessages {
  bytes: Uint8Array;
  /** The list of messages, with its brackets. */
  list: Span;
  spans: readonly Span[];
  messages: readonly unknown[];
}

const encoder = new TextEncoder();
/** A message that stays as it is keeps its written form, so that the next request need not write it again. */
const written = new WeakMap<object, Uint8Array>();

/**
 * Returns the list with other messages in it, as pieces of bytes. What did not change is the bytes that came: a text that
 * is shorter now is written anew, and nothing else in its message is.
 */
export function writeList(body: BodyMessages, sent: readonly unknown[]): Uint8Array[] {
  const { bytes, list, spans, messages } = body;
  const places = new Map(messages.map((message, at) => [message, at]));
  const isSameLength = sent.length === messages.length;
  const pieces: Uint8Array[] = [];
  let done = list.from;
  let isInPlace = isSameLength;
  for (const [at, message] of sent.entries()) {
    if (!isInPlace) break;
    if (message === messages[at]) continue;
    if (originOf(message, places) !== at) {
      isInPlace = false;
      break;
    }
    const span = spans[at] as Span;
    pieces.push(bytes.subarray(done, span.from), writeMessage(body, message, at));
    done = span.to;
  }
  if (isInPlace) return [...pieces, bytes.subarray(done, list.to)];
  // Messages went or came: the list is put together anew, of the bytes of those that stayed.
  const parts = sent.map((message) => {
    const origin = originOf(message, places);
    if (origin === null) return encoder.encode(JSON.stringify(message));
    const { from, to } = spans[origin] as Span;
    return message === messages[origin] ? bytes.subarray(from, to) : writeMessage(body, message, origin);
  });
  return [OPEN, ...parts.flatMap((part, at) => (at === 0 ? [part] : [COMMA, part])), CLOSE];
}

const [OPEN, COMMA, CLOSE] = ["[", ",", "]"].map((sign) => encoder.encode(sign)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
];

/** Returns which message of the body this one was made of, or null if it is new. */
function originOf(message: unknown, places: ReadonlyMap<unknown, number>): number | null {
  for (let one: unknown = message; one !== undefined; one = isRecord(one) ? copiedFrom(one) : undefined) {
    const at = places.get(one);
    if (at !== undefined) return at;
  }
  return null;
}

function writeMessage({ bytes, spans, messages }: BodyMessages, message: unknown, at: number): Uint8Array {
  const known = isRecord(message) ? written.get(message) : undefined;
  if (known !== undefined) return known;
  const { from, to } = spans[at] as Span;
  const text = joinBytes(new Differences(bytes).write(messages[at], message, { from, to }));
  if (isRecord(message)) written.set(message, text);
  return text;
}

/** Returns a value that stands in the bytes with what differs written anew. */
export function writeValue(bytes: Uint8Array, span: Span, before: unknown, after: unknown): Uint8Array[] {
  return new Differences(bytes).write(before, after, span);
}

/** Returns the list with more messages at its end. */
export function appendList({ bytes, list }: BodyMessages, more: readonly unknown[]): Uint8Array[] {
  const added = more.map((message) => encoder.encode(`,${JSON.stringify(message)}`));
  return [bytes.subarray(list.from, list.to - 1), ...added, CLOSE];
}

/** Writes a changed value by what differs from the one that stands in the bytes. */
class Differences {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  write(before: unknown, after: unknown, span: Span): Uint8Array[] {
    if (before === after) return [this.#raw(span)];
    if (isRecord(before) && isRecord(after)) return this.#object(before, after, span);
    if (Array.isArray(before) && Array.isArray(after)) return this.#list(before, after, span);
    return [encoder.encode(JSON.stringify(after))];
  }

  #raw({ from, to }: Span): Uint8Array {
    return this.#bytes.subarray(from, to);
  }

  #object(before: JsonRecord, after: JsonRecord, span: Span): Uint8Array[] {
    const members = membersOf(this.#bytes, span.from)?.members;
    if (members === undefined) return [encoder.encode(JSON.stringify(after))];
    const last = new Map(members.map((member) => [member.name, member]));
    const isGone = members.some(({ name }) => after[name] === undefined);
    const added = Object.keys(after).filter((name) => after[name] !== undefined && !last.has(name));
    const value = (member: MemberSpan) =>
      // If a name occurs twice, only the last one counts.
      last.get(member.name) === member
        ? this.write(before[member.name], after[member.name], member)
        : [this.#raw(member)];
    if (!isGone && added.length === 0) {
      const pieces: Uint8Array[] = [];
      let done = span.from;
      for (const member of members) {
        pieces.push(this.#bytes.subarray(done, member.from), ...value(member));
        done = member.to;
      }
      return [...pieces, this.#bytes.subarray(done, span.to)];
    }
    const kept = members
      .filter(({ name }) => after[name] !== undefined)
      .map((member) => [this.#bytes.subarray(member.nameFrom, member.from), ...value(member)]);
    const more = added.map((name) => [encoder.encode(`${JSON.stringify(name)}:${JSON.stringify(after[name])}`)]);
    return between("{", [...kept, ...more], "}");
  }

  #list(before: readonly unknown[], after: readonly unknown[], span: Span): Uint8Array[] {
    const elements = elementsOf(this.#bytes, span.from)?.elements;
    if (elements?.length !== before.length) return [encoder.encode(JSON.stringify(after))];
    if (before.length === after.length) {
      const pieces: Uint8Array[] = [];
      let done = span.from;
      for (const [at, element] of elements.entries()) {
        pieces.push(this.#bytes.subarray(done, element.from), ...this.write(before[at], after[at], element));
        done = element.to;
      }
      return [...pieces, this.#bytes.subarray(done, span.to)];
    }
    // Elements went or came. One that changed was made of the next one of its type that is not there any more.
    const isKept = new Set(after);
    const left = before.flatMap((one, at) => (isKept.has(one) ? [] : [{ one, element: elements[at] as Span }]));
    const parts = after.map((one) => {
      const at = before.indexOf(one);
      if (at !== -1) return [this.#raw(elements[at] as Span)];
      const source = left.findIndex((other) => typeOf(other.one) === typeOf(one));
      if (source === -1) return [encoder.encode(JSON.stringify(one))];
      const [made] = left.splice(source, 1) as [(typeof left)[number]];
      return this.write(made.one, one, made.element);
    });
    return between("[", parts, "]");
  }
}

function typeOf(value: unknown): unknown {
  return isRecord(value) ? (value.type ?? Object.keys(value)[0]) : typeof value;
}

function between(open: string, parts: readonly Uint8Array[][], close: string): Uint8Array[] {
  const pieces = parts.flatMap((part, at) => (at === 0 ? part : [COMMA, ...part]));
  return [encoder.encode(open), ...pieces, encoder.encode(close)];
}
