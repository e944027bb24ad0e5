import type { AdmitRequest, Spillway } from "../../spillway.ts";
import type { ToolResult } from "./agent.ts";
import { findTexts, putTexts } from "./response-texts.ts";

/** What the agent should be told instead of a result; null to leave the result as it is. */
export async function clampResult(spillway: Pick<Spillway, "admit">, result: ToolResult): Promise<object | null> {
  const { tool, session, call, response, isNumbered } = result;
  const about = { tool, session, call, ...(isNumbered && { strategy: "head", fold: false }) };
  const updated = await clampResponse(spillway, about, response);
  return updated === null ? null : result.answer(updated);
}

/** Plain text has none of these. A result that has one may be binary, which is described in words. */
const STRANGE = /(?![\t\n\v\f\r])\p{Cc}|\ufffd|%PDF-/u;
/** Begins a terminal code, which any command may print. */
const ESCAPE = "\u001b";

/** Whether a result is surely within its tool's limits, or surely over one, as far as sizes tell without a clamp. */
export function fitOf(
  { resolve }: Pick<Spillway, "resolve">,
  { tool, response }: ToolResult,
): "within" | "over" | "unsure" {
  const { limits, off } = resolve(tool);
  if (off) return "within";
  const { maxBytes = Infinity, maxChars = Infinity, maxLines = Infinity, maxTokens = Infinity } = limits;
  const texts = findTexts(response);
  if (texts === null) return "unsure";
  const text = texts.join("\n");
  const bytes = Buffer.byteLength(text);
  // The breaks between texts are not part of the texts.
  const joints = Math.max(0, texts.length - 1);
  if (text.length - joints > maxChars || bytes - joints > maxBytes) return "over";
  let lines = text === "" ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < text.length - 1; at = text.indexOf("\n", at + 1)) lines++;
  if (lines - joints > maxLines) return "over";
  // A token has at least one byte.
  const isWithin = text.length <= maxChars && bytes <= Math.min(maxBytes, maxTokens) && lines <= maxLines;
  return isWithin && text.isWellFormed() && !STRANGE.test(text.replaceAll(ESCAPE, "")) ? "within" : "unsure";
}

/** The response within its limits, in the same shape, since an agent ignores any other; null if nothing had to be cut. */
async function clampResponse(
  spillway: Pick<Spillway, "admit">,
  about: Omit<AdmitRequest, "output">,
  response: unknown,
): Promise<unknown> {
  if (typeof response === "string") {
    const { text } = await spillway.admit({ ...about, output: response });
    return text === response ? null : text;
  }
  const isBlocks = Array.isArray(response) && response.length > 0 && response.every(isBlock);
  const texts = isBlocks ? null : findTexts(response);
  if (texts === null) {
    // These are blocks, or too many texts to look through. Parts that do not fit are left out whole.
    const came = (isBlocks ? { content: response } : response) as object & { content?: unknown };
    const { output } = await spillway.admit({ ...about, output: came });
    if (output === came || (isBlocks && output.content === response)) return null;
    return isBlocks ? output.content : output;
  }
  if (texts.length === 0) return null;
  // All texts share the limits, since a model reads the result of one call as one output.
  const blocks = texts.map((text) => ({ type: "text", text }));
  const { output } = await spillway.admit({ ...about, output: { content: blocks } });
  if (output.content === blocks) return null;
  const shown = texts.map((text, index) => output.content[index]?.text ?? (index < output.content.length ? text : ""));
  return shown.every((text, index) => text === texts[index]) ? null : putTexts(response, shown);
}

function isBlock(value: unknown): boolean {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}
