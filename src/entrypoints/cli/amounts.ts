import { InvalidArgumentError } from "commander";
import { readSize } from "../../stages/policy/check-limits.ts";

const MILLISECONDS: Record<string, number> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Reads a size such as 500, 64KiB, 2G. */
export function readBytes(text: string): number {
  const bytes = readSize(text);
  if (bytes !== null) return bytes;
  throw new InvalidArgumentError(
    `a size is a number of bytes, or one with a unit, such as 50KB or 10GiB; got "${text}"`,
  );
}

/** Reads a time such as 30s, 12h, 7d into milliseconds. Refuses a number without a unit, since it could mean any. */
export function readDuration(text: string): number {
  const milliseconds = inMilliseconds(text);
  if (milliseconds !== null) return milliseconds;
  throw new InvalidArgumentError(`a time is a number with a unit, such as 30s, 12h or 7d; got "${text}"`);
}

/** Reads a time-out. As in other commands, a number without a unit is seconds, and 0 is no limit. */
export function readTimeout(text: string): number {
  const milliseconds = inMilliseconds(/^[\d.]+$/.test(text.trim()) ? `${text.trim()}s` : text);
  if (milliseconds !== null) return Number.parseFloat(text) === 0 ? Infinity : Math.max(1, milliseconds);
  throw new InvalidArgumentError(
    `--timeout takes seconds, or a number with a unit, such as 300, 5m or 1h; got "${text}"`,
  );
}

function inMilliseconds(text: string): number | null {
  if (text.trim() === "0") return 0;
  const [, digits, unit = ""] = /^(\d+(?:\.\d+)?)\s*([smhdw])$/i.exec(text.trim()) ?? [];
  const milliseconds = Math.round(Number(digits) * (MILLISECONDS[unit.toLowerCase()] ?? Number.NaN));
  return Number.isSafeInteger(milliseconds) ? milliseconds : null;
}

/** Writes a size for people. */
export function sizeText(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, Math.abs(bytes))) / 10)));
  return step === 0 ? `${bytes} B` : `${(bytes / 1024 ** step).toFixed(1)} ${units[step]}`;
}

/** Writes a time for people, in their own time zone, to the second. */
export function timeText(atMs: number): string {
  const shifted = new Date(atMs - new Date(atMs).getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19).replace("T", " ");
}

/** The same in 11 characters at most: without the year in this year, else without the time. */
export function shortTimeText(atMs: number): string {
  const text = timeText(atMs);
  return text.slice(0, 4) === timeText(Date.now()).slice(0, 4) ? text.slice(5, 16) : text.slice(0, 10);
}
