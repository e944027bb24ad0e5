import { NUMBERS } from "../stages/policy/defaults.ts";
import { isBeforeOutput, isError, MAX_BODY_BYTES, parseFrame } from "../stages/recover/peek-response.ts";
import { readUsage } from "../stages/recover/read-evidence.ts";
import { isObject, isRecord } from "../values.ts";
import { asBuffer } from "./json-spans.ts";

/** A response as the exchange reads it: a fetch Response, or what another client gives. Its body is not compressed. */
export interface ExchangeResponse {
  status: number;
  headers: { get(name: string): string | null };
  body: AsyncIterable<Uint8Array> | null;
  url?: string;
  /** Takes all of the body, if it is here already: most answers that are no stream come with their headers. */
  takeWhole?(): Uint8Array | null;
}

/** What the client gets. */
export interface Exchanged<R extends ExchangeResponse> {
  /** The provider's response: its status and headers. Its body is read already. */
  response: R;
  /** The bytes of the body, as they come. To leave early ends the provider's response. */
  body: AsyncIterable<Uint8Array> | null;
  /** All of the body, if it is here already: then nobody needs to iterate over it. */
  whole: Uint8Array | null;
  /** True if the body is not the provider's to the byte, so that its length may be another. */
  isChanged: boolean;
  /** True if the request was refused for its size whatever was tried. To send it again would not help. */
  isFinal: boolean;
}

/** What an answer says about tokens. Null where it does not. */
export interface AnswerUsage {
  inputTokens: number | null;
  outputTokens: number | null;
  /** How much of the input came from a cache and was written to one; left out if the provider does not say it. */
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
}

/** "events": a stream of events. "json": one value. "other": nothing that is looked at. */
type AnswerForm = "events" | "json" | "other";

/** Tells in which form an answer comes. */
export function formOf({ headers }: ExchangeResponse): AnswerForm {
  const type = headers.get("content-type") ?? "";
  return /\bevent-stream\b/.test(type) ? "events" : /\bjson\b/.test(type) ? "json" : "other";
}

/** Tells whether a response is an answer, and not a refusal. */
export function isOk({ status }: ExchangeResponse): boolean {
  return status >= 200 && status < 300;
}

/** Reads a response up to its first output. What was read is handed on with the rest. */
export class Answer<R extends ExchangeResponse> {
  readonly response: R;
  readonly form: AnswerForm;
  readonly #source: AsyncIterator<Uint8Array> | null;
  readonly #held: Uint8Array[] = [];
  /** How many of them were looked at. */
  #seen = 0;
  /** A read that was begun while the response was looked at, and has not come yet. */
  #coming: Promise<IteratorResult<Uint8Array>> | null = null;
  #ended: boolean;
  #fault: { error: unknown } | null = null;
  /** The time for looking at the body is over, and who is told so. */
  #isLate = false;
  #late: (() => void) | null = null;

  constructor(response: R) {
    this.response = response;
    this.form = formOf(response);
    const whole = response.takeWhole?.() ?? null;
    if (whole !== null) this.#held.push(whole);
    this.#source = whole === null ? (response.body?.[Symbol.asyncIterator]() ?? null) : null;
    this.#ended = this.#source === null;
  }

  get isOk(): boolean {
    return isOk(this.response);
  }

  /**
   * Returns the error with which a stream begins, or null if it begins with output, or with nothing for so long that its
   * client should see what came.
   */
  firstError(
    holdMs: number = NUMBERS.recoverHoldMs.default,
    frames: Pick<Frames, "add" | "end"> = new Frames(),
  ): Promise<unknown> {
    return this.#until(holdMs, () => this.#firstError(frames));
  }

