import type { Verdict } from "../../contract/verdict.ts";
import { within } from "../../deadline.ts";
import { isObject, parsedJson } from "../../values.ts";
import { NUMBERS } from "../policy/defaults.ts";
import { type ClassifyOptions, classify } from "./classify.ts";
import { fieldOf, readUsage } from "./read-evidence.ts";

/** The types of events that come before any output. */
const BEFORE_OUTPUT = new Set(["response.created", "response.in_progress", "response.queued", "message_start", "ping"]);

/**
 * Returns the verdict on a fetch Response. Also reads the first events of a stream, because some providers answer 200
 * and refuse inside the stream. Reads a copy, and only until output begins, so that the caller loses nothing. If the
 * stream begins with the request's size, as Anthropic's and Gemini's do, the verdict holds it. If nothing tells within
 * `lookMs`, the verdict is on what came until then, and the caller still gets the whole response.
 */
export async function peekResponse(
  response: Response,
  options: ClassifyOptions = {},
  lookMs: number = NUMBERS.recoverLookMs.default,
): Promise<Verdict> {
  const isEvents = /\bevent-stream\b/.test(response.headers.get("content-type") ?? "");
  if (!response.ok || !isEvents || typeof response.body?.getReader !== "function" || isTaken(response))
    return classifyResponse(response, options, lookMs);
  const { error, inputTokens } = await readStart(response.clone(), lookMs);
  const verdict = classify(
    { ...(response.url !== "" && { url: response.url }), ...(error !== null && { error }) },
    options,
  );
  return error === null && inputTokens > 0 ? { ...verdict, observedTokens: inputTokens } : verdict;
}

/**
 * Reads a stream up to its first output. Returns the error if one comes instead, and the request's tokens, or 0 if the
 * stream does not say them.
 */
async function readStart(copy: Response, lookMs: number): Promise<{ error: unknown; inputTokens: number }> {
  const start: { error: unknown; inputTokens: number } = { error: null, inputTokens: 0 };
  const reader = copy.body?.getReader();
  if (reader === undefined) return start;
  const decoder = new TextDecoder();
  const look = endLook(reader, lookMs);
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
    return start; // the caller will see that the stream is broken
  } finally {
    look.done();
    void reader.cancel().catch(() => undefined);
  }
}

/** Ends reading after a time: a reader that was cancelled says that the body is done. */
function endLook(reader: { cancel(): Promise<void> }, lookMs: number): { isLate: boolean; done(): void } {
  const look = { isLate: false, done: () => clearTimeout(timer) };
  const timer = setTimeout(() => {
    look.isLate = true;
    void reader.cancel().catch(() => undefined);
  }, lookMs);
  return look;
}

/** Returns the data of a frame: undefined if it has none, null if the data cannot be parsed. */
export function parseFrame(frame: string): unknown {
  const data = [...frame.matchAll(/^data: ?(.*)$/gm)].map((line) => line[1]).join("\n");
  return data === "" ? undefined : parsedJson(data);
}

/** Returns true for an event that may come before any output. */
export function isBeforeOutput(event: unknown): boolean {
  if (event === undefined) return true;
  const type = isObject(event) ? fieldOf(event, "type") : undefined;
  return typeof type === "string" && BEFORE_OUTPUT.has(type);
}

/** Returns the request's tokens if the event says them, otherwise 0. */
function usageIn(event: unknown): number {
  if (!isObject(event)) return 0;
  const message = fieldOf(event, "message");
  const usage = isObject(message) ? fieldOf(message, "usage") : fieldOf(event, "usageMetadata");
  return readUsage(usage)?.inputTokens ?? 0;
}

/** Returns true for an event that says that the request failed. */
export function isError(event: unknown): boolean {
  if (!isObject(event)) return false;
  const { type, error } = event as { type?: unknown; error?: unknown };
  return type === "error" || type === "response.failed" || (error !== undefined && error !== null);
}

/** The most bytes that are read of a body. An error's body is small, and an answer's usage is at its end. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;

/**
 * Returns the verdict on a fetch Response. Reads a copy of its body, so that the caller can still read it. Does not
 * read a stream that began well: pass its events to `classify` as they come. Waits for the body at most `lookMs`.
 */
export async function classifyResponse(
  response: Response,
  options: ClassifyOptions = {},
  lookMs: number = NUMBERS.recoverLookMs.default,
): Promise<Verdict> {
  const { status, url } = response;
  const about = { status, ...(url !== "" && { url }) };
  const isStream = response.ok && !/\bjson\b/.test(response.headers.get("content-type") ?? "");
  if (isStream || isTaken(response)) return classify(about, options);
  return classify({ ...about, body: await readText(response.clone(), lookMs) }, options);
}

/** Returns true if somebody reads the body already. */
function isTaken({ bodyUsed, body }: Response): boolean {
  return bodyUsed || body?.locked === true;
}

async function readText(copy: Response, lookMs: number): Promise<string> {
  // Responses of other libraries may have another kind of body.
  if (typeof copy.body?.getReader !== "function") return within(copy.text(), lookMs, "the body").catch(() => "");
  const reader = copy.body.getReader();
  const look = endLook(reader, lookMs);
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      // Part of an answer says nothing about its request, but may quote anything.
      if (look.isLate && copy.ok) return "";
      if (done) return text + decoder.decode();
      text += decoder.decode(value, { stream: true });
      if (text.length > MAX_BODY_BYTES) return "";
    }
  } catch {
    return text; // the body broke off, but the part that came may be enough
  } finally {
    look.done();
    void reader.cancel().catch(() => undefined);
  }
}
