import { mediaBytes } from "../measure/media-bytes.ts";
import { bytesOf } from "../measure/read-chunks.ts";

/** A text found in a structured result. */
export interface FoundText {
  text: string;
  path: Path;
  /** What the text was decoded from, where the result has bytes there. */
  bytes?: Uint8Array;
  /** An image, a sound or a file as text: it is shown whole or described, never cut. */
  isMedia?: true;
}

/** The texts of a structured result. */
export interface FoundTexts {
  texts: FoundText[];
  /** Content blocks, as agents and MCP know them; else any object, all of whose strings are text. */
  hasContent: boolean;
  /** Which elements of the content hold media or what somebody else checks: these are not left out. */
  mediaAt: ReadonlySet<number>;
  /** Something in it is not what JSON makes of it: a class's own `toJSON`, a Map, a BigInt, a cycle, a getter that throws. */
  isForeign: boolean;
}

const MAX_NODES = 20_000;
/** Blocks have few fields: a list of 20,000 is walked, and one of as many as a host will ever send. */
const MAX_CONTENT_NODES = 1_000_000;
const MAX_DEPTH = 64;
/** Strings of a block other than its text that are shorter are names, ids and the like: kept as they are. */
const SHORT_CHARS = 256;
/** Blocks whose long strings are not text. */
const MEDIA =
  /^(?:image|audio|video|file|document|media|input_image|input_audio|input_file|image_url|resource_link|redacted_thinking)$/;
/** Has a character that neither base64 nor an address has, so it is something to read. */
const READABLE = /[^A-Za-z0-9+/=_\-:.?&%#~@!$'()*,;[\]\r\n]/;
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
  const content = contentOf(result);
  const path: Path = Array.isArray(result) ? [] : ["content"];
  const walk = new Walk(content === null ? MAX_NODES : MAX_CONTENT_NODES, path.length);
  if (content === null) walk.visitAny(result, [], 0);
  else walk.visitContent(content, path);
  const { found: texts, mediaAt, isForeign } = walk;
  return walk.left < 0 ? null : { texts, hasContent: content !== null, mediaAt, isForeign };
}

/** A result's content as agents and MCP know it: a text, or a list of blocks. Null if it has none. */
export function contentOf(result: object): string | unknown[] | null {
  if (Array.isArray(result)) return isContent(result, true) ? result : null;
  const content = readField(result, "content");
  return typeof content === "string" || (Array.isArray(content) && isContent(content, false)) ? content : null;
}

/** A list of blocks; a bare list only if all of it looks like blocks, since any list may have objects with a `type`. */
function isContent(list: readonly unknown[], isBare: boolean): boolean {
  if (list.length === 0 || list.length > MAX_CONTENT_NODES) return list.length > 0 && !isBare;
  const typed = list.filter((item) => isPlain(item) && typeof readField(item, "type") === "string") as object[];
  const blocks = typed.filter(
    (item) => "text" in item || "resource" in item || MEDIA.test(String(readField(item, "type"))),
  );
  return isBare
    ? blocks.length === list.length
    : blocks.length > 0 ||
        typed.length === list.length ||
        list.some((item) => typeof item === "string" || Array.isArray(item));
}

/** A bounded walk through a result. */
class Walk {
  readonly found: FoundText[] = [];
  readonly mediaAt = new Set<number>();
  isForeign = false;
  left: number;
  /** Where in a path the content's elements are numbered. */
  readonly #at: number;
  readonly #ancestors = new Set<object>();

  constructor(left: number, at: number) {
    this.left = left;
    this.#at = at;
  }

  /** A content string, or a list of blocks. */
  visitContent(value: unknown, path: Path): void {
    if (typeof value === "string") this.#take({ text: value, path });
    else if (Array.isArray(value)) this.#each(value, path, (item, at) => this.#visitBlock(item, at));
    else this.visitAny(value, path, 0);
  }

  /** Every text in any value that has at least `shortest` characters. */
  visitAny(value: unknown, path: Path, shortest: number, holder: object = {}): void {
    if (typeof value === "string") {
      if (value.length < shortest) return;
      this.#take({ text: value, path, ...(isMedia(value, path, holder) && { isMedia: true }) });
    } else if (Array.isArray(value)) this.#each(value, path, (item, at) => this.visitAny(item, at, shortest));
    else if (isPlain(value)) this.#fields(value, path, (item, at) => this.visitAny(item, at, shortest, value));
    else this.#visitOther(value, path);
  }

