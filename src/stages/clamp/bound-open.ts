// What any value is as JSON, found without reading more of it than is asked for. Nothing here throws.

/** A list's elements or a record's entries are read one by one, as they are asked for. */
export type Opened =
  /** What JSON drops: undefined, functions, symbols. */
  | { kind: "nothing" }
  | { kind: "plain"; json: null | boolean | number }
  | { kind: "text"; text: string }
  /** `bothEnds`: an element may be asked for from the end without reading those before it. */
  | { kind: "list"; length: number; bothEnds: boolean; at(index: number): unknown }
  | { kind: "record"; count: number; entries(): Iterable<Entry> };

/** A record's key and its value; `null` for a key that JSON would not list. */
type Entry = readonly [name: string, value: unknown] | null;

type ListOf = Extract<Opened, { kind: "list" }>;
type RecordOf = Extract<Opened, { kind: "record" }>;

/** Stands for what throws when it is read. */
export const UNREADABLE = "[unreadable]";

/** BigInts over this are named, not written out: turning one into decimals takes more than linear time. */
const MAX_BIGINT_BITS = 4096;
/** Key lists longer than this are kept, so that an object that is met again is not listed again. */
const LONG_KEY_LIST = 256;

/** What was asked of objects once, kept for the time of one call. */
export interface Asked {
  /** The own keys of those that have many. */
  keys: Map<object, { names: readonly PropertyKey[]; count: number }>;
  /** What their own `toJSON` gave: it may take its time. */
  json: Map<object, { value: unknown } | null>;
}

/** Nothing was asked yet. */
export function nothingAsked(): Asked {
  return { keys: new Map(), json: new Map() };
}

/** Says what the value is as JSON. `maxKeys`: nobody will ask for more entries of one object. */
export function openValue(value: unknown, asked: Asked, maxKeys: number): Opened {
  switch (typeof value) {
    case "string":
      return { kind: "text", text: value };
    case "number":
      // JSON has neither NaN nor a negative zero.
      return { kind: "plain", json: Number.isFinite(value) ? value + 0 : null };
    case "boolean":
      return { kind: "plain", json: value };
    case "bigint":
      return { kind: "text", text: bigintText(value) };
    case "object":
      break;
    default:
      return { kind: "nothing" };
  }
  if (value === null) return { kind: "plain", json: null };
  try {
    if (Array.isArray(value)) return arrayList(value);
    const sort = sortOf(value);
    const builtIn = openBuiltIn(value, sort);
    if (builtIn !== null) return builtIn;
    const own = ownJson(value, asked);
    if (own !== null && own.value !== value) return openValue(own.value, asked, maxKeys);
    return sort === "Error" ? errorRecord(value as Error, asked, maxKeys) : ownRecord(value, asked, maxKeys);
  } catch {
    return { kind: "text", text: UNREADABLE };
  }
}

/** What a class says it is as JSON; null where it says nothing, or throws: then it is read by its own keys. */
function ownJson(value: object, { json }: Asked): { value: unknown } | null {
  const toJson = readField(value, "toJSON");
  if (typeof toJson !== "function") return null;
  const known = json.get(value);
  if (known !== undefined) return known;
  let own: { value: unknown } | null = null;
  try {
    own = { value: toJson.call(value, "") as unknown };
    // JSON asks once: what an answer would say of itself does not matter.
    if (typeof own.value === "object" && own.value !== null) json.set(own.value, null);
  } catch {
    // its own keys serve
  }
  json.set(value, own);
  return own;
}

function bigintText(value: bigint): string {
  if (BigInt.asIntN(MAX_BIGINT_BITS, value) === value) return String(value);
  return `[integer of more than ${MAX_BIGINT_BITS} bits]`;
}

function arrayList(value: readonly unknown[]): ListOf {
  const length = Math.min(Math.max(Math.trunc(Number(value.length)) || 0, 0), Number.MAX_SAFE_INTEGER);
  return { kind: "list", length, bothEnds: true, at: (index) => readField(value, index) };
}

/** Reads a field; what throws is told as unreadable. */
export function readField(holder: object, key: PropertyKey): unknown {
  try {
    return (holder as Record<PropertyKey, unknown>)[key];
  } catch {
    return UNREADABLE;
  }
}

const sizeOfMap = Object.getOwnPropertyDescriptor(Map.prototype, "size")?.get as (this: unknown) => number;
const sizeOfSet = Object.getOwnPropertyDescriptor(Set.prototype, "size")?.get as (this: unknown) => number;