  async #firstError(frames: Pick<Frames, "add" | "end">): Promise<unknown> {
    let bytes = 0;
    while (bytes < NUMBERS.recoverPeekBytes.default) {
      const chunk = await this.#more();
      bytes += chunk?.length ?? 0;
      for (const frame of chunk === null ? frames.end() : frames.add(chunk)) {
        const event = frame.isWhole ? parseFrame(frame.text) : null;
        if (isBeforeOutput(event)) continue;
        return isError(event) ? event : null;
      }
      if (chunk === null) return null;
    }
    return null;
  }

  /**
   * Returns all of the body as text, or null if it is too long to hold, or a list that a provider streams. If the body takes
   * too long, it is what came until then.
   */
  text(lookMs: number = NUMBERS.recoverLookMs.default): Promise<string | null> {
    return this.#until(lookMs, () => this.#text());
  }

  async #text(): Promise<string | null> {
    let bytes = 0;
    for (;;) {
      const chunk = await this.#more();
      if (chunk === null) return asBuffer(joined(this.#held)).toString("utf8");
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES || (this.isOk && this.form === "json" && beginsList(this.#held[0]))) return null;
    }
  }

  /** All of the body, if it was read to its end. */
  get whole(): Uint8Array | null {
    return this.#ended && this.#fault === null ? joined(this.#held) : null;
  }

  /** Hands on every byte as it came. To leave early ends the response. */
  async *bytes(): AsyncGenerator<Uint8Array, void> {
    try {
      while (this.#held.length > 0) yield this.#held.shift() as Uint8Array;
      while (!this.#ended) {
        const next = await (this.#coming ?? (this.#source as AsyncIterator<Uint8Array>).next());
        this.#coming = null;
        if (next.done) this.#ended = true;
        else yield next.value;
      }
      if (this.#fault !== null) throw this.#fault.error;
    } finally {
      this.drop();
    }
  }

  /** Ends a response that is not handed on. */
  drop(): void {
    if (this.#ended) return;
    this.#ended = true;
    void Promise.resolve(this.#source?.return?.()).catch(() => {});
  }

  /** Looks at the body, but not for longer than so many milliseconds. */
  async #until<T>(ms: number, look: () => Promise<T>): Promise<T> {
    if (this.#ended) return look();
    this.#isLate = false;
    const timer = setTimeout(() => {
      this.#isLate = true;
      this.#late?.();
    }, ms);
    try {
      return await look();
    } finally {
      clearTimeout(timer);
    }
  }

  /** Returns null at the end, or if it is late. */
  async #more(): Promise<Uint8Array | null> {
    if (this.#seen < this.#held.length) return this.#held[this.#seen++] as Uint8Array;
    if (this.#ended || this.#source === null) return null;
    try {
      this.#coming ??= this.#source.next();
      const next = await this.#orLate(this.#coming);
      if (next === null) return null;
      this.#coming = null;
      if (next.done) this.#ended = true;
      else this.#seen = this.#held.push(next.value);
      return next.done ? null : next.value;
    } catch (error) {
      // The caller sees where it broke off, after what came before.
      this.#ended = true;
      this.#fault = { error };
      return null;
    }
  }

  #orLate<T>(coming: Promise<T>): Promise<T | null> {
    return new Promise((resolve, reject) => {
      this.#late = () => resolve(null);
      if (this.#isLate) resolve(null);
      coming.then(resolve, reject);
    });
  }
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}

const [OPEN_ARRAY, BLANK] = [0x5b, 0x20];

function beginsList(chunk: Uint8Array = new Uint8Array(0)): boolean {
  const at = chunk.findIndex((byte) => byte > BLANK);
  return chunk[at] === OPEN_ARRAY;
}

/** The longest frame that is looked into. */
export const MAX_FRAME_CHARS = MAX_BODY_BYTES;

/** A frame of a stream with its blank line. One that is too long to look into comes in pieces, none of them whole. */
export interface FrameText {
  text: string;
  isWhole: boolean;
}

/** Splits a stream of events into its frames. No character is lost. */
export class Frames {
  readonly #decoder = new TextDecoder();
  #pending = "";
  /** The last of what is pending: the end of a frame may be split between two chunks. */
  #tail = "";
  /** The beginning of the frame that is pending was handed on already. */
  #isBegun = false;

  /** Returns the frames that are complete with these bytes, and pieces of one that is too long. */
  add(chunk: Uint8Array): FrameText[] {
    return this.#take(this.#decoder.decode(chunk, { stream: true }));
  }

  /** Returns what is left at the end of the stream. */
  end(): FrameText[] {
    const frames = this.#take(this.#decoder.decode());
    if (this.#pending !== "") frames.push(this.#handOn(this.#pending));
    this.#pending = "";
    return frames;
  }

  #take(text: string): FrameText[] {
    const added = this.#tail + text;
    this.#pending += text;
    this.#tail = added.slice(-3);
    if (!/\n\r?\n|\r\r/.test(added)) return this.#takePiece();
    const frames = this.#pending.split(/(?<=\n\r?\n|\r\r)/);
    const last = frames.at(-1) ?? "";
    this.#pending = /(?:\n\r?\n|\r\r)$/.test(last) ? "" : (frames.pop() ?? "");
    this.#tail = this.#pending.slice(-3);
    return frames.map((frame) => this.#handOn(frame));
  }

  /** Takes what is pending of a frame that is too long, but for what may be the beginning of its end. */
  #takePiece(): FrameText[] {
    if (!this.#isBegun && this.#pending.length <= MAX_FRAME_CHARS) return [];
    const text = this.#pending.slice(0, -3).replace(/[\ud800-\udbff]$/, "");
    this.#pending = this.#pending.slice(text.length);
    this.#isBegun = true;
    return text === "" ? [] : [{ text, isWhole: false }];
  }

  #handOn(text: string): FrameText {
    const isWhole = !this.#isBegun;
    this.#isBegun = false;
    return { text, isWhole };
  }
}

/** Finds the usage in a stream while it passes. */
export class UsageInStream {
  readonly #frames: Pick<Frames, "add" | "end">;
  /** The input stands in the first frame that names usage, or in the last, the output in the last. */
  #first: string | null = null;
  #last: string | null = null;

  constructor(frames: Pick<Frames, "add" | "end"> = new Frames()) {
    this.#frames = frames;
  }

  add(chunk: Uint8Array): void {
    for (const frame of this.#frames.add(chunk)) this.#look(frame);
  }

  end(): AnswerUsage {
    for (const frame of this.#frames.end()) this.#look(frame);
    const read = [this.#first, this.#last].map((frame) => (frame === null ? NO_USAGE : usageOf(parseFrame(frame))));
    const most = (values: (number | null)[]) =>
      values.reduce((max, value) => (value === null || (max ?? -1) > value ? max : value), null);
    const caches = (["cacheReadTokens", "cacheWriteTokens"] as const).flatMap((name) => {
      const found = most(read.map((usage) => usage[name] ?? null));
      return found === null ? [] : [[name, found] as const];
    });
    return {
      ...Object.fromEntries(caches),
      inputTokens: most(read.map(({ inputTokens }) => inputTokens)),
      outputTokens: most(read.map(({ outputTokens }) => outputTokens)),
    };
  }

  #look({ text, isWhole }: FrameText): void {
    if (!isWhole || !text.includes('"usage')) return;
    this.#first ??= text;
    this.#last = text;
  }
}

const NO_USAGE: AnswerUsage = { inputTokens: null, outputTokens: null };

/** Returns the usage that an answer or an event of one names. */
export function usageOf(value: unknown): AnswerUsage {
  if (!isRecord(value)) return NO_USAGE;
  for (const holder of [value, value.message, value.response]) {
    if (!isRecord(holder)) continue;
    const given = holder.usage ?? holder.usageMetadata;
    if (!isObject(given)) continue;
    const usage = readUsage(given);
    if (usage !== null) {
      const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
      return {
        inputTokens,
        outputTokens,
        ...(cacheReadTokens !== null && { cacheReadTokens }),
        ...(cacheWriteTokens !== null && { cacheWriteTokens }),
      };
    }
    const { output_tokens: output } = given as { output_tokens?: unknown };
    if (typeof output === "number") return { inputTokens: null, outputTokens: output };
  }
  return NO_USAGE;
}
