/** An object with fields, as JSON has it. */
export type JsonRecord = Record<string, unknown>;

/** Returns true for an object or a list. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Returns true for an object with fields, not a list. */
export function isRecord(value: unknown): value is JsonRecord {
  return isObject(value) && !Array.isArray(value);
}

/** What a look at a value of others finds; null if it throws, as a strict proxy does for a field that it does not have. */
export function tried<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}

/** The value of a JSON text; null if it is none. */
export function parsedJson(text: string): unknown {
  return tried((): unknown => JSON.parse(text));
}

/** The JSON of a value; null for what has none, such as a circle. */
export function jsonOf(value: unknown): string | null {
  return tried((): string | undefined => JSON.stringify(value)) ?? null;
}

/** Returns true for a promise, or what acts like one. */
export function isPromise<T>(value: PromiseLike<T> | T): value is PromiseLike<T> {
  return isObject(value) && typeof tried(() => (value as { then?: unknown }).then) === "function";
}

/** Limits with each one that is set made anew. */
export function mapLimits<L extends Partial<Record<(typeof LIMIT_OF)[keyof Sizes], number>>>(
  limits: L,
  change: (limit: number, unit: keyof Sizes) => number,
): L {
  const units = Object.keys(LIMIT_OF) as (keyof Sizes)[];
  const set = units.flatMap((unit) => {
    const limit = limits[LIMIT_OF[unit]];
    return limit === undefined ? [] : [[LIMIT_OF[unit], change(limit, unit)]];
  });
  return Object.fromEntries(set) as L;
}

/** Sets a value as the newest of a map. Beyond `most` of them the oldest are forgotten. */
export function setNewest<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}

/** Puts pieces of bytes together. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

/** What a text takes in every unit. */
interface Sizes {
  bytes: number;
  chars: number;
  lines: number;
  tokens: number;
}

/** Joins two sizes unit by unit. */
export function combineSizes(a: Sizes, b: Sizes, join: (a: number, b: number) => number): Sizes {
  return {
    bytes: join(a.bytes, b.bytes),
    chars: join(a.chars, b.chars),
    lines: join(a.lines, b.lines),
    tokens: join(a.tokens, b.tokens),
  };
}

/** The name of each unit's limit. */
export const LIMIT_OF = { bytes: "maxBytes", chars: "maxChars", lines: "maxLines", tokens: "maxTokens" } as const;

/** Writes a whole number with its thousands apart: 1,048,576. The first call of `toLocaleString` would cost 10 ms and more. */
export function grouped(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** Writes a number with its word, one or many. */
export function counted(value: number, word: string): string {
  return `${grouped(value)} ${word}${value === 1 ? "" : "s"}`;
}

/** Leaves out the user and the password of addresses in a text, so that it may be printed. */
export function withoutUserInfo(text: string): string {
  return text.replaceAll(
    /(\b[a-z][a-z\d+.-]*:\/\/|(?<![^\s"'])[^\s"':/]+:(?!\/\/))[^\s"']*@/gi,
    (_found, begin: string) => (begin.endsWith("://") ? `${begin}...@` : "...@"),
  );
}

/** A value that is too large to be read whole: its JSON stays in bytes. */
export class LargeJson {
  /** As much of the value as may be shown. Lists have their full length, and elements that will not be shown are left out. */
  readonly seen: object;
  /** Its JSON, one element or field a line. */
  readonly lines: () => Iterable<Uint8Array>;

  constructor(seen: object, lines: () => Iterable<Uint8Array>) {
    this.seen = seen;
    this.lines = lines;
  }
}

/** Returns true if an SDK of OpenTelemetry is registered in this process: @opentelemetry/api keeps it there. If none is, nobody listens. */
export function isTraced(): boolean {
  return Symbol.for("opentelemetry.js.api.1") in globalThis;
}
