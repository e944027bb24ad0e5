import type { Wire, WireMedia, WireMessage } from "../contract/wire.ts";

/** A message that is kept elsewhere, such as in a file. It is loaded each time something asks what it says. */
export class StoredMessage {
  readonly load: () => unknown;

  constructor(load: () => unknown) {
    this.load = load;
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
    read: (message) =>
      message instanceof StoredMessage ? viewOf(() => wire.read(message.load())) : wire.read(message),
    write: (message, edits) => wire.write(loaded(message), edits),
    ...(sent !== undefined && { sent: (message: unknown) => sent(loaded(message)) }),
  };
}

// No function in here refers to the first view, so that it is free to go.
function viewOf(read: () => WireMessage): WireMessage {
  const { text, moreTexts, calls, results, media, ...rest } = read();
  const view: WireMessage = {
    ...rest,
    media: laterMedia(media, () => read().media),
    text: null,
    calls: calls.map(({ input: _input, long, ...call }, at) => {
      const texts = long && laterTexts(long.texts.length, () => read().calls[at]?.long?.texts ?? []);
      const made = { ...call, input: null as unknown, ...(texts && { long: { ...long, texts } }) };
      return later(made, "input", () => read().calls[at]?.input);
    }),
    results: results.map(({ texts, media: held, ...result }, at) => {
      const again = () => read().results[at];
      return {
        ...result,
        texts: laterTexts(texts.length, () => again()?.texts ?? []),
        media: laterMedia(held, () => again()?.media),
      };
    }),
  };
  if (text !== null) later(view, "text", () => read().text);
  if (moreTexts !== undefined) view.moreTexts = laterTexts(moreTexts.length, () => read().moreTexts ?? []);
  return view;
}

function laterTexts(count: number, read: () => readonly string[]): string[] {
  const texts: string[] = Array.from({ length: count }, () => "");
  for (let at = 0; at < count; at++) later(texts, at, () => read()[at] ?? "");
  return texts;
}

function laterMedia({ data, ...media }: WireMedia, read: () => WireMedia | undefined): WireMedia {
  return data === undefined
    ? media
    : later({ ...media, data: [] as readonly unknown[] }, "data", () => read()?.data ?? []);
}

function later<T extends object, Name extends keyof T>(value: T, name: Name, get: () => T[Name]): T {
  return Object.defineProperty(value, name, { enumerable: true, configurable: true, get });
}
