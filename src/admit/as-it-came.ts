import type { Limits } from "../contract/limits.ts";
import type { OutputStream } from "../contract/output.ts";
import { bytesOf, isStream, piecesOf, readChunks } from "../stages/measure/read-chunks.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import type { Admitted } from "./admission.ts";

/** An output of bytes: bytes, a stream, a Blob or a Response. It is read once. */
export interface BytesOutput {
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** The output again, to be read by whoever gets it; undefined if too much of it came. */
  again(): unknown;
}

/** The most bytes of one character. */
const CHARACTER_BYTES = 4;

/** An output that is or holds bytes; null for any other. By tag: naming the global Response makes Node load all of fetch. */
export function bytesOutput(output: unknown, limits: Limits): BytesOutput | null {
  if (output instanceof ArrayBuffer || ArrayBuffer.isView(output))
    return { chunks: [bytesOf(output)], again: () => output };
  const tag = Object.prototype.toString.call(output);
  if (tag === "[object Blob]" || tag === "[object File]")
    return { chunks: readChunks((output as Blob).stream()), again: () => output };
  const { maxBytes, maxChars = NUMBERS.ceilingBytes.default } = limits;
  const mostBytes = maxBytes ?? maxChars * CHARACTER_BYTES;
  if (tag === "[object Response]") return responseOutput(output as Response, mostBytes);
  if (!isStream(output)) return null;
  const held = holdChunks(output, mostBytes);
  return { chunks: readChunks(held.stream), again: () => held.chunks && streamLike(output, held.chunks) };
}

function responseOutput(response: Response, mostBytes: number): BytesOutput {
  const { body, status, statusText, headers } = response;
  if (body === null) return { chunks: [], again: () => response };
  const held = holdChunks(body, mostBytes);
  const again = () =>
    held.chunks === null
      ? undefined
      : new (response.constructor as typeof Response)(streamLike(body, held.chunks) as ReadableStream, {
          status,
          statusText,
          headers,
        });
  return { chunks: readChunks(held.stream), again };
}

/** Reads a stream and keeps copies of its chunks, up to a size: a chunk is only lent until the next is asked for. */
function holdChunks(stream: OutputStream, mostBytes: number): { stream: OutputStream; chunks: unknown[] | null } {
  let bytes = 0;
  const held: { stream: OutputStream; chunks: unknown[] | null } = { stream: read(), chunks: [] };
  async function* read() {
    for await (const chunk of piecesOf(stream)) {
      bytes += typeof chunk === "string" ? chunk.length : chunk instanceof Uint8Array ? chunk.length : 1;
      if (bytes > mostBytes) held.chunks = null;
      // Called on a Buffer, this slice is a copy and a Buffer.
      held.chunks?.push(chunk instanceof Uint8Array ? Uint8Array.prototype.slice.call(chunk) : chunk);
      yield chunk;
    }
  }
  return held;
}

/** A stream of the same sort, with these chunks. */
function streamLike(stream: object, chunks: readonly unknown[]): unknown {
  if ("getReader" in stream) {
    return new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    });
  }
  const { from } = stream.constructor as { from?: (chunks: readonly unknown[]) => unknown };
  // A stream of Node makes another; what else can be iterated is iterated again.
  if ("pipe" in stream && typeof from === "function") return from.call(stream.constructor, chunks);
  return (async function* () {
    yield* chunks;
  })();
}

/** True if a model gets all of an output and nothing else. */
export function isAsItCame({ text, receipt }: Admitted): boolean {
  const { total, kept, binary, faults, exitCode, summarized } = receipt;
  if (total.bytes === 0) return text === "";
  const isWhole = kept.bytes === total.bytes && kept.lines === total.lines;
  return isWhole && (exitCode ?? 0) === 0 && binary === undefined && faults === undefined && summarized === undefined;
}
