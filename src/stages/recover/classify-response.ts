import type { Verdict } from "../../contract/verdict.ts";
import { type ClassifyOptions, classify } from "./classify.ts";

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
export function isTaken({ bodyUsed, body }: Response): boolean {
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
