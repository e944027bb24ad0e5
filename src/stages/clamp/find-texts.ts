/** A text found in a structured result. */
export interface FoundText {
  text: string;
  path: Path;
}

/** Keys that lead from a result to a text in it. */
export type Path = (string | number)[];

/** The texts of a structured result. */
export interface FoundTexts {
  texts: FoundText[];
  /** Content blocks, as agents and MCP know them; else any object, all of whose strings are text. */
  hasContent: boolean;
}

const MAX_NODES = 20_000;
const MAX_DEPTH = 64;

/** Finds the texts of a structured result, in order. Null if there are more values than anyone should walk. */
export function findTexts(result: object): FoundTexts | null {
  const walk = new Walk();
  const hasContent = "content" in result || (Array.isArray(result) && result.some(isBlock));
  if (!hasContent) walk.visitAny(result, []);
  else if ("content" in result) walk.visitContent(readField(result, "content"), ["content"]);
  else walk.visitContent(result, []);
  return walk.left < 0 ? null : { texts: walk.found, hasContent };
}

/** A bounded walk through a result. */
class Walk {
  readonly found: FoundText[] = [];
  left = MAX_NODES;
  readonly #ancestors = new Set<object>();

  /** A content string, or a list of blocks: the text of each that has some; other blocks stay as they are. */
  visitContent(value: unknown, path: Path): void {
    if (typeof value === "string") this.#take(value, path);
    else if (Array.isArray(value))
      this.#enter(value, path, () => this.#each(value, path, (item, at) => this.#visitBlock(item, at)));
    else this.visitAny(value, path);
  }

  /** Every string in any value. */
  visitAny(value: unknown, path: Path): void {
    if (typeof value === "string") this.#take(value, path);
    else if (Array.isArray(value))
      this.#enter(value, path, () => this.#each(value, path, (item, at) => this.visitAny(item, at)));
    else if (isPlain(value)) {
      this.#enter(value, path, () => {
        for (const key in value) {
          if (--this.left < 0) return;
          if (Object.hasOwn(value, key)) this.visitAny(readField(value, key), [...path, key]);
        }
      });
    }
  }

  #visitBlock(block: unknown, path: Path): void {
    if (typeof block === "string") return this.#take(block, path);
    if (!isPlain(block)) return;
    const text = readField(block, "text");
    const resource = readField(block, "resource");
    const content = readField(block, "content");
    if (typeof text === "string") this.#take(text, [...path, "text"]);
    else if (isPlain(resource)) {
      const inner = readField(resource, "text");
      if (typeof inner === "string") this.#take(inner, [...path, "resource", "text"]);
    } else if (content !== undefined) this.#enter(block, path, () => this.visitContent(content, [...path, "content"]));
  }

  #take(text: string, path: Path): void {
    if (--this.left >= 0) this.found.push({ text, path });
  }

  #each(list: unknown[], path: Path, visit: (item: unknown, path: Path) => void): void {
    if (list.length > this.left) this.left = -1;
    for (let index = 0; index < list.length && this.left >= 0; index++) {
      this.left--;
      visit(readField(list, index), [...path, index]);
    }
  }

  /** Guards against cycles and depth. */
  #enter(value: object, path: Path, visit: () => void): void {
    if (this.left < 0 || path.length > MAX_DEPTH || this.#ancestors.has(value)) return;
    this.#ancestors.add(value);
    visit();
    this.#ancestors.delete(value);
  }
}

function isBlock(value: unknown): boolean {
  return isPlain(value) && typeof readField(value, "type") === "string";
}

/** The result with other texts in place; only what leads to them is copied. */
export function replaceTexts<T extends object>(result: T, texts: readonly { path: Path; text: string }[]): T {
  const copies = new Map<object, object>();
  const copyOf = (value: object): Record<string | number, unknown> => {
    let copy = copies.get(value);
    if (copy === undefined) {
      copy = Array.isArray(value) ? value.slice() : Object.create(Object.getPrototypeOf(value), ownFields(value));
      copies.set(value, copy as object);
    }
    return copy as Record<string | number, unknown>;
  };
  const root = copyOf(result);
  for (const { path, text } of texts) {
    let original: object = result;
    let copy = root;
    for (const key of path.slice(0, -1)) {
      original = readField(original, key) as object;
      const inner = copyOf(original);
      setField(copy, key, inner);
      copy = inner;
    }
    setField(copy, path.at(-1) as string | number, text);
  }
  return root as T;
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

function ownFields(value: object): PropertyDescriptorMap {
  return Object.getOwnPropertyDescriptors(value);
}

function setField(target: object, key: string | number, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}
