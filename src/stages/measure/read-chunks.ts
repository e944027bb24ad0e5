import type { OutputStream } from "../../contract/output.ts";
import { endsInHalf } from "./scan.ts";

/** Returns true for an output that comes in pieces: a Node or web stream, or any AsyncIterable. */
export function isStream(value: unknown): value is OutputStream {
  if (typeof value !== "object" || value === null) return false;
  return Symbol.asyncIterator in value || typeof (value as { getReader?: unknown }).getReader === "function";
}

/**
 * Yields the chunks of a stream as bytes. If a surrogate pair is split between two chunks of text, it is joined before
 * it is encoded.
 */
export async function* readChunks(stream: OutputStream): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let half = "";
  for await (const chunk of piecesOf(stream)) {
    if (typeof chunk === "string") {
      const text = half + chunk;
      half = endsInHalf(text) ? text.slice(-1) : "";
      yield encoder.encode(half === "" ? text : text.slice(0, -1));
      continue;
    }
    if (half !== "") yield encoder.encode(half);
    half = "";
    yield bytesOf(chunk);
  }
  if (half !== "") yield encoder.encode(half);
}

/** Returns the bytes of a value that has some, or the bytes of its text. */
export function bytesOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return new TextEncoder().encode(textOf(value));
}

/** Writes objects as lines of JSON. */
function textOf(value: unknown): string {
  try {
    if (typeof value === "object" && value !== null) return `${JSON.stringify(value)}\n`;
  } catch {
    // a circle, or a getter that throws
  }
  return String(value);
}

/** Returns the pieces of a stream as they come, also of web streams in runtimes in which they are not iterable. */
export function piecesOf(stream: OutputStream): AsyncIterable<unknown> {
  return Symbol.asyncIterator in stream ? stream : readerChunks(stream);
}

async function* readerChunks(stream: ReadableStream<unknown>): AsyncGenerator<unknown> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.releaseLock();
  }
}
