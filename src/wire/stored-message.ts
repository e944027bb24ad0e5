import type { Wire, WireCall, WireLong, WireMedia, WireMessage, WireResult } from "../contract/wire.ts";

/** A message that is kept elsewhere, such as in a file. It is loaded each time something asks what it says. */
export abstract class StoredMessage {
  abstract load(): unknown;
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
    read: (message) => (message instanceof StoredMessage ? new StoredView(wire, message) : wire.read(message)),
    ...(sent !== undefined && { sent: (message: unknown) => sent(loaded(message)) }),
  };
}

// A file has very many messages. Getters of classes take a tenth of the memory that getters of single objects take. Nothing
// here refers to what was read first, which is free to go.

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
  readonly #hasMore: boolean;
  readonly #wire: Wire;
  readonly #message: StoredMessage;

  constructor(wire: Wire, message: StoredMessage) {
    const view = wire.read(message.load());
    this.role = view.role;
    this.id = view.id;
    this.chars = view.chars;
    this.aborted = view.aborted;
    this.malformed = view.malformed;
    this.media = laterMedia(view.media, () => this.#again().media);
    this.calls = view.calls.map((call, at) => new StoredCall(wire, message, call, at));
    this.results = view.results.map((result, at) => new StoredResult(wire, message, result, at));
    this.#hasText = view.text !== null;
    this.#hasMore = view.moreTexts !== undefined;
    this.#wire = wire;
    this.#message = message;
  }

  #again(): WireMessage {
    return this.#wire.read(this.#message.load());
  }

  get text(): string | null {
    return this.#hasText ? this.#again().text : null;
  }

  get moreTexts(): string[] | undefined {
    return this.#hasMore ? this.#again().moreTexts : undefined;
  }
}

class StoredCall implements WireCall {
  readonly id;
  readonly tool;
  readonly kind?: string;
  readonly long?: WireLong;
  readonly #wire: Wire;
  readonly #message: StoredMessage;
  readonly #at: number;

  constructor(wire: Wire, message: StoredMessage, { id, tool, kind, long }: WireCall, at: number) {
    this.id = id;
    this.tool = tool;
    if (kind !== undefined) this.kind = kind;
    if (long !== undefined) this.long = new StoredLong(this, long);
    this.#wire = wire;
    this.#message = message;
    this.#at = at;
  }

  again(): WireCall | undefined {
    return this.#wire.read(this.#message.load()).calls[this.#at];
  }

  get input(): unknown {
    return this.again()?.input;
  }
}

class StoredLong implements WireLong {
  readonly at;
  readonly isJson;
  readonly #call: StoredCall;

  constructor(call: StoredCall, { at, isJson }: WireLong) {
    this.at = at;
    this.isJson = isJson;
    this.#call = call;
  }

  get texts(): string[] {
    return this.#call.again()?.long?.texts ?? [];
  }
}

class StoredResult implements WireResult {
  readonly at;
  readonly id;
  readonly tool;
  readonly isError;
  readonly fixed;
  readonly media;
  readonly #wire: Wire;
  readonly #message: StoredMessage;
  readonly #place: number;

  constructor(wire: Wire, message: StoredMessage, result: WireResult, place: number) {
    this.at = result.at;
    this.id = result.id;
    this.tool = result.tool;
    this.isError = result.isError;
    this.fixed = result.fixed;
    this.media = laterMedia(result.media, () => this.#again()?.media);
    this.#wire = wire;
    this.#message = message;
    this.#place = place;
  }

  #again(): WireResult | undefined {
    return this.#wire.read(this.#message.load()).results[this.#place];
  }

  get texts(): string[] {
    return this.#again()?.texts ?? [];
  }

  get json(): object | undefined {
    return this.#again()?.json;
  }
}

const NO_MEDIA: WireMedia = Object.freeze({ count: 0, bytes: 0 });

function laterMedia({ data, ...media }: WireMedia, read: () => WireMedia | undefined): WireMedia {
  if (data === undefined)
    return media.count === 0 && media.bytes === 0 && media.tokens === undefined ? NO_MEDIA : media;
  const get = () => read()?.data ?? [];
  return Object.defineProperty(media, "data", { enumerable: true, configurable: true, get });
}
