/** A text that a model reads, and where it stands in a tool's response. */
export interface FoundText {
  path: readonly (string | number)[];
  text: string;
}

/** Fields that hold no words for a model: data of images, places of files and pages. */
const NO_TEXT = new Set([
  "data",
  "base64",
  "blob",
  "url",
  "uri",
  "filePath",
  "rawOutputPath",
  "persistedOutputPath",
  "type",
]);
const MAX_DEPTH = 8;
const MAX_TEXTS = 1000;

/** The texts of a response, whatever tool it is of. */
export function findTexts(response: unknown): FoundText[] {
  const found: FoundText[] = [];
  walk(response, [], found);
  return found;
}

function walk(value: unknown, path: (string | number)[], found: FoundText[]): void {
  if (found.length >= MAX_TEXTS || path.length > MAX_DEPTH) return;
  if (typeof value === "string") {
    if (value !== "") found.push({ path, text: value });
    return;
  }
  if (typeof value !== "object" || value === null) return;
  // A command that printed an image: its text is the image.
  if ((value as { isImage?: unknown }).isImage === true) return;
  for (const [key, each] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    if (!NO_TEXT.has(String(key))) walk(each, [...path, key], found);
  }
}

/** A copy of the response with other texts in their places; nothing else is changed. */
export function putTexts(response: unknown, found: readonly FoundText[], texts: readonly string[]): unknown {
  return found.reduce(
    (copy, { path, text }, index) => (texts[index] === text ? copy : put(copy, path, texts[index] ?? "")),
    response,
  );
}

function put(value: unknown, path: readonly (string | number)[], text: string): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return text;
  if (Array.isArray(value)) return value.with(Number(key), put(value[Number(key)], rest, text));
  return { ...(value as object), [key]: put((value as Record<string, unknown>)[key], rest, text) };
}
