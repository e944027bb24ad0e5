// Gemini streams one JSON list, element by element, to clients that do not ask for events. What reads events reads it too if
// each element is taken for one.
import { type ExchangeResponse, Frames, type FrameText, formOf, isOk, MAX_FRAME_CHARS } from "./answer.ts";

/** Splits a list of objects into its elements, each as a frame of a stream of events. */
export class Elements {
  readonly #decoder = new TextDecoder();
  /** What came of the element that is not complete yet. */
  #pending = "";
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** The beginning of a long element was handed on already. */
  #isBegun = false;

  /** Returns the elements that are complete with these bytes, and pieces of one that is too long. */
  add(chunk: Uint8Array): FrameText[] {
    return this.#take(this.#decoder.decode(chunk, { stream: true }));
  }

  /** What is left at the end is no element. */
  end(): FrameText[] {
    return [];
  }

  #take(text: string): FrameText[] {
    const frames: FrameText[] = [];
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      const char = text[at];
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (char === "\\") this.#isEscaped = true;
        else if (char === '"') this.#isInString = false;
      } else if (char === "{") {
        if (this.#depth++ === 0) from = at;
      } else if (char === '"' && this.#depth > 0) this.#isInString = true;
      else if (char === "}" && --this.#depth === 0) {
        frames.push(this.#frame(text.slice(from, at + 1), true));
        from = at + 1;
      }
    }
    if (this.#depth > 0) this.#pending += text.slice(from);
    if (this.#pending.length > MAX_FRAME_CHARS) frames.push(this.#frame("", false));
    return frames;
  }

  #frame(text: string, isEnd: boolean): FrameText {
    const json = (this.#pending + text).replaceAll(/[\r\n]+/g, " ");
    const isWhole = isEnd && !this.#isBegun;
    const frame = { text: `${this.#isBegun ? "" : "data: "}${json}${isEnd ? "\n\n" : ""}`, isWhole };
    this.#pending = "";
    this.#isBegun = !isEnd;
    return frame;
  }
}

/** A response that streams a list, read as a stream of events. Others stay as they are. */
export class ListAsEvents<R extends ExchangeResponse> implements ExchangeResponse {
  readonly response: R;
  readonly status: number;
  readonly url: string;
  readonly isList: boolean;

  constructor(response: R) {
    this.response = response;
    this.status = response.status;
    this.url = response.url ?? "";
    this.isList = isOk(response) && formOf(response) === "json";
  }

  readonly headers = {
    get: (name: string) =>
      this.isList && name === "content-type" ? "text/event-stream" : this.response.headers.get(name),
  };

  get body(): AsyncIterable<Uint8Array> | null {
    const { body } = this.response;
    return body === null || !this.isList ? body : eventsOf(body);
  }
}

const encoder = new TextEncoder();

async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const elements = new Elements();
  for await (const chunk of body) {
    const text = elements.add(chunk).map((frame) => frame.text);
    if (text.length > 0) yield encoder.encode(text.join(""));
  }
}

/** Writes a stream of events as a list again. */
export async function* listOf(events: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const frames = new Frames();
  let before = "[";
  let isOpen = false;
  const write = ({ text }: FrameText): string => {
    const isData = isOpen || text.startsWith("data:");
    const start = isOpen ? "" : before;
    if (isData) before = ",\r\n";
    isOpen = isData && !/\n\r?\n$|\r\r$/.test(text);
    return isData ? start + text.replace(start === "" ? "" : /^data: ?/, "").replace(/[\r\n]+$/, "") : "";
  };
  for await (const chunk of events) {
    const text = frames.add(chunk).map(write).join("");
    if (text !== "") yield encoder.encode(text);
  }
  yield encoder.encode(`${frames.end().map(write).join("")}${before === "[" ? "[" : ""}]`);
}
