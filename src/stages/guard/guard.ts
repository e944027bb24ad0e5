import type { Limits } from "../../contract/limits.ts";
import type { WireCall, WireMessage, WireResult } from "../../contract/wire.ts";
import { NUMBERS } from "../policy/defaults.ts";

const MAX_DEPTH = 64;
const MAX_NODES = 1_000_000;

/**
 * Replaces every lone surrogate in a value, also in keys, by U+FFFD. A single one makes a whole session unreadable for
 * most providers. If nothing needs repair, returns the same object. Never throws, and changes nothing.
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
 * Returns the limits of one persisted result: its own limits, and at most 400,000 characters, or its share of the
 * window if the window is known. A small window still leaves it 2,000 characters, unless its own limits are lower.
 */
export function guardLimits(limits: Limits, windowTokens: number | null): Limits {
  const { guardChars, guardFloorChars, guardWindowShare } = NUMBERS;
  const share =
    windowTokens === null ? Infinity : Math.floor(windowTokens * guardWindowShare.default) * CHARS_PER_TOKEN;
  const bound = Math.max(guardFloorChars.default, Math.min(guardChars.default, share));
  return { ...limits, maxChars: Math.min(limits.maxChars ?? Infinity, bound) };
}

/** The calls that were made and not answered yet, as messages come one after another. */
export class PendingCalls {
  #open: WireCall[] = [];

  get calls(): readonly WireCall[] {
    return this.#open;
  }

  /** Returns the tool whose result this is, or null if neither the result nor an open call names it. */
  toolOf({ id, tool }: WireResult): string | null {
    if (tool !== null && tool.trim() !== "") return tool;
    return this.#open.find((call) => call.id === id)?.tool ?? null;
  }

  /**
   * Returns the calls that can no longer get a result, because the conversation goes on with this message. They are
   * forgotten.
   */
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

  close(): WireCall[] {
    const open = this.#open;
    this.#open = [];
    return open;
  }
}
