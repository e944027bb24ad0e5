/** An output that comes in pieces, of text or bytes. A piece is only read until the next is asked for. */
export type OutputStream = AsyncIterable<unknown> | ReadableStream<unknown>;

/**
 * What a tool emits: text, bytes, a stream of either, a Blob, a Response, an Error, a structured result
 * (`{ content: [...] }`, `{ content: "..." }`, an MCP result, an array of blocks, any object), or a promise of one.
 */
export type Output = unknown;
