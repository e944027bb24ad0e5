import { readField } from "../clamp/bound-open.ts";
import { mediaBytes } from "../measure/media-bytes.ts";
import { splitsPair } from "../measure/scan.ts";
import { NUMBERS } from "../policy/defaults.ts";

/** Is added after a text that was cut. */
export const CUT_MARKER = "\n…(truncated)…";

/** A message as another agent reads it, and what was done to it. Unchanged values are shared, not copied. */
export interface Lightened {
  value: unknown;
  /** True if a text, thinking, partialJson or an argument of a call was cut. */
  isShortened: boolean;
  /** True if details, a signature or the data of media were removed. */
  isReduced: boolean;
}

/** Blocks that are nested deeper stay as they are. */
const MAX_LEVELS = 8;
/** A message with more fields or blocks than this stays as it is, because it is over any limit. */
const MAX_PARTS = 1_000_000;

/** Fields that are of no use to a reader. Removing them does not count as a loss. */
const ACCOUNTS = new Set(["usage", "cost", "usage_metadata"]);
/** Fields that a tool writes for its application, or that a provider signed or encrypted for itself. */
const REMOVED = new Set([
  "details",
  "structuredContent",
  "thinkingSignature",
  "textSignature",
  "thoughtSignature",
  "thought_signature",
  "encrypted_content",
]);
const TEXTS = new Set([
  "text",
  "thinking",
  "partialJson",
  "content",
  "output",
  "value",
  "summary",
  "reasoning_content",
]);
/** Fields that hold blocks, one block, or the message itself. */
const HOLDERS = new Set(
  "content contents parts output value message kwargs data toolResult functionResponse summary source resource inlineData inline_data image_url input_audio image audio video document file media".split(
    " ",
  ),
);
/** Fields that hold a result as data. A model reads each text in it. */
const DATA = new Set(["response", "json"]);

/** Fields that hold the arguments of a call: as data, or as text of JSON. */
const ARGUMENTS = new Set(["arguments", "args", "input"]);
/** Fields that hold calls. */
const CALLS = new Set(["tool_calls", "function", "functionCall", "toolUse", "additional_kwargs"]);

/**
 * Removes from a message what another agent cannot use, and cuts its long texts. With `cutsCalls` it cuts long texts in
 * the arguments of calls too. Never throws, and changes nothing.
 */
export function lightenMessage(message: unknown, cutsCalls = false): Lightened {
  const walk = new Walk(cutsCalls);
  try {
    const value = walk.visit(message, null, 0, false);
    return { value, isShortened: walk.isShortened, isReduced: walk.isReduced };
  } catch {
    // If the message throws while it is read, `copyMessage` later copies what can be read.
    return { value: message, isShortened: false, isReduced: false };
  }
}

class Walk {
  isShortened = false;
  isReduced = false;
  #parts = MAX_PARTS;
  readonly #cutsCalls: boolean;

  constructor(cutsCalls: boolean) {
    this.#cutsCalls = cutsCalls;
  }

  visit(value: unknown, field: string | null, level: number, isData: boolean): unknown {
    if (typeof value === "string") return isData || field === null || TEXTS.has(field) ? this.#cut(value) : value;
    if (typeof value !== "object" || value === null || level > MAX_LEVELS || this.#parts <= 0) return value;
    if (Array.isArray(value)) return this.#list(value, field, level, isData);
    return isPlain(value) ? this.#fields(value, field, level, isData) : value;
  }

  #list(list: readonly unknown[], field: string | null, level: number, isData: boolean): unknown {
    this.#parts -= list.length;
    if (this.#parts < 0) return list;
    return sameOr(
      list,
      list.map((item) => this.visit(item, field, level + 1, isData)),
    );
  }

  #fields(block: object, field: string | null, level: number, isData: boolean): unknown {
    const names = Object.keys(block);
    this.#parts -= names.length;
    if (this.#parts < 0) return block;
    const lightened = new Map<string, unknown>();
    let mediaSize: number | null = null;
    let isChanged = false;
    const text = (name: string) => {
      const value = readField(block, name);
      return typeof value === "string" ? value : undefined;
    };
    for (const name of names) {
      const value = readField(block, name);
      const media = mediaBytes(name, value, { field, text });
      if (media !== null) mediaSize = (mediaSize ?? 0) + media;
      else if (!isData && (ACCOUNTS.has(name) || this.#isRemoved(name, value, field, text("type")))) isChanged = true;
      else {
        const asData = isData || DATA.has(name) || (name === "value" && text("type")?.endsWith("json") === true);
        const next = this.#next(name, value, level + 1, asData);
        isChanged ||= next !== value;
        lightened.set(name, next);
      }
    }
    if (mediaSize === null) return isChanged ? Object.fromEntries(lightened) : block;
    this.isReduced = true;
    lightened.set("bytes", mediaSize);
    lightened.set("omitted", true);
    return Object.fromEntries(lightened);
  }

  #next(name: string, value: unknown, level: number, isData: boolean): unknown {
    if (this.#cutsCalls && !isData && ARGUMENTS.has(name)) return this.#arguments(value, name, level);
    const isOpen = isData || isHolder(name, value) || (this.#cutsCalls && CALLS.has(name));
    return isOpen ? this.visit(value, name, level, isData) : value;
  }

  /** Cuts each text in a call's arguments. The names stay, and text of JSON stays JSON. */
  #arguments(value: unknown, name: string, level: number): unknown {
    if (typeof value !== "string" || value.length <= NUMBERS.capFieldChars.default)
      return this.visit(value, name, level, true);
    try {
      return JSON.stringify(this.visit(JSON.parse(value), name, level, true));
    } catch {
      return this.#cut(value);
    }
  }

  #isRemoved(name: string, value: unknown, field: string | null, type: string | undefined): boolean {
    const isSigned = type === "thinking" || type === "redacted_thinking";
    const isNamed = REMOVED.has(name) || (isSigned && (name === "signature" || name === "data"));
    // LangChain calls details `artifact`.
    if (!isNamed && !(name === "artifact" && field === "kwargs")) return false;
    if (value !== undefined && value !== null) this.isReduced = true;
    return true;
  }

  #cut(text: string): string {
    const maxChars = NUMBERS.capFieldChars.default;
    if (text.length <= maxChars) return text;
    this.isShortened = true;
    // If the text was cut before, it stays the same.
    if (text.length <= maxChars + CUT_MARKER.length && text.endsWith(CUT_MARKER)) return text;
    return text.slice(0, splitsPair(text, maxChars) ? maxChars - 1 : maxChars) + CUT_MARKER;
  }
}

function isHolder(name: string, value: unknown): boolean {
  return typeof value === "string" ? TEXTS.has(name) : HOLDERS.has(name) || DATA.has(name);
}

function sameOr(list: readonly unknown[], changed: unknown[]): readonly unknown[] {
  return changed.some((item, index) => item !== list[index]) ? changed : list;
}

/** Returns false for dates, Maps, bytes and the like. They are values, not blocks. */
function isPlain(value: object): boolean {
  return Object.prototype.toString.call(value) === "[object Object]";
}
