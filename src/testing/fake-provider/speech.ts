import type { FakeMinute, FakeRefusal, FakeReply, FakeSizes } from "./fake-provider.ts";

/** One answer being given. */
export interface Turn {
  /** Makes ids that differ between requests. */
  index: number;
  model: string;
  inputTokens: number;
  outputTokens: number;
}

type Body = Record<string, unknown>;

/** What one API's requests, answers and refusals look like. */
export interface Speech {
  /** What a path asks for; null where it is not one of this API's. */
  route(path: string): "answer" | "count" | null;
  model(body: Body, path: string): string;
  wantsStream(body: Body, path: string): boolean;
  /** The fields that hold what the model reads. */
  reads: readonly string[];
  maxOutput(body: Body): number;
  /** The most bytes it takes by itself. */
  maxRequestBytes: number;
  /** Whether what is reserved for the answer counts against tokens per minute. */
  countsOutput: boolean;
  badJson(raw: string, loneSurrogateAt: number | null): FakeRefusal;
  /** Calls without results, results without calls, results out of their place. */
  pairs(body: Body): FakeRefusal | null;
  overflow(sizes: FakeSizes, model: string): FakeRefusal | null;
  tooManyBytes(sizes: FakeSizes): FakeRefusal;
  tooFast(minute: FakeMinute, model: string): FakeRefusal;
  /** Some refuse inside a stream that began well; else null. */
  overflowStream?(refusal: FakeRefusal, turn: Turn): string[];
  answer(reply: FakeReply, turn: Turn): unknown;
  /** The pieces of a streamed answer as they stand on the wire. */
  stream(reply: FakeReply, turn: Turn, body: Body): string[];
  counted(tokens: number): unknown;
}

/** An object's list of objects under a name; what is not one is left out. */
export function listOf(body: unknown, name: string): Body[] {
  const list = isBody(body) ? body[name] : undefined;
  return Array.isArray(list) ? list.filter(isBody) : [];
}

/** True for an object that is no list. */
export function isBody(value: unknown): value is Body {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A text in pieces of a few words, as models give it. */
export function pieces(text: string): string[] {
  return text.match(/.{1,24}/gsu) ?? [];
}

/** What a stream tells, by its type. */
export interface StreamEvent {
  type: string;
  [field: string]: unknown;
}

/** An event with its data, as a stream has it. */
export function event(data: unknown, name?: string): string {
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}
