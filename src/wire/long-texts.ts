import { isRecord, type JsonRecord } from "../values.ts";
import { jsonChars } from "./record.ts";

// Long strings in the input of a call. Formats hold an input as an object, as text of JSON, or, for tools without a
// schema, as plain text. Other values, and the names of fields, never change, so a call stays one that its tool takes.

/** A longer string may be shown shorter. It is longer than the marker that would replace it. */
const LONG_CHARS = 256;
const MAX_DEPTH = 32;
const MAX_VALUES = 10_000;

/** Says how a call's input is held: as plain text, or as an object or its JSON. */
export type InputForm = "json" | "text";

/** The long strings of an input, in order. */
export interface LongTexts {
  texts: string[];
  /** True if the input is text of JSON, so that each string stands in it with escapes. */
  isJson: boolean;
}

/** Returns the long strings of an input, or null if there are none or the input cannot be read. */
export function longTextsIn(input: unknown, form: InputForm): LongTexts | null {
  if (jsonChars(input) <= LONG_CHARS) return null;
  const texts: string[] = [];
  const note = (text: string) => {
    texts.push(text);
    return text;
  };
  if (typeof input !== "string") mapObject(input, note);
  else if (form === "text") texts.push(input);
  else if (isJsonObject(input)) mapJson(input, note);
  return texts.length === 0 ? null : { texts, isJson: typeof input === "string" && form === "json" };
}

/** Returns the input with other texts in place of its long strings, or the same if there are not as many. */
export function withLongTexts(input: unknown, texts: readonly string[] | undefined, form: InputForm): unknown {
  if (texts === undefined || longTextsIn(input, form)?.texts.length !== texts.length) return input;
  let at = 0;
  const next = () => texts[at++] as string;
  if (typeof input !== "string") return mapObject(input, next);
  return form === "text" ? next() : mapJson(input, next);
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}

const COLON = /\s*:/y;

/** Replaces long strings where they stand, so that every other byte stays: numbers too large for JavaScript too. */
function mapJson(json: string, replace: (text: string) => string): string {
  const pieces: string[] = [];
  let done = 0;
  for (let at = json.indexOf('"'); at !== -1; ) {
    const end = literalEnd(json, at);
    COLON.lastIndex = end;
    const isName = COLON.test(json);
    const text = isName || end - at <= LONG_CHARS + 2 ? "" : (JSON.parse(json.slice(at, end)) as string);
    if (text.length > LONG_CHARS) {
      const replaced = replace(text);
      pieces.push(json.slice(done, at), replaced === text ? json.slice(at, end) : JSON.stringify(replaced));
      done = end;
    }
    at = json.indexOf('"', end);
  }
  return pieces.join("") + json.slice(done);
}

/** Returns the place behind a string of valid JSON. */
function literalEnd(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); ; end = json.indexOf('"', end + 1)) {
    let before = end - 1;
    while (json[before] === "\\") before--;
    if ((end - before) % 2 === 1) return end + 1;
  }
}

/** Returns the same object if nothing changes. Objects of classes, and those too deep or too large, stay as they are. */
function mapObject(input: unknown, replace: (text: string) => string): unknown {
  let values = 0;
  const map = (value: unknown, depth: number): unknown => {
    if (typeof value === "string") return value.length > LONG_CHARS ? replace(value) : value;
    if (typeof value !== "object" || value === null || depth > MAX_DEPTH || ++values > MAX_VALUES) return value;
    if (Array.isArray(value)) {
      const mapped = value.map((each) => map(each, depth + 1));
      return mapped.some((each, at) => each !== value[at]) ? mapped : value;
    }
    if (!isPlain(value)) return value;
    const fields = Object.entries(value).map(([name, each]) => [name, map(each, depth + 1)] as const);
    return fields.some(([name, each]) => each !== value[name]) ? { ...value, ...Object.fromEntries(fields) } : value;
  };
  return map(input, 0);
}

function isPlain(value: unknown): value is JsonRecord {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && typeof value.toJSON !== "function";
}
