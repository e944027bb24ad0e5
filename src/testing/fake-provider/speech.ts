import { isRecord } from "../../values.ts";
import type { FakeMinute, FakeRefusal, FakeReply, FakeSizes } from "./fake-provider.ts";

/** The facts of one answer. */
export interface Turn {
  /** The number of the request. Ids that are made from it differ between requests. */
  index: number;
  model: string;
  inputTokens: number;
  outputTokens: number;
}

type Body = Record<string, unknown>;

/** Says what one API's requests, answers and refusals look like. */
export interface Speech {
  /** Returns what a path asks for, or null if the path is not one of this API's. */
  route(path: string): "answer" | "count" | null;
  model(body: Body, path: string): string;
  wantsStream(body: Body, path: string): boolean;
  /** The fields that hold what the model reads. */
  reads: readonly string[];
  maxOutput(body: Body): number;
  /** The most bytes that this API accepts. */
  maxRequestBytes: number;
  /** True if the tokens that are reserved for the answer count against the tokens per minute. */
  countsOutput: boolean;
  badJson(raw: string, loneSurrogateAt: number | null): FakeRefusal;
  /** Refuses calls without results, results without calls, and results in the wrong place. */
  pairs(body: Body): FakeRefusal | null;
  overflow(sizes: FakeSizes, model: string): FakeRefusal | null;
  tooManyBytes(sizes: FakeSizes): FakeRefusal;
  tooFast(minute: FakeMinute, model: string): FakeRefusal;
  /** Returns a stream that begins well and then refuses. It is absent if the API refuses before the stream. */
  overflowStream?(refusal: FakeRefusal, turn: Turn): string[];
  answer(reply: FakeReply, turn: Turn): unknown;
  /** Returns the pieces of a streamed answer as they are sent. */
  stream(reply: FakeReply, turn: Turn, body: Body): string[];
  counted(tokens: number): unknown;
}

/** Returns the list of objects in a field. Leaves out values that are not objects. */
export function listOf(body: unknown, name: string): Body[] {
  const list = isRecord(body) ? body[name] : undefined;
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

/** Splits a text into pieces of a few words, as models stream it. */
export function pieces(text: string): string[] {
  return text.match(/.{1,24}/gsu) ?? [];
}

/** An event of a stream, named by its type. */
export interface StreamEvent {
  type: string;
  [field: string]: unknown;
}

/** Writes an event with its data in the format of a stream. */
export function event(data: unknown, name?: string): string {
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}
