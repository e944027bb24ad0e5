import type { Room } from "../../contract/cut.ts";
import type { Limits, Unit } from "../../contract/limits.ts";
import type { Size } from "../../contract/size.ts";
import type { TokenCounter } from "../../contract/token-counter.ts";
import { combineSizes } from "../../values.ts";
import { newScan, scanBytes, scannedChars, scannedLines, splitsPair } from "../measure/scan.ts";

/** A size's units in the order in which ties between limits are told. */
export const UNITS: Unit[] = ["lines", "bytes", "chars", "tokens"];

/** What is left while working; Infinity where no limit applies. */
export type Budget = Size;

/** Limits as a budget. */
export function budgetOf(limits: Limits): Budget {
  return {
    bytes: limits.maxBytes ?? Number.POSITIVE_INFINITY,
    chars: limits.maxChars ?? Number.POSITIVE_INFINITY,
    lines: limits.maxLines ?? Number.POSITIVE_INFINITY,
    tokens: limits.maxTokens ?? Number.POSITIVE_INFINITY,
  };
}

/** What is left of a budget, never below nothing. */
export function spend(budget: Budget, size: Size): Budget {
  return combineSizes(budget, size, (has, takes) =>
    takes === Number.POSITIVE_INFINITY ? 0 : Math.max(0, has - takes),
  );
}

/** What the limits leave for an output beside the markers that stand once. */
export function budgetIn(limits: Limits, { fixed, mostChars = Number.POSITIVE_INFINITY }: Room): Budget {
  const budget = budgetOf(limits);
  return spend({ ...budget, chars: Math.min(budget.chars, mostChars) }, fixed);
}

/** A share of a budget, in whole units. */
export function shareOf(budget: Budget, share: number): Budget {
  return combineSizes(budget, budget, (has) => (has === Number.POSITIVE_INFINITY ? has : Math.floor(has * share)));
}

/** The first unit in which `size` is over `budget`, or null if it fits. */
export function overBudget(size: Size, budget: Budget): Unit | null {
  if (size.lines > budget.lines) return "lines";
  if (size.bytes > budget.bytes) return "bytes";
  if (size.chars > budget.chars) return "chars";
  return size.tokens > budget.tokens ? "tokens" : null;
}

/** The most source bytes that these limits can ever show: what a clamp needs to hold. */
export function capacityBytes(limits: Limits, counter: TokenCounter): number {
  const { bytes, chars, tokens } = budgetOf(limits);
  return Math.min(bytes, chars * 3, tokens * counter.maxBytesPerToken);
}

// Where a text in bytes may be cut: between characters, never inside one, and not between \r and \n.

/** Length of the character at `at`; negative for an invalid stretch, which is shown as one U+FFFD. */
function characterLength(bytes: Uint8Array, at: number, end: number): number {
  const lead = bytes[at] as number;
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return -1;
  const more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  let lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  let highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  for (let i = 1; i <= more; i++) {
    const byte = bytes[at + i] as number;
    if (at + i >= end || byte < lowest || byte > highest) return -i;
    lowest = 0x80;
    highest = 0xbf;
  }
  return more + 1;
}

/** One step through a text: source bytes it takes, and what showing them costs. */
export interface Step {
  length: number;
  bytes: number;
  chars: number;
  isBreak: boolean;
}

/** Reads the step at `at` into `step`: a character, an invalid stretch, or \r\n. */
export function readStep(bytes: Uint8Array, at: number, end: number, step: Step): void {
  const byte = bytes[at] as number;
  step.isBreak = false;
  if (byte < 0x80) {
    if (byte === 13 && at + 1 < end && bytes[at + 1] === 10) {
      step.length = step.bytes = step.chars = 2;
      step.isBreak = true;
      return;
    }
    step.length = step.bytes = step.chars = 1;
    step.isBreak = byte === 10;
    return;
  }
  const length = characterLength(bytes, at, end);
  step.length = Math.abs(length);
  step.bytes = length < 0 ? 3 : length;
  step.chars = length === 4 ? 2 : 1;
}

/** The first position from `at` on that surely begins a character, for bytes whose start was cut off. */
export function nextCharacter(bytes: Uint8Array, at: number, end: number): number {
  let next = at;
  while (next < end && next < at + 3 && ((bytes[next] as number) & 0xc0) === 0x80) next++;
  return next;
}

/** A cut may move to a line's end if it gives up at most this share of what would have fitted. */
export const NEAR_SHARE = 0.2;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes as text; what is not UTF-8 becomes U+FFFD. */
export function decode(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** Returns true if a decoded text has a U+FFFD that does not stand in its bytes. */
export function isReplaced(text: string, bytes: Uint8Array): boolean {
  if (!text.includes("\ufffd")) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return false;
  } catch {
    return true;
  }
}

/** Where a fit stops, and the limit that stopped it (null: all of it fitted). */
interface Fit {
  at: number;
  stoppedBy: Unit | null;
}

/** The longest start of bytes[from, to) that fits the budget. */
export function fitStart(bytes: Uint8Array, from: number, to: number, budget: Budget, counter: TokenCounter): Fit {
  const fit = walkStart(bytes, from, to, budget);
  if (budget.tokens === Number.POSITIVE_INFINITY) return fit;
  const text = decode(bytes.subarray(from, fit.at));
  const chars = fitTokens(text, budget.tokens, "start", counter);
  return chars === text.length ? fit : { at: skipChars(bytes, from, fit.at, chars, false), stoppedBy: "tokens" };
}

