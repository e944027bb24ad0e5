import { isDropped, MAX_DEPTH } from "./bound-copy.ts";
import { nothingAsked, type Opened, openValue } from "./bound-open.ts";

const CHUNK_CHARS = 64 * 1024;

/** A list or an object that is being written. */
interface Level {
  value: unknown;
  /** What comes next: a field's name where there is one, and its value. */
  next: Iterator<readonly [name: string | null, value: unknown]>;
  close: string;
  isEmpty: boolean;
}

/**
 * Any value as JSON, in pieces of about 64 KiB: no more of it is ever held. One element or field a line, so that it can be
 * read back by lines. What JSON cannot say is written as `boundValue` writes it.
 */
export function* jsonChunks(value: unknown): Generator<string> {
  const asked = nothingAsked();
  const levels: Level[] = [];
  const ancestors = new Set<unknown>();
  let chunk = "";

  const write = (item: unknown): void => {
    const opened = openValue(item, asked, Number.MAX_SAFE_INTEGER);
    if (opened.kind === "nothing") chunk += "null";
    else if (opened.kind === "plain") chunk += JSON.stringify(opened.json);
    else if (opened.kind === "text") chunk += JSON.stringify(opened.text.toWellFormed());
    else if (ancestors.has(item)) chunk += '"[circular]"';
    else if (levels.length >= MAX_DEPTH) chunk += '"[too deep]"';
    else {
      chunk += opened.kind === "list" ? "[" : "{";
      levels.push({ value: item, next: parts(opened), close: opened.kind === "list" ? "]" : "}", isEmpty: true });
      ancestors.add(item);
    }
  };

  write(value);
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const part = level.next.next();
    if (part.done) {
      levels.pop();
      ancestors.delete(level.value);
      chunk += level.isEmpty ? level.close : `\n${" ".repeat(levels.length)}${level.close}`;
    } else {
      const [name, item] = part.value;
      chunk += `${level.isEmpty ? "" : ","}\n${" ".repeat(levels.length)}`;
      if (name !== null) chunk += `${JSON.stringify(name.toWellFormed())}: `;
      level.isEmpty = false;
      write(item);
    }
    if (chunk.length >= CHUNK_CHARS) {
      yield chunk;
      chunk = "";
    }
  }
  yield chunk;
}

function* parts(opened: Extract<Opened, { kind: "list" | "record" }>): Generator<readonly [string | null, unknown]> {
  if (opened.kind === "list") {
    for (let index = 0; index < opened.length; index++) yield [null, opened.at(index)];
    return;
  }
  for (const entry of opened.entries()) if (entry !== null && !isDropped(entry[1])) yield entry;
}

/**
 * What JSON.stringify gives for a value, if that has at most `maxChars` characters. Null if it has more, or if it cannot
 * be given (a cycle, a BigInt, a getter that throws). Stops as soon as it is over.
 */
export function jsonWithin(value: unknown, maxChars: number): string | null {
  let left = maxChars;
  const pass = function (this: unknown, key: string, held: unknown): unknown {
    if (held === undefined || typeof held === "function") return held;
    left -= (Array.isArray(this) ? 1 : key.length) + (typeof held === "string" ? held.length + 2 : 1);
    if (left < 0 || holdsManyBytes(held, left)) throw new Error("over");
    return held;
  };
  try {
    const json = isLonger(value, maxChars) ? null : (JSON.stringify(value, pass) ?? "");
    return json === null || json.length > maxChars ? null : json;
  } catch {
    return null;
  }
}

/** JSON makes a list of numbers of a buffer before anybody is asked: one that is too long is not begun. */
function holdsManyBytes(value: unknown, maxChars: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  for (const key in value) if (isLonger((value as Record<string, unknown>)[key], maxChars)) return true;
  return false;
}

/** A number and its comma take two characters or more. */
function isLonger(value: unknown, maxChars: number): boolean {
  return ArrayBuffer.isView(value) && 2 * value.byteLength > maxChars && !(value instanceof DataView);
}
