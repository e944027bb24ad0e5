import type { Limits } from "../../contract/limits.ts";
import { SpillwayError, type SpillwayErrorCode } from "../../errors.ts";
import { grouped, withoutUserInfo } from "../../values.ts";
import type { NumberRow } from "./defaults.ts";

const BYTES: Record<string, number> = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** How a size is written: a number of bytes, or one with a unit. */
export const SIZE_PATTERN = /^\s*\d+(?:\.\d+)?\s*(?:[kmgtKMGT](?:[iI]?[bB])?|[bB])?\s*$/;

/** Reads a size such as 51200, 50KB, 64KiB or 2G. A unit is a power of 1,024. Null for anything else. */
export function readSize(text: string): number | null {
  if (!SIZE_PATTERN.test(text)) return null;
  const unit = /[kmgt]/i.exec(text)?.[0].toLowerCase() ?? "";
  const bytes = Math.round(Number.parseFloat(text) * (BYTES[unit] as number));
  return Number.isSafeInteger(bytes) ? bytes : null;
}

/** The limits by name, in the order in which ties are told. */
export const LIMIT_NAMES = [
  "maxLines",
  "maxBytes",
  "maxChars",
  "maxTokens",
] as const satisfies readonly (keyof Limits)[];

/** A value in a few words, for an error message. */
export function describeValue(value: unknown): string {
  if (typeof value === "string") {
    const shown = withoutUserInfo(value.slice(0, 2000));
    return JSON.stringify(shown.length > 40 ? `${shown.slice(0, 40)}...` : shown);
  }
  if (typeof value === "bigint") return `${value}n`.slice(0, 40);
  if (Array.isArray(value)) return "a list";
  if (typeof value === "function") return "a function";
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}

/**
 * Limits that a program handed in, checked and copied. `where` begins the message. Infinity means no such limit
 * (the ceiling still holds); undefined means not said.
 */
export function checkLimits(limits: unknown, where?: string): Limits {
  const begin = where === undefined ? "" : `${where}: `;
  if (limits === undefined) return {};
  if (typeof limits !== "object" || limits === null || Array.isArray(limits)) {
    throw new SpillwayError(
      "bad-limit",
      `${begin}limits must be an object such as { maxLines: 200 }; got ${describeValue(limits)}`,
    );
  }
  const checked: Limits = {};
  for (const name of Object.keys(limits)) {
    const known = name as keyof Limits;
    if (!LIMIT_NAMES.includes(known)) {
      throw new SpillwayError(
        "bad-limit",
        `${begin}unknown limit ${describeValue(name)}; known are maxBytes, maxChars, maxLines and maxTokens`,
      );
    }
    const value: unknown = (limits as Limits)[known];
    if (value === undefined) continue;
    if (!isLimit(value)) {
      throw new SpillwayError(
        "bad-limit",
        `${begin}${known} must be a whole number of 0 or more, or Infinity for no limit; got ${describeValue(value)}`,
      );
    }
    checked[known] = value;
  }
  return checked;
}

/** Returns true if a value can be a limit: a whole number of 0 or more, or Infinity. */
function isLimit(value: unknown): value is number {
  return typeof value === "number" && (value === Infinity || (Number.isSafeInteger(value) && value >= 0));
}

/** A number inside its row's range, whole where the row's own are. */
export function checkNumber(
  value: unknown,
  row: NumberRow,
  name: string,
  code: SpillwayErrorCode = "bad-policy",
): number {
  const whole = row.ceiling > 1;
  const fits =
    typeof value === "number" &&
    value >= row.floor &&
    value <= row.ceiling &&
    (whole ? Number.isSafeInteger(value) : Number.isFinite(value));
  if (!fits) throw new SpillwayError(code, `${name} must be ${describeRange(row)}; got ${describeValue(value)}`);
  return value;
}

/** A row's range in words. */
export function describeRange(row: NumberRow): string {
  const kind = row.ceiling > 1 ? "a whole number" : "a number";
  return `${kind} from ${grouped(row.floor)} to ${grouped(row.ceiling)}`;
}
