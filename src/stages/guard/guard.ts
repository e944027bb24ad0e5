import type { Limits } from "../../contract/limits.ts";
import type { WireCall, WireMessage, WireResult } from "../../contract/wire.ts";
import { NUMBERS } from "../policy/defaults.ts";

const MAX_DEPTH = 64;
const MAX_NODES = 1_000_000;

/**
 * The value with every lone surrogate in it, keys included, replaced by U+FFFD: one alone makes a whole session unreadable
 * to most providers. What needs no repair is the same object. Never throws, changes nothing.
 */
export function repairText<T>(value: T): T {
  const walk = { nodes: MAX_NODES };
  try {
    return repair(value, walk, 0) as T;
  } catch {
    return value;
  }
}

function repair(value: unknown, walk: { nodes: number }, depth: number): unknown {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH || --walk.nodes < 0) return value;
  if (Array.isArray(value)) {
    const repaired = value.map((item) => repair(item, walk, depth + 1));
    return repaired.some((item, index) => item !== value[index]) ? repaired : value;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return value;
  const entries = Object.entries(value).map(
    ([name, item]) => [name.toWellFormed(), repair(item, walk, depth + 1)] as const,
  );
  const isSame = entries.every(
    ([name, item]) => Object.hasOwn(value, name) && (value as Record<string, unknown>)[name] === item,
  );
  return isSame ? value : Object.fromEntries(entries);
}

const CHARS_PER_TOKEN = 4;

/**
 * What one persisted result may take: its limits, and as outer bounds 400,000 characters, or its share of the window where
 * that is stated. A small window leaves it 2,000 characters all the same; its limits are stronger than that.
 */
export function guardLimits(limits: Limits, windowTokens: number | null): Limits {
  const { guardChars, guardFloorChars, guardWindowShare } = NUMBERS;
  const share =
    windowTokens === null ? Infinity : Math.floor(windowTokens * guardWindowShare.default) * CHARS_PER_TOKEN;
  const bound = Math.max(guardFloorChars.default, Math.min(guardChars.default, share));
  return { ...limits, maxChars: Math.min(limits.maxChars ?? Infinity, bound) };
}

/** Calls that were made and not answered yet, as messages come one after another. */
export class PendingCalls {
  #open: WireCall[] = [];

  get calls(): readonly WireCall[] {
    return this.#open;
  }

  /** The tool whose result this is; null if no open call says it. */
  toolOf({ id, tool }: WireResult): string | null {
    if (tool !== null && tool.trim() !== "") return tool;
    return this.#open.find((call) => call.id === id)?.tool ?? null;
  }

  /** Calls that can get no result any more, since the conversation goes on with this message. They are forgotten. */
  lostBefore({ role, results }: WireMessage): WireCall[] {
    const goesOn = (role === "user" || role === "assistant") && results.length === 0;
    return goesOn ? this.close() : [];
  }

  /** Takes note of a message's calls and results. A turn that was broken off leaves no call open. */
  see({ calls, results, aborted }: WireMessage): void {
    for (const result of results) {
      const at = this.#open.findIndex(({ id, tool }) => (result.id === null ? tool === result.tool : id === result.id));
      if (at >= 0) this.#open.splice(at, 1);
    }
    if (!aborted) this.#open.push(...calls.filter((call) => !results.some(({ id }) => id !== null && id === call.id)));
  }

  /** All open calls, which are forgotten. */
  close(): WireCall[] {
    const open = this.#open;
    this.#open = [];
    return open;
  }
}
