import type { TokenCounter } from "../contract/token-counter.ts";
import type { Wire, WireCall, WireLong, WireMessage, WireResult } from "../contract/wire.ts";
import { joinTexts } from "../stages/prune/trim-text.ts";
import {
  add,
  countSamples,
  NO_WEIGHT,
  subtract,
  type WeighedMessage,
  type Weight,
  weighMessage,
  weighSystemAndTools,
  weighText,
  weighTexts,
} from "../stages/prune/weight.ts";
import type { JsonRecord } from "../values.ts";
import { StoredMessage } from "../wire/stored-message.ts";
import type { MessageChange } from "./form.ts";

/** A result as it came, weighed once. */
export interface ReadResult {
  result: WireResult;
  /** Texts and media together. */
  weight: Weight;
  /** Texts only: what a form can stand for. */
  texts: Weight & { lines: number };
  /** How many texts it has. */
  count: number;
  sha256: string | null;
}

/** The long strings of a call as they came, weighed once. They are read as a result's texts are. */
export interface ReadCall extends ReadResult {
  call: WireCall;
  long: WireLong;
  lengths: readonly number[];
}

/** A message as its wire reads it, weighed once. */
export interface ReadMessage extends Pick<WeighedMessage, "view"> {
  source: unknown;
  /** What the message held when it was read, by identity. */
  content: unknown;
  length: number;
  /** What is outside results, calls and media. */
  outside: Weight;
  results: ReadResult[];
  calls: ReadCall[];
  /** Images, audio and files outside results; null if there are none. They are read as a result without texts. */
  media: ReadResult | null;
  /** The message with these changes, kept so that the next request gets the same object. */
  written: { change: MessageChange; message: unknown } | null;
}

/** Returns true if a message is the one that was read, and still holds what it held: hosts sometimes put more into it. */
export function isUnchanged({ source, content, length }: ReadMessage, message: unknown): boolean {
  if (message !== source) return false;
  if (typeof message !== "object" || message === null) return true;
  const now = contentOf(message);
  return now === content && lengthOf(now) === length;
}

interface Known {
  read: ReadMessage;
  wire: Wire;
}

/** Texts of forms whose weight is remembered: so many of up to so many characters. */
const MAX_KNOWN = 1000;
const KNOWN_CHARS = 300;

function plain({ chars, tokens, bytes }: Weight): Weight {
  return { chars, tokens, bytes };
}

/** Reads messages, each object once. */
export class MessageReader {
  readonly #count: (text: string) => number;
  readonly #known = new WeakMap<object, Known>();
  readonly #weights = new Map<string, Weight>();
  readonly #frozen = new WeakMap<object, Weight>();

  constructor(counter: TokenCounter) {
    this.#count = countSamples(counter);
  }