/** What sort of object it says it is; "" for a plain one. By tag, not by constructor: it may come from another realm. */
function sortOf(value: object): string {
  try {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === null || prototype === Object.prototype) return "";
    return value instanceof Error ? "Error" : Object.prototype.toString.call(value).slice("[object ".length, -1);
  } catch {
    return "";
  }
}

/** Returns null for what is read by its own keys; also for an object that only calls itself a Map, a Date and so on. */
function openBuiltIn(value: object, sort: string): Opened | null {
  try {
    if (ArrayBuffer.isView(value)) return bytesRecord(value.byteLength);
    switch (sort) {
      case "Date":
        return openDate(value as Date);
      case "Map":
        return mapRecord(value as Map<unknown, unknown>, sizeOfMap.call(value));
      case "Set":
        return setList(value as Set<unknown>, sizeOfSet.call(value));
      case "URL":
        return { kind: "text", text: (value as URL).href };
      case "ArrayBuffer":
      case "SharedArrayBuffer":
        return bytesRecord((value as ArrayBuffer).byteLength);
      case "Blob":
      case "File":
        return bytesRecord((value as Blob).size);
      case "Number":
        return openValue(Number.prototype.valueOf.call(value), nothingAsked(), 0);
      case "String":
        return { kind: "text", text: String.prototype.valueOf.call(value) };
      case "Boolean":
        return { kind: "plain", json: Boolean.prototype.valueOf.call(value) };
      case "BigInt":
        return { kind: "text", text: bigintText(BigInt.prototype.valueOf.call(value)) };
      default:
        return null;
    }
  } catch {
    return null;
  }
}

function openDate(value: Date): Opened {
  const valid = Number.isFinite(Date.prototype.getTime.call(value));
  return valid ? { kind: "text", text: Date.prototype.toISOString.call(value) } : { kind: "plain", json: null };
}

/** Bytes are described, never pasted. */
function bytesRecord(bytes: number): RecordOf | null {
  if (!Number.isSafeInteger(bytes)) return null;
  const entries: Entry[] = [
    ["type", "bytes"],
    ["bytes", bytes],
  ];
  return { kind: "record", count: entries.length, entries: () => entries };
}

function setList(value: Set<unknown>, length: number): ListOf {
  const rest = Set.prototype.values.call(value);
  const read: unknown[] = [];
  const at = (index: number): unknown => {
    while (read.length <= index) read.push(rest.next().value);
    return read[index];
  };
  return { kind: "list", length, bothEnds: false, at };
}

function mapRecord(value: Map<unknown, unknown>, count: number): RecordOf {
  return {
    kind: "record",
    count,
    *entries() {
      for (const [key, held] of Map.prototype.entries.call(value)) yield [keyName(key), held];
    },
  };
}

function keyName(key: unknown): string {
  if (typeof key === "bigint") return bigintText(key);
  return typeof key === "object" || typeof key === "function" ? (key === null ? "null" : "[object]") : String(key);
}

function ownRecord(value: object, asked: Asked, maxKeys: number): RecordOf {
  const { names, count } = ownKeys(value, asked, maxKeys);
  return {
    kind: "record",
    count,
    *entries() {
      for (const name of names) yield ownEntry(value, name);
    },
  };
}

function ownEntry(value: object, name: PropertyKey): Entry {
  if (typeof name !== "string") return null;
  try {
    if (Object.getOwnPropertyDescriptor(value, name)?.enumerable !== true) return null;
  } catch {
    return [name, UNREADABLE];
  }
  return [name, readField(value, name)];
}

/** Name, message and what else was set on it; the stack is for its owner's log. */
function errorRecord(value: Error, asked: Asked, maxKeys: number): RecordOf {
  const own = ownKeys(value, asked, maxKeys);
  const shownFirst = ["name", "message"];
  const left = ["stack", ...shownFirst].filter((name) => own.names.includes(name)).length;
  return {
    kind: "record",
    count: own.count - left + shownFirst.length,
    *entries() {
      for (const name of shownFirst) yield [name, readField(value, name)];
      for (const name of own.names)
        if (name !== "stack" && !shownFirst.includes(name as string)) yield ownEntry(value, name);
    },
  };
}

/** The one step that takes time by the size of what it reads: the language has no way to list keys in part. */
function ownKeys(value: object, asked: Asked, maxKeys: number): { names: readonly PropertyKey[]; count: number } {
  const known = asked.keys.get(value);
  if (known !== undefined) return known;
  const all = Reflect.ownKeys(value);
  let count = all.length;
  while (count > 0 && typeof all[count - 1] === "symbol") count--;
  const list = { names: count > maxKeys ? all.slice(0, maxKeys) : all, count };
  if (count > LONG_KEY_LIST) asked.keys.set(value, list);
  return list;
}
