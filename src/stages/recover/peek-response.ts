import type { Verdict } from "../../contract/verdict.ts";
import { NUMBERS } from "../policy/defaults.ts";
import { type ClassifyOptions, classify } from "./classify.ts";
import { fieldOf, readUsage } from "./read-evidence.ts";

/** Events that come before any output, by the type they carry. */
const BEFORE_OUTPUT = new Set(["response.created", "response.in_progress", "response.queued", "message_start", "ping"]);

/**
 * The verdict on a fetch Response, a stream's first events included: some providers answer 200 and refuse inside the stream.
 * Reads a copy, and only until output begins, so that the caller loses nothing. The request's size is told where the
 * stream begins with it, as Anthropic's and Gemini's do.
 */
export async function peekResponse(response: Response, options: ClassifyOptions = {}): Promise<Verdict> {
  const isEvents = /\bevent-stream\b/.test(response.headers.get("content-type") ?? "");
  if (!response.ok || !isEvents || typeof response.body?.getReader !== "function" || isTaken(response))
    return classifyResponse(response, options);
  const { error, inputTokens } = await readStart(response.clone());
  const verdict = classify(
    { ...(response.url !== "" && { url: response.url }), ...(error !== null && { error }) },
    options,
  );
  return error === null && inputTokens > 0 ? { ...verdict, observedTokens: inputTokens } : verdict;
}

/** What a stream says up to its first output: the error if that comes instead, and the request's tokens, 0 if it does not tell. */
async function readStart(copy: Response): Promise<{ error: unknown; inputTokens: number }> {
  const start: { error: unknown; inputTokens: number } = { error: null, inputTokens: 0 };
  const reader = copy.body?.getReader();
  if (reader === undefined) return start;
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
        start.inputTokens = Math.max(start.inputTokens, usageIn(event));
        if (isBeforeOutput(event)) continue;
        if (isError(event)) start.error = event;
        return start;
      }
      if (done) return start;
    }
    return start;
  } catch {
    return start; // a broken stream is the caller's to see
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

/** What a frame holds; undefined if it holds nothing, null if it cannot be read. */
function parseFrame(frame: string): unknown {
  const data = [...frame.matchAll(/^data: ?(.*)$/gm)].map((line) => line[1]).join("\n");
  if (data === "") return undefined;
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}

function isBeforeOutput(event: unknown): boolean {
  if (event === undefined) return true;
  const type = isObject(event) ? fieldOf(event, "type") : undefined;
  return typeof type === "string" && BEFORE_OUTPUT.has(type);
}

/** The request's tokens in an event, where it says them; else 0. */
function usageIn(event: unknown): number {
  if (!isObject(event)) return 0;
  const message = fieldOf(event, "message");
  const usage = isObject(message) ? fieldOf(message, "usage") : fieldOf(event, "usageMetadata");
  return readUsage(usage)?.inputTokens ?? 0;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isError(event: unknown): boolean {
  if (!isObject(event)) return false;
  const { type, error } = event as { type?: unknown; error?: unknown };
  return type === "error" || type === "response.failed" || (error !== undefined && error !== null);
}

/** What is read of a body: an error's is small, an answer's usage stands at its end. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/**
 * The same for a fetch Response: reads a copy of its body, so that the caller can still read it. A stream that began well is
 * not read: hand its events to `classify` as they come.
 */
export async function classifyResponse(response: Response, options: ClassifyOptions = {}): Promise<Verdict> {
  const { status, url } = response;
  const about = { status, ...(url !== "" && { url }) };
  const isStream = response.ok && !/\bjson\b/.test(response.headers.get("content-type") ?? "");
  if (isStream || isTaken(response)) return classify(about, options);
  return classify({ ...about, body: await readText(response.clone()) }, options);
}

/** Somebody reads its body already. */
function isTaken({ bodyUsed, body }: Response): boolean {
  return bodyUsed || body?.locked === true;
}

async function readText(copy: Response): Promise<string> {
  // Others' responses have bodies of another kind.
  if (typeof copy.body?.getReader !== "function") return copy.text().catch(() => "");
  const reader = copy.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      text += decoder.decode(value, { stream: true });
      if (text.length > MAX_BODY_BYTES) return "";
    }
  } catch {
    return text; // a broken body: what came of it may still tell
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