  #visitBlock(block: unknown, path: Path): void {
    if (typeof block === "string" || Array.isArray(block)) return this.visitContent(block, path);
    if (!isPlain(block)) return this.#visitOther(block, path);
    if (MEDIA.test(String(this.#read(block, "type")))) {
      this.#keep(path);
      return this.#visitMedia(block, path);
    }
    this.#fields(block, path, (item, at) => {
      const key = at.at(-1);
      if (KEPT_FIELDS.has(String(key))) this.#keep(path);
      else if (key === "text" || key === "content" || key === "resource") this.#visitText(item, at);
      else this.visitAny(item, at, SHORT_CHARS, block);
    });
  }

  /** Long texts beside media or in place of them: a document as plain text, a link's description. */
  #visitMedia(value: unknown, path: Path): void {
    if (typeof value === "string") {
      if (value.length >= SHORT_CHARS && READABLE.test(value)) this.#take({ text: value, path });
    } else if (Array.isArray(value)) this.#each(value, path, (item, at) => this.#visitMedia(item, at));
    else if (isPlain(value)) this.#fields(value, path, (item, at) => this.#visitMedia(item, at));
  }

  /** The text of a block, of a resource in it, or blocks inside it. */
  #visitText(value: unknown, path: Path): void {
    if (typeof value === "string") this.#take({ text: value, path });
    else if (Array.isArray(value)) this.visitContent(value, path);
    else this.#visitBlock(value, path);
  }

  /** Bytes are the text that they spell: JSON would make a number of each. */
  #visitOther(value: unknown, path: Path): void {
    if (ArrayBuffer.isView(value)) {
      const bytes = bytesOf(value);
      this.#take({ text: new TextDecoder().decode(bytes), path, bytes });
    } else if (typeof value === "bigint" || value instanceof Map || value instanceof Set) this.isForeign = true;
  }

  #take(found: FoundText): void {
    if (--this.left >= 0) this.found.push(found);
  }

  #keep(path: Path): void {
    this.mediaAt.add(path[this.#at] as number);
  }

  #each(list: unknown[], path: Path, visit: (item: unknown, path: Path) => void): void {
    if (list.length > this.left) this.left = -1;
    this.#enter(list, path, () => {
      for (let index = 0; index < list.length && this.left >= 0; index++) {
        this.left--;
        visit(this.#read(list, index), [...path, index]);
      }
    });
  }

  #fields(value: object, path: Path, visit: (item: unknown, path: Path) => void): void {
    this.#enter(value, path, () => {
      for (const key in value) {
        if (--this.left < 0) return;
        if (Object.hasOwn(value, key)) visit(this.#read(value, key), [...path, key]);
      }
    });
  }

  /** Guards against cycles; too deep is too large. */
  #enter(value: object, path: Path, visit: () => void): void {
    if (path.length > MAX_DEPTH) this.left = -1;
    if (this.#ancestors.has(value) || typeof this.#read(value, "toJSON") === "function") this.isForeign = true;
    if (this.left < 0 || this.#ancestors.has(value)) return;
    this.#ancestors.add(value);
    visit();
    this.#ancestors.delete(value);
  }

  /** A getter that throws has nothing to show. */
  #read(value: object, key: string | number): unknown {
    try {
      return (value as Record<string | number, unknown>)[key];
    } catch {
      this.isForeign = true;
      return undefined;
    }
  }
}

/** Shorter ones are icons at most, and cut like any text. */
function isMedia(text: string, path: Path, holder: object): boolean {
  if (text.length < SHORT_CHARS) return false;
  const field = path.at(-2);
  const read = (name: string) => {
    const held = readField(holder, name);
    return typeof held === "string" ? held : undefined;
  };
  return (
    mediaBytes(String(path.at(-1)), text, { field: field === undefined ? null : String(field), text: read }) !== null
  );
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

/** Keys that lead from a result to a text in it. */
type Path = (string | number)[];

/** A text and where it goes. */
export interface PlacedText {
  path: Path;
  text: string;
}

/** The result with other texts in place; only what leads to them is copied, and nothing of the result is changed. */
export function replaceTexts<T extends object>(result: T, texts: readonly PlacedText[]): T {
  return replaceAt(result, texts, 0) as T;
}

/** A copy of a value with another field; the value is not changed. */
export function withField<T extends object>(value: T, key: string | number, held: unknown): T {
  return setOn(copyOf(value), key, held) as T;
}

function setOn(copy: object, key: string | number, value: unknown): object {
  return Object.defineProperty(copy, key, { value, writable: true, enumerable: true, configurable: true });
}

function replaceAt(value: object, texts: readonly PlacedText[], depth: number): object {
  const copy = copyOf(value);
  for (const [key, inner] of grouped(texts, depth)) {
    const [first] = inner as [PlacedText];
    const isText = first.path.length === depth + 1;
    const held = isText
      ? first.text
      : replaceAt((value as Record<string | number, object>)[key] as object, inner, depth + 1);
    setOn(copy, key, held);
  }
  return copy;
}

function grouped(texts: readonly PlacedText[], depth: number): Map<string | number, PlacedText[]> {
  const groups = new Map<string | number, PlacedText[]>();
  for (const text of texts) {
    const key = text.path[depth] as string | number;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [text]);
    else group.push(text);
  }
  return groups;
}

/** A copy that can be changed, also of what is frozen. */
function copyOf(value: object): object {
  if (Array.isArray(value)) return value.slice();
  const fields = Object.getOwnPropertyDescriptors(value) as Record<string, PropertyDescriptor>;
  for (const key of Reflect.ownKeys(fields)) {
    const field = fields[key as string] as PropertyDescriptor;
    field.configurable = true;
    if ("value" in field) field.writable = true;
  }
  return Object.create(Object.getPrototypeOf(value), fields);
}
