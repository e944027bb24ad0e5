import type { Path } from "./replace-texts.ts";

/** A text found in a structured result. */
export interface FoundText {
  text: string;
  path: Path;
}

/** The texts of a structured result. */
export interface FoundTexts {
  texts: FoundText[];
  /** Content blocks, as agents and MCP know them; else any object, all of whose strings are text. */
  hasContent: boolean;
}

const MAX_NODES = 20_000;
const MAX_DEPTH = 64;
/** Strings of a block other than its text that are shorter are names, ids and the like: kept as they are. */
const SHORT_CHARS = 256;
/** Blocks whose long strings are not text. */
const MEDIA =
  /^(?:image|audio|video|file|document|media|input_image|input_audio|input_file|image_url|resource_link|redacted_thinking)$/;
/** Fields that hold media or are checked by somebody else, in whatever block they stand. */
const KEPT_FIELDS = new Set([
  "data",
  "blob",
  "inlineData",
  "inline_data",
  "image_url",
  "signature",
  "thoughtSignature",
]);

/** Finds the texts of a structured result, in order. Null if it is larger or deeper than anyone should walk. */
export function findTexts(result: object): FoundTexts | null {
  const content = Array.isArray(result) ? result : readField(result, "content");
  const path: Path = Array.isArray(result) ? [] : ["content"];
  const hasContent =
    typeof content === "string" || (Array.isArray(content) && isContent(content, Array.isArray(result)));
  const walk = new Walk();
  if (hasContent) walk.visitContent(content, path);
  else walk.visitAny(result, [], 0);
  return walk.left < 0 ? null : { texts: walk.found, hasContent };
}

/** A list of blocks; a bare list only if all of it looks like blocks, since any list may have objects with a `type`. */
function isContent(list: readonly unknown[], isBare: boolean): boolean {
  if (list.length === 0 || list.length > MAX_NODES) return list.length > 0 && !isBare;
  const blocks = list.filter(
    (item) =>
      isPlain(item) &&
      typeof readField(item, "type") === "string" &&
      ("text" in item || MEDIA.test(String(readField(item, "type")))),
  );
  return isBare
    ? blocks.length === list.length
    : blocks.length > 0 || list.some((item) => typeof item === "string" || Array.isArray(item));
}

/** A bounded walk through a result. */
class Walk {
  readonly found: FoundText[] = [];
  left = MAX_NODES;
  readonly #ancestors = new Set<object>();

  /** A content string, or a list of blocks. */
  visitContent(value: unknown, path: Path): void {
    if (typeof value === "string") this.#take(value, path);
    else if (Array.isArray(value)) this.#each(value, path, (item, at) => this.#visitBlock(item, at));
    else this.visitAny(value, path, 0);
  }

  /** Every string in any value that has at least `shortest` characters. */
  visitAny(value: unknown, path: Path, shortest: number): void {
    if (typeof value === "string") {
      if (value.length >= shortest) this.#take(value, path);
    } else if (Array.isArray(value)) this.#each(value, path, (item, at) => this.visitAny(item, at, shortest));
    else if (isPlain(value)) this.#fields(value, path, (item, at) => this.visitAny(item, at, shortest));
  }

  #visitBlock(block: unknown, path: Path): void {
    if (typeof block === "string" || Array.isArray(block)) return this.visitContent(block, path);
    if (!isPlain(block)) return;
    if (MEDIA.test(String(readField(block, "type")))) return;
    this.#fields(block, path, (item, at) => {
      const key = at.at(-1);
      if (KEPT_FIELDS.has(String(key))) return;
      if (key === "text" || key === "content" || key === "resource") this.#visitText(item, at);
      else this.visitAny(item, at, SHORT_CHARS);
    });
  }

  /** The text of a block, of a resource in it, or blocks inside it. */
  #visitText(value: unknown, path: Path): void {
    if (typeof value === "string") this.#take(value, path);
    else if (Array.isArray(value)) this.visitContent(value, path);
    else if (isPlain(value)) this.#visitBlock(value, path);
  }

  #take(text: string, path: Path): void {
    if (--this.left >= 0) this.found.push({ text, path });
  }

  #each(list: unknown[], path: Path, visit: (item: unknown, path: Path) => void): void {
    if (list.length > this.left) this.left = -1;
    this.#enter(list, path, () => {
      for (let index = 0; index < list.length && this.left >= 0; index++) {
        this.left--;
        visit(readField(list, index), [...path, index]);
      }
    });
  }

  #fields(value: object, path: Path, visit: (item: unknown, path: Path) => void): void {
    this.#enter(value, path, () => {
      for (const key in value) {
        if (--this.left < 0) return;
        if (Object.hasOwn(value, key)) visit(readField(value, key), [...path, key]);
      }
    });
  }

  /** Guards against cycles; too deep is too large. */
  #enter(value: object, path: Path, visit: () => void): void {
    if (path.length > MAX_DEPTH) this.left = -1;
    if (this.left < 0 || this.#ancestors.has(value)) return;
    this.#ancestors.add(value);
    visit();
    this.#ancestors.delete(value);
  }
}

/** Instances with a state of their own (dates, buffers, maps) are not walked. */
function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value) || ArrayBuffer.isView(value)) return false;
  return !(value instanceof ArrayBuffer || value instanceof Date || value instanceof Map || value instanceof Set);
}

function readField(value: object, key: string | number): unknown {
  try {
    return (value as Record<string | number, unknown>)[key];
  } catch {
    return undefined; // a getter that throws has nothing to show
  }
}
