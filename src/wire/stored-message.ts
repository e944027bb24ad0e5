import type { Wire, WireCall, WireLong, WireMedia, WireMessage, WireResult } from "../contract/wire.ts";

/** A message that is kept elsewhere, such as in a file. It is loaded each time something asks what it says. */
export class StoredMessage {
  readonly #make: () => unknown;

  constructor(make: () => unknown) {
    this.#make = make;
  }

  load(): unknown {
    return this.#make();
  }
}

/** Returns the message itself. */
export function loaded(message: unknown): unknown {
  return message instanceof StoredMessage ? message.load() : message;
}

/** Makes a wire read stored messages too. What it returns of them holds no text, and loads the message where one is read. */
export function readsStored(wire: Wire): Wire {
  const { sent } = wire;
  return {
    ...wire,
    read: (message) => (message instanceof StoredMessage ? new Reading(wire, message).view() : wire.read(message)),
    // A changed message of a file is no smaller than the file's, so it is made where it is written down.
    write: (message, edits) =>
      message instanceof StoredMessage
        ? new StoredMessage(() => wire.write(message.load(), edits))
        : wire.write(message, edits),
    ...(sent !== undefined && { sent: (message: unknown) => sent(loaded(message)) }),
  };
}

// A file has very many messages. Getters of classes take a tenth of the memory that getters of single objects take, and a
// reference to one reading takes less than a function.

class Reading {
  readonly #wire: Wire;
  readonly #message: StoredMessage;

  constructor(wire: Wire, message: StoredMessage) {
    this.#wire = wire;
    this.#message = message;
  }

  again(): WireMessage {
    return this.#wire.read(this.#message.load());
  }

  /** Nothing in it refers to what was read first, which is free to go. */
  view(): WireMessage {
    return new StoredView(this, this.again());
  }
}

class StoredView implements WireMessage {
  readonly role;
  readonly id;
  readonly chars;
  readonly aborted;
  readonly malformed;
  readonly media;
  readonly calls: WireCall[];
  readonly results: WireResult[];
  readonly #hasText: boolean;
  readonly #moreTexts: number;
  readonly #reading: Reading;

  constructor(reading: Reading, view: WireMessage) {
    this.role = view.role;
    this.id = view.id;
    this.chars = view.chars;
    this.aborted = view.aborted;
    this.malformed = view.malformed;
    this.media = laterMedia(view.media, () => reading.again().media);
    this.calls = listOf(view.calls, (call, at) => new StoredCall(reading, call, at));
    this.results = listOf(view.results, (result, at) => new StoredResult(reading, result, at));
    this.#hasText = view.text !== null;
    this.#moreTexts = view.moreTexts?.length ?? 0;
    this.#reading = reading;
  }

  get text(): string | null {
    return this.#hasText ? this.#reading.again().text : null;
  }

  get moreTexts(): string[] | undefined {
    return this.#moreTexts === 0 ? undefined : laterTexts(this.#moreTexts, () => this.#reading.again().moreTexts ?? []);
  }
}

class StoredCall implements WireCall {
  readonly id;
  readonly tool;
  readonly kind?: string;
  readonly long?: WireLong;
  readonly #reading: Reading;
  readonly #at: number;

  constructor(reading: Reading, { id, tool, kind, long }: WireCall, at: number) {
    this.id = id;
    this.tool = tool;
    if (kind !== undefined) this.kind = kind;
    if (long !== undefined) this.long = new StoredLong(reading, long, at);
    this.#reading = reading;
    this.#at = at;
  }

  get input(): unknown {
    return this.#reading.again().calls[this.#at]?.input;
  }
}

class StoredLong implements WireLong {
  readonly at;
  readonly isJson;
  readonly #reading: Reading;
  readonly #call: number;
  readonly #count: number;

  constructor(reading: Reading, { at, isJson, texts }: WireLong, call: number) {
    this.at = at;
    this.isJson = isJson;
    this.#reading = reading;
    this.#call = call;
    this.#count = texts.length;
  }

  get texts(): string[] {
    return laterTexts(this.#count, () => this.#reading.again().calls[this.#call]?.long?.texts ?? []);
  }
}

class StoredResult implements WireResult {
  readonly at;
  readonly id;
  readonly tool;
  readonly isError;
  readonly fixed;
  readonly media;
  readonly #reading: Reading;
  readonly #at: number;
  readonly #count: number;

  constructor(reading: Reading, { at, id, tool, isError, fixed, media, texts }: WireResult, place: number) {
    this.at = at;
    this.id = id;
    this.tool = tool;
    this.isError = isError;
    this.fixed = fixed;
    this.media = laterMedia(media, () => reading.again().results[place]?.media);
    this.#reading = reading;
    this.#at = place;
    this.#count = texts.length;
  }

  get texts(): string[] {
    return laterTexts(this.#count, () => this.#reading.again().results[this.#at]?.texts ?? []);
  }

  get json(): object | undefined {
    return this.#reading.again().results[this.#at]?.json;
  }
}

const NONE: never[] = [];

function listOf<T, U>(list: readonly T[], make: (one: T, at: number) => U): U[] {
  return list.length === 0 ? NONE : list.map(make);
}

function laterTexts(count: number, read: () => readonly string[]): string[] {
  const texts: string[] = Array.from({ length: count }, () => "");
  for (let at = 0; at < count; at++) later(texts, at, () => read()[at] ?? "");
  return texts;
}

const NO_MEDIA: WireMedia = Object.freeze({ count: 0, bytes: 0 });

function laterMedia({ data, ...media }: WireMedia, read: () => WireMedia | undefined): WireMedia {
  if (data !== undefined) return later({ ...media, data: [] as readonly unknown[] }, "data", () => read()?.data ?? []);
  return media.count === 0 && media.bytes === 0 && media.tokens === undefined ? NO_MEDIA : media;
}

function later<T extends object, Name extends keyof T>(value: T, name: Name, get: () => T[Name]): T {
  return Object.defineProperty(value, name, { enumerable: true, configurable: true, get });
}
