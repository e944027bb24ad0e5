import assert from "node:assert/strict";
import fc from "fast-check";

const word = fc.oneof(
  fc.lorem({ maxCount: 3 }),
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.constantFrom(
    "日本語",
    "👩‍👩‍👧‍👦",
    '"\\"',
    "\n\t",
    "... [3 elements omitted: $[0] to $[2]]",
    "__proto__",
    "[exit code 0]",
    "",
  ),
  fc
    .tuple(fc.string({ unit: "grapheme", minLength: 1, maxLength: 3 }), fc.integer({ min: 1, max: 200 }))
    .map(([text, times]) => text.repeat(times)),
);
const leaf = fc.oneof(word, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null));
/** Generates lists of many objects of one shape. */
export const records = fc
  .tuple(fc.dictionary(fc.lorem({ maxCount: 1 }), leaf, { maxKeys: 4 }), fc.integer({ min: 0, max: 60 }))
  .map(([record, times]) => Array.from({ length: times }, (_, id) => ({ id, ...record })));
const documents = fc.letrec<{ value: unknown; object: unknown; array: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, leaf, records, tie("object"), tie("array")),
  object: fc.dictionary(word, tie("value"), { maxKeys: 8 }),
  array: fc.array(tie("value"), { maxLength: 8 }),
}));
/** Generates documents of every shape, with texts that look like our notes. */
export const arbitraryDocument = fc.oneof(documents.object, documents.array, records);

/**
 * Checks that every value of the excerpt is the original's value at its path, or a note that says what is missing
 * there.
 */
export function checkExcerpt(shown: unknown, original: unknown, path: string, tag: string): void {
  const notes = notesWith(tag);
  if (typeof shown === "string" && shown !== original) {
    if (notes.gone.test(shown)) return;
    const parts = shown.split(notes.cut);
    assert.equal(parts.length, 2, `${path}: ${shown}`);
    assert.ok((original as string).startsWith(parts[0] as string), path);
    assert.ok((original as string).endsWith(parts[1] as string), path);
  } else if (Array.isArray(shown)) checkArray(shown, original as unknown[], path, tag);
  else if (typeof shown === "object" && shown !== null) checkObject(shown, original as object, path, tag);
  else assert.ok(Object.is(shown, original) || shown === original, path);
}

function notesWith(tag: string) {
  return {
    gone: new RegExp(`^\\.\\.\\. \\[(?:object|array|string|value) omitted: .*${tag}\\]$`),
    cut: new RegExp(`\\.\\.\\. \\[[\\d,]+ bytes? omitted${tag}\\] \\.\\.\\.`),
    rows: `... [objects as rows of values: their keys come first${tag}]`,
    skip: new RegExp(`^\\.\\.\\. \\[([\\d,]+) (?:element|key)s? omitted: (.*)${tag}\\]$`),
  };
}

/** The elements of a list, of which objects may be written as rows of values under their keys. */
function withoutRows(shown: unknown[], original: unknown[], tag: string): unknown[] {
  const [note, keys, ...rows] = shown;
  if (note !== notesWith(tag).rows || note === original[0]) return shown;
  return rows.map((row) => {
    if (!Array.isArray(row)) return row;
    assert.equal(row.length, (keys as string[]).length);
    return Object.fromEntries((keys as string[]).map((key, at) => [key, row[at]]));
  });
}

function checkArray(shown: unknown[], original: unknown[], path: string, tag: string): void {
  let index = 0;
  for (const element of withoutRows(shown, original, tag)) {
    const skip = typeof element === "string" && element !== original[index] ? notesWith(tag).skip.exec(element) : null;
    if (skip === null) checkExcerpt(element, original[index], `${path}[${index++}]`, tag);
    else {
      assert.ok(skip[2]?.includes(`[${index}]`), `${path}: ${element}`);
      index += Number((skip[1] as string).replaceAll(",", ""));
    }
  }
  assert.equal(index, original.length, path);
}

function checkObject(shown: object, original: object, path: string, tag: string): void {
  let keys = 0;
  for (const [key, value] of Object.entries(shown)) {
    const skip = Object.hasOwn(original, key) ? null : notesWith(tag).skip.exec(key);
    if (skip === null) {
      assert.ok(Object.hasOwn(original, key), `${path} has no ${key}`);
      checkExcerpt(value, (original as Record<string, unknown>)[key], `${path}.${key}`, tag);
      keys++;
    } else keys += Number((skip[1] as string).replaceAll(",", ""));
  }
  assert.equal(keys, Object.keys(original).length, path);
}
