import { readField } from "../clamp/bound-open.ts";
import { mediaBytes } from "../measure/media-bytes.ts";
import { NUMBERS } from "../policy/defaults.ts";

/** Stands behind a text that was cut. */
export const CUT_MARKER = "\n…(truncated)…";

/** A message as another agent reads it, and what was done to it. Values that stay are shared, not copied. */
export interface Lightened {
  value: unknown;
  /** A text, thinking or partialJson was cut. */
  isShortened: boolean;
  /** Details, a signature or media data were removed. */
  isReduced: boolean;
}

/** Blocks inside blocks beyond this stay as they are. */
const MAX_LEVELS = 8;
/** A message with more fields or blocks than this stays as it is: it is over any limit. */
const MAX_PARTS = 1_000_000;

/** Of no use to a reader, and not counted as a loss. */
const ACCOUNTS = new Set(["usage", "cost", "usage_metadata"]);
/** What a tool tells its application, and what a provider signed or encrypted for itself. */
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
/** Fields that hold a result as data: each text in it is one that a model reads. */
const DATA = new Set(["response", "json"]);

/** Takes out of a message what another agent cannot use, and cuts its long texts. Never throws, changes nothing. */
export function lightenMessage(message: unknown): Lightened {
  const walk = new Walk();
  try {
    const value = walk.visit(message, null, 0, false);
    return { value, isShortened: walk.isShortened, isReduced: walk.isReduced };
  } catch {
    // A message that throws while it is read; what can be read of it is copied later.
    return { value: message, isShortened: false, isReduced: false };
  }
}

class Walk {
  isShortened = false;
  isReduced = false;
  #parts = MAX_PARTS;

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
        const next = asData || isHolder(name, value) ? this.visit(value, name, level + 1, asData) : value;
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

  #isRemoved(name: string, value: unknown, field: string | null, type: string | undefined): boolean {
    const isSigned = type === "thinking" || type === "redacted_thinking";
    const isNamed = REMOVED.has(name) || (isSigned && (name === "signature" || name === "data"));
    // LangChain's word for details.
    if (!isNamed && !(name === "artifact" && field === "kwargs")) return false;
    if (value !== undefined && value !== null) this.isReduced = true;
    return true;
  }

  #cut(text: string): string {
    const maxChars = NUMBERS.capFieldChars.default;
    if (text.length <= maxChars) return text;
    this.isShortened = true;
    // Cut before: a copy of a copy is the same copy.
    if (text.length <= maxChars + CUT_MARKER.length && text.endsWith(CUT_MARKER)) return text;
    return text.slice(0, isPairAt(text, maxChars - 1) ? maxChars - 1 : maxChars) + CUT_MARKER;
  }
}

function isHolder(name: string, value: unknown): boolean {
  return typeof value === "string" ? TEXTS.has(name) : HOLDERS.has(name) || DATA.has(name);
}

function isPairAt(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
}

function sameOr(list: readonly unknown[], changed: unknown[]): readonly unknown[] {
  return changed.some((item, index) => item !== list[index]) ? changed : list;
}

/** Dates, Maps, bytes and the like are values, not blocks. */
function isPlain(value: object): boolean {
  return Object.prototype.toString.call(value) === "[object Object]";
}
