// How amounts and times are written. Every short form has its exact one for those who point at it or listen.

const three = new Intl.NumberFormat("en", { maximumSignificantDigits: 3, notation: "compact" });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** 1,234,567 */
export function exact(count: number): string {
  return whole.format(count);
}

/** 1.23M */
export function short(count: number): string {
  return Math.abs(count) < 10_000 ? whole.format(count) : three.format(count);
}

/** 5K: what stands at the lines of a chart, all in one form. */
export function axisText(count: number): string {
  return three.format(count);
}

/** 1.23 MiB */
export function bytesText(bytes: number): string {
  let left = bytes;
  let at = 0;
  for (; Math.abs(left) >= 1024 && at < UNITS.length - 1; at++) left /= 1024;
  return `${at === 0 ? whole.format(left) : left.toPrecision(left >= 1000 ? 4 : 3)} ${UNITS[at]}`;
}

/** 12.3 %; what is hardly anything is not nothing. */
export function percent(share: number): string {
  if (share > 0 && share < 0.001) return "< 0.1 %";
  return `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
}

/** $12.30; small amounts with more digits. */
export function dollars(amount: number): string {
  return `${amount < 0 ? "−" : ""}$${Math.abs(amount).toFixed(Math.abs(amount) < 1 && amount !== 0 ? 4 : 2)}`;
}

/** 3 lines */
export function counted(count: number, noun: string): string {
  return `${exact(count)} ${noun}${count === 1 ? "" : "s"}`;
}

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

/** 5 minutes ago */
export function ago(atMs: number, nowMs: number = Date.now()): string {
  const [unit, ms] = STEPS.find(([, ms]) => nowMs - atMs >= ms) ?? ["second", 1000];
  return relative.format(-Math.max(0, Math.floor((nowMs - atMs) / ms)), unit);
}

/** In the zone of who reads it. */
export function exactTime(atMs: number): string {
  return new Date(atMs).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" });
}
