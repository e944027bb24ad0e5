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

/** A span, and the bytes that stand there instead. */
export interface Change {
  span: Span;
  pieces: readonly Uint8Array[];
}

/** Returns a body with changes in it, which do not overlap. */
export function writeBody(bytes: Uint8Array, changes: readonly Change[]): Uint8Array<ArrayBuffer> {
  const inOrder = changes.toSorted((one, other) => one.span.from - other.span.from);
  return joinBytes(withChanges(bytes, { from: 0, to: bytes.length }, inOrder));
}

/** The bytes of a span with changes in it, which come in order. */
function withChanges(bytes: Uint8Array, { from, to }: Span, changes: readonly Change[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let done = from;
  for (const { span, pieces: instead } of changes) {
    pieces.push(bytes.subarray(done, span.from), ...instead);
    done = span.to;
  }
  return [...pieces, bytes.subarray(done, to)];
}

const encoder = new TextEncoder();
/**
 * A message that stays as it is keeps its written form, so that the next request need not write it again: with 2,000 results
 * that are cut, a request takes 4 ms of CPU, and 20 without this.
 */
const written = new WeakMap<object, Uint8Array>();

/**
 * Returns the list with other messages in it, as pieces of bytes. What did not change is the bytes that came: a text that
 * is shorter now is written anew, and nothing else in its message is.
 */
export function writeList(body: BodyMessages, sent: readonly unknown[]): Uint8Array[] {
  const { bytes, list, spans, messages } = body;
  const places = new Map(messages.map((message, at) => [message, at]));
  const origins = sent.map((message) => originOf(message, places));
  if (sent.length === messages.length && origins.every((origin, at) => origin === at)) {
    const changes = sent.flatMap((message, at): Change[] => {
      return message === messages[at] ? [] : [{ span: spans[at] as Span, pieces: [writeMessage(body, message, at)] }];
    });
    return withChanges(bytes, list, changes);
  }
  // Messages went or came: the list is put together anew, of the bytes of those that stayed.
  const parts = sent.map((message, at) => {
    const origin = origins[at] ?? null;
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
  const text = joinBytes(writeValue(bytes, { from, to }, messages[at], message));
  if (isRecord(message)) written.set(message, text);
  return text;
}

/** Returns a value that stands in the bytes with what differs written anew. */
export function writeValue(bytes: Uint8Array, span: Span, before: unknown, after: unknown): Uint8Array[] {
  if (before === after) return [bytes.subarray(span.from, span.to)];
  if (isRecord(before) && isRecord(after)) return writeObject(bytes, span, before, after);
  if (Array.isArray(before) && Array.isArray(after)) return writeElements(bytes, span, before, after);
  return [encoder.encode(JSON.stringify(after))];
}

// What is changed was parsed from these bytes, so that its fields and elements are found in them.

function writeObject(bytes: Uint8Array, span: Span, before: JsonRecord, after: JsonRecord): Uint8Array[] {
  const { members = [] } = membersOf(bytes, span.from) ?? {};
  const last = new Map(members.map((member) => [member.name, member]));
  const value = (member: MemberSpan) =>
    // If a name occurs twice, only the last one counts.
    last.get(member.name) === member
      ? writeValue(bytes, member, before[member.name], after[member.name])
      : [bytes.subarray(member.from, member.to)];
  const kept = members.filter(({ name }) => after[name] !== undefined);
  const added = Object.keys(after).filter((name) => after[name] !== undefined && !last.has(name));
  if (kept.length === members.length && added.length === 0) {
    const changes = members.map((member) => ({ span: member, pieces: value(member) }));
    return withChanges(bytes, span, changes);
  }
  const stay = kept.map((member) => [bytes.subarray(member.nameFrom, member.from), ...value(member)]);
  const more = added.map((name) => [encoder.encode(`${JSON.stringify(name)}:${JSON.stringify(after[name])}`)]);
  return between("{", [...stay, ...more], "}");
}

function writeElements(
  bytes: Uint8Array,
  span: Span,
  before: readonly unknown[],
  after: readonly unknown[],
): Uint8Array[] {
  const { elements = [] } = elementsOf(bytes, span.from) ?? {};
  if (before.length === after.length) {
    const changes = elements.map((element, at) => ({
      span: element,
      pieces: writeValue(bytes, element, before[at], after[at]),
    }));
    return withChanges(bytes, span, changes);
  }
  // Elements went or came. One that changed was made of the next one of its type that is not there any more.
  const isKept = new Set(after);
  const left = before.flatMap((one, at) => (isKept.has(one) ? [] : [{ one, element: elements[at] as Span }]));
  const parts = after.map((one) => {
    const at = before.indexOf(one);
    if (at !== -1) return writeValue(bytes, elements[at] as Span, one, one);
    const source = left.findIndex((other) => typeOf(other.one) === typeOf(one));
    if (source === -1) return [encoder.encode(JSON.stringify(one))];
    const [made] = left.splice(source, 1) as [(typeof left)[number]];
    return writeValue(bytes, made.element, made.one, one);
  });
  return between("[", parts, "]");
}

/** Returns the list with more messages at its end. */
export function appendList({ bytes, list }: BodyMessages, more: readonly unknown[]): Uint8Array[] {
  const added = more.map((message) => encoder.encode(`,${JSON.stringify(message)}`));
  return [bytes.subarray(list.from, list.to - 1), ...added, CLOSE];
}

function typeOf(value: unknown): unknown {
  return isRecord(value) ? (value.type ?? Object.keys(value)[0]) : typeof value;
}

function between(open: string, parts: readonly Uint8Array[][], close: string): Uint8Array[] {
  const pieces = parts.flatMap((part, at) => (at === 0 ? part : [COMMA, ...part]));
  return [encoder.encode(open), ...pieces, encoder.encode(close)];
}
