import type { IncomingMessage, ServerResponse } from "node:http";
import { messageOf, SpillwayError, type SpillwayErrorCode } from "../../errors.ts";

/** An answer that is an error of the caller's, or says that we cannot answer now. */
export class Refusal extends Error {
  readonly status: number;
  /** For programs. */
  readonly code: string;
  readonly headers: Record<string, string>;

  constructor(status: number, code: string, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** Sent with every answer that is ours. No page may frame it, sniff its type, or run anything of it. */
const SAFE_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** Begins an answer of ours. */
export function begin(response: ServerResponse, status: number, headers: Record<string, string | number>): void {
  response.writeHead(status, { ...SAFE_HEADERS, ...headers });
}

/** Sends a text. To HEAD only its headers go. */
export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Record<string, string> = { "content-type": "text/plain; charset=utf-8" },
): void {
  begin(response, status, { ...headers, "content-length": Buffer.byteLength(text) });
  response.end(text);
}

/** Sends a value as JSON. */
export function sendJson(response: ServerResponse, status: number, value: unknown, headers = {}): void {
  sendText(response, status, `${JSON.stringify(value)}\n`, { "content-type": "application/json", ...headers });
}

/** Sends an error as JSON: `{ error: { code, message } }`. Only what is no fault of ours says why. */
export function sendError(response: ServerResponse, error: unknown, warn: (fault: string) => void): void {
  const refusal = refusalOf(error);
  if (refusal.status === 500) warn(messageOf(error));
  if (response.headersSent) {
    response.destroy();
    return;
  }
  // What was not read of the request must not be taken for the next one.
  const close = refusal.status === 413 ? { connection: "close" } : {};
  const { status, code, message, headers } = refusal;
  sendJson(response, status, { error: { code, message } }, { ...close, ...headers });
}

const STATUS: Partial<Record<SpillwayErrorCode, number>> = {
  "unknown-artifact": 404,
  "missing-part": 501,
  "store-full": 507,
  "store-damaged": 503,
  "store-unavailable": 503,
};

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (SpillwayError.is(error)) return new Refusal(STATUS[error.code] ?? 400, error.code, error.message);
  return new Refusal(500, "internal", "this failed for a reason of ours; the server's own output says why");
}

/** Reads a whole body. Throws a refusal if it is over the limit, before more than that is in memory. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const add = (chunk: Buffer): void => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > maxBytes) refuse();
    };
    const refuse = (): void => {
      chunks.length = 0;
      request.off("data", add).pause();
      reject(new Refusal(413, "too-large", `a request may have ${maxBytes} bytes at most; send less`));
    };
    if (Number(request.headers["content-length"] ?? 0) > maxBytes) return refuse();
    request
      .on("data", add)
      .once("end", () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes)))
      .once("error", reject)
      .once("close", () => request.complete || reject(new Error("the request broke off")));
  });
}