function walkStart(bytes: Uint8Array, from: number, to: number, budget: Budget): Fit {
  const step = newStep();
  const used = { bytes: 0, chars: 0, lines: 0, tokens: 0 };
  let at = from;
  let atLineStart = true;
  let stoppedBy: Unit | null = null;
  while (at < to) {
    readStep(bytes, at, to, step);
    used.bytes += step.bytes;
    used.chars += step.chars;
    if (atLineStart) used.lines++;
    if (used.lines > budget.lines || used.bytes > budget.bytes || used.chars > budget.chars) {
      stoppedBy = used.lines > budget.lines ? "lines" : used.bytes > budget.bytes ? "bytes" : "chars";
      break;
    }
    at += step.length;
    atLineStart = step.isBreak;
  }
  return { at, stoppedBy };
}

/** The longest end of bytes[from, to) that fits the budget. */
export function fitEnd(bytes: Uint8Array, from: number, to: number, budget: Budget, counter: TokenCounter): Fit {
  const fit = walkEnd(bytes, from, to, budget);
  if (budget.tokens === Number.POSITIVE_INFINITY) return fit;
  const text = decode(bytes.subarray(fit.at, to));
  const chars = fitTokens(text, budget.tokens, "end", counter);
  return chars === 0 ? fit : { at: skipChars(bytes, fit.at, to, chars, true), stoppedBy: "tokens" };
}

function walkEnd(bytes: Uint8Array, from: number, to: number, budget: Budget): Fit {
  const step = newStep();
  const left = measureBytes(bytes, from, to);
  let at = from;
  let stoppedBy: Unit | null = null;
  while (at < to) {
    if (left.lines <= budget.lines && left.bytes <= budget.bytes && left.chars <= budget.chars) break;
    stoppedBy = left.lines > budget.lines ? "lines" : left.bytes > budget.bytes ? "bytes" : "chars";
    readStep(bytes, at, to, step);
    left.bytes -= step.bytes;
    left.chars -= step.chars;
    if (step.isBreak || at + step.length === to) left.lines--;
    at += step.length;
  }
  return { at, stoppedBy };
}

/** The cut moved back to the last line end before it, where that is near. */
export function alignEnd(bytes: Uint8Array, from: number, at: number, isEnd: boolean): number {
  if (isEnd || at === from || bytes[at - 1] === 10) return at;
  const lineStart = bytes.lastIndexOf(10, at - 1) + 1;
  return lineStart > from && at - lineStart <= (at - from) * NEAR_SHARE ? lineStart : at;
}

/** The cut moved on to the next line start after it, where that is near. */
export function alignStart(bytes: Uint8Array, at: number, to: number, isStart: boolean): number {
  if (isStart || at >= to || bytes[at - 1] === 10) return at;
  const lineEnd = bytes.indexOf(10, at);
  return lineEnd !== -1 && lineEnd + 1 < to && lineEnd + 1 - at <= (to - at) * NEAR_SHARE ? lineEnd + 1 : at;
}

/** What showing bytes[from, to) costs, tokens left out. */
export function measureBytes(bytes: Uint8Array, from: number, to: number): Size {
  const region = bytes.subarray(from, to);
  const scan = newScan();
  scanBytes(scan, region);
  const shownBytes = scan.high === 0 ? scan.bytes : shownLength(bytes, from, to);
  return { bytes: shownBytes, chars: scannedChars(scan), lines: scannedLines(scan), tokens: 0 };
}

/** Bytes of the text that is shown: an invalid stretch takes the three of U+FFFD. */
function shownLength(bytes: Uint8Array, from: number, to: number): number {
  const step = newStep();
  let length = 0;
  for (let at = from; at < to; at += step.length) {
    readStep(bytes, at, to, step);
    length += step.bytes;
  }
  return length;
}

/** A step that `readStep` can write into. */
export function newStep(): Step {
  return { length: 0, bytes: 0, chars: 0, isBreak: false };
}

/** The byte position `chars` UTF-16 units after `from`; where that is inside a step, before it or past it. */
function skipChars(bytes: Uint8Array, from: number, to: number, chars: number, past: boolean): number {
  const step = newStep();
  let at = from;
  let left = chars;
  while (at < to && left > 0) {
    readStep(bytes, at, to, step);
    if (step.chars > left && !past) break;
    left -= step.chars;
    at += step.length;
  }
  return at;
}

/** Index at which the longest start (or end) of at most `maxTokens` stops (or begins). */
function fitTokens(text: string, maxTokens: number, from: "start" | "end", counter: TokenCounter): number {
  const slice = (at: number) => (from === "start" ? text.slice(0, at) : text.slice(at));
  if (counter.fit !== undefined) return counter.fit(text, maxTokens, from);
  if (counter.count(text) <= maxTokens) return from === "start" ? text.length : 0;
  let fits = from === "start" ? 0 : text.length;
  let fails = from === "start" ? text.length : 0;
  while (Math.abs(fails - fits) > 1) {
    const middle = (fits + fails) >> 1;
    const border = splitsPair(text, middle) ? middle + (from === "start" ? -1 : 1) : middle;
    if (border === fits || border === fails) break;
    if (counter.count(slice(border)) <= maxTokens) fits = border;
    else fails = border;
  }
  return fits;
}
