import type { Verdict } from "../../contract/verdict.ts";
import { NUMBERS } from "../policy/defaults.ts";
import { type ClassifyOptions, classify } from "./classify.ts";
import { classifyResponse } from "./classify-response.ts";

/** Events that come before any output, by the type they carry. */
const BEFORE_OUTPUT = new Set(["response.created", "response.in_progress", "response.queued", "message_start", "ping"]);

/**
 * The verdict on a fetch Response, a stream's first events included: some providers answer 200 and refuse inside the stream.
 * Reads a copy, and only until output begins, so that the caller loses nothing.
 */
export async function peekResponse(response: Response, options: ClassifyOptions = {}): Promise<Verdict> {
  const isEvents = /\bevent-stream\b/.test(response.headers.get("content-type") ?? "");
  if (!response.ok || !isEvents || response.bodyUsed || response.body === null)
    return classifyResponse(response, options);
  const event = await firstEvent(response.clone());
  return classify(
    { ...(response.url !== "" && { url: response.url }), ...(event !== null && { error: event }) },
    options,
  );
}

/** The first event if it is an error; null if it is anything else. */
async function firstEvent(copy: Response): Promise<unknown> {
  const reader = copy.body?.getReader();
  if (reader === undefined) return null;
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    while (bytes < NUMBERS.recoverPeekBytes.default) {
      const { done, value } = await reader.read();
      bytes += value?.byteLength ?? 0;
      text += done ? `${decoder.decode()}\n\n` : decoder.decode(value, { stream: true });
      const frames = text.split(/\r?\n\r?\n/);
      text = frames.pop() ?? "";
      for (const frame of frames) {
        const event = parseFrame(frame);
        if (event !== undefined) return isError(event) ? event : null;
      }
      if (done) return null;
    }
    return null;
  } catch {
    return null; // a broken stream is the caller's to see
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

/** What a frame tells; undefined if it says nothing of output yet. */
function parseFrame(frame: string): unknown {
  const data = [...frame.matchAll(/^data: ?(.*)$/gm)].map((line) => line[1]).join("\n");
  if (data === "") return undefined;
  try {
    const event: unknown = JSON.parse(data);
    const type = typeof event === "object" && event !== null ? (event as { type?: unknown }).type : undefined;
    return typeof type === "string" && BEFORE_OUTPUT.has(type) ? undefined : event;
  } catch {
    return null;
  }
}

function isError(event: unknown): boolean {
  if (typeof event !== "object" || event === null) return false;
  const { type, error } = event as { type?: unknown; error?: unknown };
  return type === "error" || type === "response.failed" || (error !== undefined && error !== null);
}
