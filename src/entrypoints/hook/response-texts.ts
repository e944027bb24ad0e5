/** Fields whose texts are not for a model to read: data of images, paths of files, addresses of pages. */
const NO_TEXT = new Set("data base64 blob url uri filePath rawOutputPath persistedOutputPath type".split(" "));
const MAX_DEPTH = 64;
const MAX_TEXTS = 200;

/** Finds the texts that a model reads in the response of any tool; null if they are too many or too deep. */
export function findTexts(response: unknown): string[] | null {
  const found: string[] = [];
  const isWalked = walk(response, 0, (text) => {
    found.push(text);
    return found.length <= MAX_TEXTS ? text : null;
  });
  return isWalked === null ? null : found;
}

/** A copy of the response with other texts in the same places; nothing else is changed. */
export function putTexts(response: unknown, texts: readonly string[]): unknown {
  let at = 0;
  return walk(response, 0, () => texts[at++] ?? "")?.value;
}

/** Gives the text to put in place of a text; null stops the walk. */
type Change = (text: string) => string | null;

function walk(value: unknown, depth: number, change: Change): { value: unknown } | null {
  if (typeof value === "string") {
    const changed = value === "" ? "" : change(value);
    return changed === null ? null : { value: changed };
  }
  // The command printed an image, and its text is the data of the image.
  if (typeof value !== "object" || value === null || (value as { isImage?: unknown }).isImage === true)
    return { value };
  if (depth >= MAX_DEPTH) return null;
  if (isLines(value)) {
    // A list of lines, such as names of files, is one text.
    const text = value.join("\n");
    const changed = change(text);
    return changed === null ? null : { value: changed === text ? value : changed.split("\n") };
  }
  const entries: [string | number, unknown][] = [];
  for (const [key, each] of Object.entries(value)) {
    const next = NO_TEXT.has(key) ? { value: each } : walk(each, depth + 1, change);
    if (next === null) return null;
    entries.push([key, next.value]);
  }
  return { value: Array.isArray(value) ? entries.map(([, each]) => each) : Object.fromEntries(entries) };
}

function isLines(value: object): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string");
}
