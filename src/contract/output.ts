/** An output that comes in pieces, of text or bytes. */
export type OutputStream = AsyncIterable<unknown> | ReadableStream<unknown>;

/**
 * What a tool emits: text, bytes, a stream of either, or a structured result (`{ content: [...] }`, `{ content: "..." }`,
 * an MCP result, an array of blocks, any object with text in it).
 */
export type Output = string | Uint8Array | ArrayBuffer | OutputStream | object | null | undefined;
