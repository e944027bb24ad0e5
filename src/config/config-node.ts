import { withoutUserInfo } from "../values.ts";

/** Where something stands in a file, both from 1. */
export interface Position {
  line: number;
  column: number;
}

/** Something wrong at a place of a config file; becomes a SpillwayError once the file's name is known. */
export class ConfigFault extends Error {
  readonly at: Position;
  /** The keys that lead to what is wrong; empty if it is the file as a whole. */
  readonly path: readonly (string | number)[];

  constructor(at: Position, message: string, path: readonly (string | number)[] = []) {
    super(message);
    this.at = at;
    this.path = path;
  }
}

const MAX_PRINTED = 80;

/** A key or path as it may be printed: a hostile file's control characters must not reach a terminal. */
export function printable(text: string): string {
  const short = text.length > MAX_PRINTED ? `${text.slice(0, MAX_PRINTED)}...` : text;
  return /^[\w.*$@/:[\]-]+$/.test(short) ? short : quoted(short);
}

function quoted(text: string): string {
  return JSON.stringify(text).replace(/[^\x20-\x7e]/g, escapeUnit);
}

/** So much around a place is looked at for a password. */
const LOOKED_AT = 1000;

/**
 * A line of a file as it may be printed: of a long one the characters around the column. An agent may read what is printed,
 * so passwords of addresses and texts that a rule of one's own redacts are left out.
 */
export function printableLine(text: string, { line, column }: Position): string {
  const whole = text.split("\n", line).at(-1)?.trimEnd() ?? "";
  const from = Math.max(0, Math.min(column - MAX_PRINTED / 2, whole.length - MAX_PRINTED));
  const before = Math.max(0, from - LOOKED_AT);
  const safe = withoutUserInfo(whole.slice(before, from + LOOKED_AT)).replace(/(\bliteral\b["']?\s*:).*/, "$1 ...");
  return quoted(safe.slice(from - before, from - before + MAX_PRINTED));
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** A value in a config file and where it stands, whatever the file's format. */
export type ConfigNode =
  | { kind: "map"; at: Position; entries: Map<string, { at: Position; node: ConfigNode }> }
  | { kind: "list"; at: Position; items: ConfigNode[] }
  | { kind: "scalar"; at: Position; value: unknown };

/** A step into a config: a key or an index. */
export type PathStep = string | number;

const MAX_DEPTH = 32;
const MAX_NODES = 20_000;

/** Watches over a tree while it is read: a YAML alias stands for all it names, so a small file can be a huge tree. */
export class TreeBounds {
  #nodes = 0;
  #depth = 0;

  inside<T>(at: Position, read: () => T): T {
    if (++this.#nodes > MAX_NODES) {
      throw new ConfigFault(at, `more than ${MAX_NODES} values (aliases count each time they are used)`);
    }
    if (++this.#depth > MAX_DEPTH) throw new ConfigFault(at, `nested more than ${MAX_DEPTH} levels deep`);
    const result = read();
    this.#depth--;
    return result;
  }
}

/** Puts a key into a map's entries; a key may stand there once. */
export function addEntry(
  entries: Map<string, { at: Position; node: ConfigNode }>,
  key: string,
  at: Position,
  node: ConfigNode,
): void {
  if (key === "__proto__") throw new ConfigFault(at, "the key __proto__ is not allowed");
  const before = entries.get(key);
  if (before) throw new ConfigFault(at, `the key ${printable(key)} is already on line ${before.at.line}`);
  entries.set(key, { at, node });
}

/** The plain value. A key without a value (null) says nothing and is left out; YAML's .inf is our `none`. */
export function plainValue(node: ConfigNode): unknown {
  if (node.kind === "scalar") return node.value === Infinity ? "none" : node.value;
  if (node.kind === "list") return node.items.map(plainValue);
  const plain: Record<string, unknown> = {};
  for (const [key, { node: value }] of node.entries) {
    if (value.kind !== "scalar" || value.value !== null) plain[key] = plainValue(value);
  }
  return plain;
}

/** Where a path's value stands, or its key; the nearest thing above it if the path leads nowhere. */
export function positionOf(node: ConfigNode, path: readonly PathStep[], which: "key" | "value" = "value"): Position {
  let at = node.at;
  let here: ConfigNode | undefined = node;
  for (const [index, step] of path.entries()) {
    if (here?.kind === "map") {
      const entry = here.entries.get(String(step));
      if (!entry) return at;
      at = which === "key" && index === path.length - 1 ? entry.at : entry.node.at;
      here = entry.node;
    } else {
      here = here?.kind === "list" ? here.items[Number(step)] : undefined;
      if (!here) return at;
      at = here.at;
    }
  }
  return at;
}

/** What stands at a path. */
export function nodeAt(node: ConfigNode, path: readonly PathStep[]): ConfigNode | undefined {
  let here: ConfigNode | undefined = node;
  for (const step of path) {
    if (here?.kind === "map") here = here.entries.get(String(step))?.node;
    else here = here?.kind === "list" ? here.items[Number(step)] : undefined;
  }
  return here;
}

/** Takes out of the tree what stands at a path, or the nearest thing above it. False if that would be the whole tree. */
export function removeEntry(node: ConfigNode, path: readonly PathStep[]): boolean {
  const last = path.at(-1);
  if (last === undefined) return false;
  const above = path.slice(0, -1);
  const here = nodeAt(node, above);
  if (here?.kind === "map" && here.entries.delete(String(last))) return true;
  if (here?.kind === "list" && here.items.splice(Number(last), 1).length > 0) return true;
  return removeEntry(node, above);
}
