import type { WireCall, WireMessage } from "../../contract/wire.ts";
import { grouped, jsonOf } from "../../values.ts";
import { plainName } from "../mark/texts.ts";
import { splitsPair } from "../measure/scan.ts";

/** How many characters of a message are written. */
export interface RenderLimits {
  /** For each text outside results. */
  textChars: number;
  /** For each result. */
  resultChars: number;
  /** For each call's input. */
  inputChars: number;
}

const HEAD_SHARE = 0.5;
/** How many characters beyond a cut are redacted too, so that no half of a secret is left. */
const MARGIN_CHARS = 512;

/** Replaces secrets in a text. */
export type RedactText = (text: string) => string;

/** Returns a message of any format as plain text. `tools` names the tool of each result. */
export function renderMessage(
  view: WireMessage,
  tools: readonly string[],
  at: number,
  limits: RenderLimits,
  redact: RedactText = (text) => text,
): string {
  const lines: string[] = [];
  const texts = view.text === null ? [] : [view.text, ...(view.moreTexts ?? [])];
  if (texts.length > 0)
    lines.push(`#${at} ${view.role} says:`, ...texts.map((text) => shorten(text, limits.textChars, redact)));
  for (const call of view.calls) {
    lines.push(
      `#${at} ${view.role} calls ${plainName(call.tool)}: ${shorten(inputText(call), limits.inputChars, redact)}`,
    );
  }
  view.results.forEach(({ isError, texts: said, media }, index) => {
    lines.push(`#${at} result of ${plainName(tools[index] ?? "a tool")}${isError ? " (failed)" : ""}:`);
    lines.push(shorten(said.join("\n"), limits.resultChars, redact), ...mediaLine(media.count));
  });
  lines.push(...mediaLine(view.media.count));
  return lines.join("\n");
}

function mediaLine(count: number): string[] {
  return count === 0 ? [] : [`(images or files not shown: ${count})`];
}

/** Returns the start and the end of a long text, with a note of what is missing. */
export function shorten(text: string, maxChars: number, redact: RedactText = (same) => same): string {
  if (text.length <= maxChars) return redact(text);
  const headChars = Math.floor(maxChars * HEAD_SHARE);
  const tailChars = maxChars - headChars;
  const start = redact(text.slice(0, headChars + MARGIN_CHARS));
  const end = redact(text.slice(Math.max(0, text.length - tailChars - MARGIN_CHARS)));
  const head = start.slice(0, splitsPair(start, headChars) ? headChars - 1 : headChars);
  const tailStart = Math.max(0, end.length - tailChars);
  const tail = end.slice(splitsPair(end, tailStart) ? tailStart + 1 : tailStart);
  return `${head}\n(${grouped(text.length - head.length - tail.length)} characters not shown)\n${tail}`.toWellFormed();
}

/** Returns the input of a call as text, or an empty text if it has none. */
export function inputText({ input }: Pick<WireCall, "input">): string {
  // A circle or the like has none, and no request can hold it either.
  return typeof input === "string" ? input : (jsonOf(input) ?? "");
}