  /** Reads a message. If it says the same as one that was read with this wire, nothing of it is read or weighed again. */
  read(wire: Wire, message: unknown, earlier?: ReadMessage): ReadMessage {
    if (typeof message !== "object" || message === null) return this.#weigh(wire, message);
    // It is read for one request, and takes the most memory of all.
    if (message instanceof StoredMessage) return new StoredRead(wire, this.#weigh(wire, message));
    const known = this.#known.get(message);
    if (known !== undefined && known.wire === wire && isUnchanged(known.read, message)) return known.read;
    const isCopy = earlier !== undefined && earlier.source !== message && isSame(earlier.source, message);
    const read = isCopy ? readAgain(earlier, message) : this.#weigh(wire, message);
    this.#known.set(message, { read, wire });
    return read;
  }

  /** The text of a form of a result, or of a call's long strings. */
  weigh(texts: readonly string[], long?: WireLong): Weight {
    if (long !== undefined) return plain(weighTexts(texts, long, this.#count));
    const text = joinTexts(texts);
    const weight = this.#weights.get(text) ?? plain(weighText(text, this.#count));
    // The lines of ours that stand for a result come in every request.
    if (text.length <= KNOWN_CHARS && this.#weights.size < MAX_KNOWN) this.#weights.set(text, weight);
    return weight;
  }

  /** What is sent besides the messages. A frozen object is weighed once. */
  weighSystemAndTools(systemAndTools: unknown): Weight {
    const isFrozen = typeof systemAndTools === "object" && systemAndTools !== null && Object.isFrozen(systemAndTools);
    if (!isFrozen) return weighSystemAndTools(systemAndTools, this.#count);
    const weight = this.#frozen.get(systemAndTools) ?? weighSystemAndTools(systemAndTools, this.#count);
    this.#frozen.set(systemAndTools, weight);
    return weight;
  }

  #weigh(wire: Wire, message: unknown): ReadMessage {
    const { view, outside, outsideMedia, results, calls } = weighMessage(wire, message, this.#count);
    const content = typeof message === "object" && message !== null ? contentOf(message) : null;
    return {
      source: message,
      content,
      length: lengthOf(content),
      view,
      outside: subtract(outside, outsideMedia),
      results: results.map(({ texts, media, count }, at) => {
        const weight = media === NO_WEIGHT ? texts : add(texts, media);
        return { result: view.results[at] as WireResult, texts, weight, count, sha256: null };
      }),
      calls: calls.map(({ call, long, texts, lengths }) => {
        const result = new LongResult(call, long);
        return { result, texts, weight: texts, count: lengths.length, sha256: null, call, long, lengths };
      }),
      media: view.media.count === 0 ? null : readMedia(view, outsideMedia),
      written: null,
    };
  }
}

const NONE: never[] = [];

/** A stored message as it was read, without what it says. What is seldom asked for is read again. */
class StoredRead implements ReadMessage {
  readonly source;
  readonly results: ReadResult[];
  readonly calls: ReadCall[];
  readonly media;
  readonly #wire: Wire;
  readonly #chars: number;
  readonly #tokens: number;
  readonly #bytes: number;
  /** Until it is asked for the first time. */
  #view: WireMessage | null;

  constructor(wire: Wire, { source, view, outside, results, calls, media }: ReadMessage) {
    this.source = source;
    this.results = results.length === 0 ? NONE : results;
    this.calls = calls.length === 0 ? NONE : calls;
    this.media = media;
    this.#wire = wire;
    this.#chars = outside.chars;
    this.#tokens = outside.tokens;
    this.#bytes = outside.bytes;
    this.#view = view;
  }

  get content(): null {
    return null;
  }

  get length(): number {
    return -1;
  }

  get written(): null {
    return null;
  }

  get view(): WireMessage {
    const view = this.#view ?? this.#wire.read(this.source);
    this.#view = null;
    return view;
  }

  get outside(): Weight {
    return { chars: this.#chars, tokens: this.#tokens, bytes: this.#bytes };
  }
}

const NO_MEDIA = { count: 0, bytes: 0 };

/** The long strings of a call in the shape of a result. */
class LongResult implements WireResult {
  readonly isError = false;
  readonly fixed = false;
  readonly media = NO_MEDIA;
  readonly #call: WireCall;
  readonly #long: WireLong;

  constructor(call: WireCall, long: WireLong) {
    this.#call = call;
    this.#long = long;
  }

  get at(): string {
    return this.#long.at;
  }

  get id(): string | null {
    return this.#call.id;
  }

  get tool(): string {
    return this.#call.tool;
  }

  /** Read anew each time: they may stand in a file. */
  get texts(): string[] {
    return this.#long.texts;
  }
}

const NO_TEXTS = { ...NO_WEIGHT, lines: 0 };

function readMedia({ media, role }: WireMessage, weight: Weight): ReadResult {
  // Whatever an assistant made stays as it is.
  const fixed = role !== "user" && role !== "result";
  const result = { at: "media", id: null, tool: null, isError: false, texts: [], media, fixed };
  return { result, texts: NO_TEXTS, weight, count: 0, sha256: null };
}

/** The reading of a message for a copy of it. */
export function readAgain(read: ReadMessage, message: object): ReadMessage {
  const content = contentOf(message);
  return { ...read, source: message, content, length: lengthOf(content) };
}

const MAX_DEPTH = 64;

/** Returns true if two values hold the same, as far as that can be seen: objects that show nothing of what they hold are not the same. */
export function isSame(one: unknown, other: unknown): boolean {
  try {
    return holdsSame(one, other, 0);
  } catch {
    return false; // a field that throws
  }
}

function holdsSame(one: unknown, other: unknown, depth: number): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (depth > MAX_DEPTH || Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
  if (Array.isArray(one)) {
    const others = other as unknown[];
    return one.length === others.length && one.every((each, at) => holdsSame(each, others[at], depth + 1));
  }
  const names = Object.keys(one);
  const isPlain = Object.getPrototypeOf(one) === Object.prototype;
  if (names.length !== Object.keys(other).length || (names.length === 0 && !isPlain)) return false;
  const [fields, others] = [one as JsonRecord, other as JsonRecord];
  return names.every((name) => Object.hasOwn(others, name) && holdsSame(fields[name], others[name], depth + 1));
}

/** Where formats keep what a message says. */
function contentOf(message: object): unknown {
  const { content, ports, output } = message as { content?: unknown; ports?: unknown; output?: unknown };
  return content ?? ports ?? output;
}

function lengthOf(content: unknown): number {
  return Array.isArray(content) ? content.length : -1;
}

/** What a message says, without what hosts change between requests: the ids of messages, thoughts, and marks for caches. */
export function saidIn({ role, text, moreTexts, calls, results, media }: WireMessage): unknown[] {
  const given = results.map(({ id, texts, media: shown }) => [id, texts, shown.bytes]);
  return [role, text, moreTexts ?? [], calls.map(({ id, tool, input }) => [id, tool, input]), given, media.bytes];
}
