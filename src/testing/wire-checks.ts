import assert from "node:assert/strict";
import type { Wire, WireCall, WireLong, WireMessage } from "../contract/wire.ts";
import { type PairedResult, pairResults } from "../wire/pair-results.ts";

// The checks and comparisons of testWire.

/** Returns the value at the end of a path. */
export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const step of path) value = (value as Record<string | number, unknown> | null | undefined)?.[step];
  return value;
}

/** Returns a copy with another value at the end of a path. */
export function putAt(root: unknown, path: Path, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  const copy: unknown = Array.isArray(root) ? root.slice() : { ...(root as object) };
  (copy as Record<string | number, unknown>)[step] = putAt(valueAt(root, [step]), rest, value);
  return copy;
}

/** Returns every path into a value. */
export function pathsOf(root: unknown, path: Path = []): Path[] {
  if (typeof root !== "object" || root === null) return [path];
  return [path, ...Object.entries(root).flatMap(([key, value]) => pathsOf(value, [...path, stepOf(root, key)]))];
}

function stepOf(root: object, key: string): string | number {
  return Array.isArray(root) ? Number(key) : key;
}

/** Freezes a value and everything in it, so that a write to it throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const field of Object.values(value)) deepFreeze(field);
  }
  return value;
}

/**
 * Asserts that both values have the same bytes outside these places, and share every object that does not contain one
 * of them.
 */
export function assertSameOutside(before: unknown, after: unknown, places: readonly Path[]): void {
  assert.equal(JSON.stringify(mask(after, places)), JSON.stringify(mask(before, places)));
  assertShared(before, after, places);
}

function mask(root: unknown, places: readonly Path[]): unknown {
  return places.reduce((masked, place) => putAt(masked, place, null), root);
}

function assertShared(before: unknown, after: unknown, places: readonly Path[]): void {
  if (places.length === 0) assert.equal(after, before);
  else if (places.every((place) => place.length > 0) && typeof before === "object" && before !== null) {
    for (const key of Object.keys(before)) {
      const below = places.filter(([step]) => String(step) === key).map((place) => place.slice(1));
      assertShared(valueAt(before, [key]), valueAt(after, [key]), below);
    }
  }
}

/** Returns a view without the texts and media of its results. */
export function outline(view: WireMessage): unknown {
  const { results, ...rest } = view;
  return { ...rest, results: results.map(({ texts: _texts, json: _json, media: _media, ...result }) => result) };
}

/** A result as it was expected, and as a wire read it. */
export interface Found {
  expected: ExpectedResult;
  message: unknown;
  view: WireMessage;
  pair: PairedResult;
}

/** Reads a fixture and pairs its results. */
export function readFixture(wire: Wire, { messages, results }: WireFixture): Found[] {
  const views = messages.map((message) => wire.read(message));
  const pairs = pairResults(views);
  assert.equal(pairs.length, results.length, `${pairs.length} results found, not ${results.length}`);
  return pairs.map((pair, at) => {
    const [expected, view] = [results[at], views[pair.message]];
    assert.ok(expected !== undefined && view !== undefined);
    return { expected, message: messages[pair.message], view, pair };
  });
}

/** Asserts that every field of a view has its type, whatever the message was. */
export function assertWellFormed(view: WireMessage): void {
  assert.ok(["system", "user", "assistant", "result", "other"].includes(view.role), `role ${view.role}`);
  assert.ok(Number.isFinite(view.chars) && view.chars >= 0, `chars ${view.chars}`);
  assert.ok(Number.isSafeInteger(view.malformed) && view.malformed >= 0, `malformed ${view.malformed}`);
  assert.ok(view.id === null || typeof view.id === "string");
  assert.ok(view.text === null || typeof view.text === "string");
  assert.equal(typeof view.aborted, "boolean");
  for (const call of view.calls) {
    assert.ok(call.id === null || typeof call.id === "string");
    assert.equal(typeof call.tool, "string");
  }
  for (const { id, tool, texts, json, media, isError, fixed } of view.results) {
    assert.ok(id === null || typeof id === "string");
    assert.ok(tool === null || typeof tool === "string");
    assert.ok(texts.every((text) => typeof text === "string"));
    if (json !== undefined) assert.deepEqual(texts, [JSON.stringify(json)]);
    assert.ok(Number.isFinite(media.bytes) && media.bytes >= 0 && media.count >= 0);
    assert.deepEqual([typeof isError, typeof fixed], ["boolean", "boolean"]);
  }
  const long = view.calls.flatMap((call) => call.long ?? []);
  for (const { texts } of long) assert.ok(texts.length > 0 && texts.every((text) => typeof text === "string"));
  const places = [...view.results, ...long].map(({ at }) => at);
  assert.equal(new Set(places).size, places.length, "two results or calls at one place");
}

/** A message with a long string put into it, which a wire finds in the input of a call. */
export interface FoundLong {
  message: unknown;
  /** Where the string was put; where the input is text of JSON, that text. */
  path: Path;
  call: WireCall & { long: WireLong };
  /** Which of the message's calls. */
  index: number;
}

/**
 * Puts a long string into every place of a message, one at a time, and into texts of JSON as one more field. Returns those
 * that the wire finds as a long string of a call.
 */
export function findLong(wire: Wire, message: unknown, long: string): FoundLong[] {
  return pathsOf(message).flatMap((path) => {
    const value = valueAt(message, path);
    if (typeof value !== "string") return [];
    const changed = putAt(message, path, longIn(value, long));
    return wire.read(changed).calls.flatMap((call, index) => {
      return call.long?.texts.includes(long)
        ? { message: changed, path, call: { ...call, long: call.long }, index }
        : [];
    });
  });
}

/** One field of the JSON is a number that JavaScript cannot hold, which must survive. */
function longIn(text: string, long: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return long;
    const fields = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)} : ${JSON.stringify(each)}`);
    return `{${[...fields, '"big":12345678901234567890', `"long":${JSON.stringify(long)}`].join(",")}}`;
  } catch {
    return long;
  }
}

/** A path into a message, field by field. */
export type Path = readonly (string | number)[];

/** What a wire must find of one result. */
export interface ExpectedResult {
  /** The index of the message that holds the result. */
  message: number;
  /** The paths of its content in that message. The first one holds its texts. An edit may change nothing else. */
  places: readonly Path[];
  id: string | null;
  tool: string;
  /** The index of the message that made the call, or null if none did. */
  callMessage: number | null;
  texts: readonly string[];
  media?: number;
  isError?: boolean;
  fixed?: boolean;
  /** True if the content is JSON. An edit turns it into the format's text form. */
  json?: boolean;
}

/** A conversation as an SDK gives or takes it, and what a wire must find in it. */
export interface WireFixture {
  name: string;
  messages: readonly unknown[];
  results: readonly ExpectedResult[];
}
