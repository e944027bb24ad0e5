/** Keys that lead from a result to a text in it. */
export type Path = (string | number)[];

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
