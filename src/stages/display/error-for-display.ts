import { isObject, tried } from "../../values.ts";
import { readField } from "../clamp/bound-open.ts";
import { quotesMarker } from "../mark/texts.ts";
import { NUMBERS } from "../policy/defaults.ts";
import { textStart } from "./for-display.ts";

const UNKNOWN = "unknown error";
const DOTS = "...";
/** How deep errors inside errors are followed. It also ends circles. */
const MAX_LEVELS = 5;
/** How many elements of a list of blocks or errors are read. */
const MAX_ELEMENTS = 16;
/** How many markers of ours are passed over in one text. */
const MAX_MARKERS = 16;
/** What tells a marker stands at its start. */
const MAX_MARKER_CHARS = 100;
/** A line from its first character that shows. */
const LINE = /[^\s\u2028\u2029][^\r\n\u2028\u2029]*/g;
/** A longer text is not parsed as JSON. */
const MAX_JSON_CHARS: number = NUMBERS.displayTextChars.default;

/**
 * Returns the first line of an error's message, at most 400 characters and never empty. Markers of ours are passed over if
 * anything else tells of the error.
 * Takes what was thrown (an Error, a text, anything) or a result that reports an error. In a result it looks for the `message`, `error` or
 * `reason` of its `details`, then for its own, then for its first text.
 */
export function errorForDisplay(error: unknown): string {
  try {
    return messageOf(error, ownLine) ?? messageOf(error, anyLine) ?? UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}

/** Gives the line of a text that is shown; null if it has none. */
type Line = (text: string) => string | null;

function messageOf(error: unknown, line: Line, level = 0): string | null {
  if (error === null || error === undefined || typeof error === "function" || level > MAX_LEVELS) return null;
  if (typeof error !== "object") return line(typeof error === "string" ? error : primitiveText(error));
  if (Array.isArray(error)) return firstOf(error, line, level);
  const field = (name: string) => messageOf(fieldOf(error, name), line, level + 1);
  if (error instanceof Error) {
    return field("message") ?? field("errors") ?? field("cause") ?? nameOf(error, line);
  }
  const own = () => field("message") ?? field("error") ?? field("reason");
  const details = fieldOf(error, "details");
  const detailed = () => (isObject(details) ? messageOf(details, line, level + 1) : null);
  // In a result, `details` is what the tool itself says. Elsewhere it only adds to the message.
  if (fieldOf(error, "content") !== undefined) return detailed() ?? own() ?? contentMessage(error, line, level);
  return own() ?? contentMessage(error, line, level) ?? detailed();
}

/** Returns undefined if reading the field throws. */
function fieldOf(holder: object, name: string): unknown {
  try {
    const value = (holder as Record<string, unknown>)[name];
    // A flag or a code (`error: true`, `error: 404`) says that there is an error, but not which one.
    return typeof value === "string" || isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function primitiveText(value: unknown): string {
  if (typeof value === "symbol") return value.description ?? "";
  // It takes long to write a large BigInt in decimal, so only its low bits are written. Nobody throws one.
  return typeof value === "bigint" ? String(BigInt.asIntN(1024, value)) : String(value);
}

function firstOf(list: readonly unknown[], line: Line, level: number): string | null {
  for (let index = 0; index < Math.min(list.length, MAX_ELEMENTS); index++) {
    const message = messageOf(readField(list, index), line, level + 1);
    if (message !== null) return message;
  }
  return null;
}

/** If the message is empty, the name of the error still says something, unless it is just "Error". */
function nameOf(error: Error, line: Line): string | null {
  const name = fieldOf(error, "name");
  return typeof name === "string" && name !== "Error" ? line(name) : null;
}

function contentMessage(result: object, line: Line, level: number): string | null {
  const content = fieldOf(result, "content") ?? fieldOf(result, "text");
  if (typeof content !== "string") return messageOf(content, line, level + 1);
  return jsonMessage(content, line, level) ?? line(content);
}

/** Tools often wrap their message in a JSON object. */
function jsonMessage(text: string, line: Line, level: number): string | null {
  if (text.length > MAX_JSON_CHARS || !/^\s*\{/.test(text)) return null;
  return tried(() => messageOf(JSON.parse(text), line, level + 1));
}

/** The first line that is the tool's own. */
function ownLine(text: string): string | null {
  let left = MAX_MARKERS;
  for (const [line] of text.matchAll(LINE)) if (!isMarker(line) || left-- === 0) return shortened(line);
  return null;
}

function anyLine(text: string): string | null {
  const [first] = text.matchAll(LINE);
  return first === undefined ? null : shortened(first[0]);
}

/** Returns true for a line of ours: a header, a gap, an exit line. A marker on a line of its own is all of it. */
function isMarker(line: string): boolean {
  return line.startsWith("[") && /\]\s*$/.test(line.slice(-16)) && quotesMarker(line.slice(0, MAX_MARKER_CHARS));
}

function shortened(line: string): string {
  const maxChars = NUMBERS.displayErrorChars.default;
  return line.trimEnd().length <= maxChars
    ? line.trimEnd().toWellFormed()
    : textStart(line, maxChars - DOTS.length).trimEnd() + DOTS;
}
