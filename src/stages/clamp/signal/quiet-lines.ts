import type { Span } from "../../../contract/span.ts";
import { isQuickWord, mayTell, QUICK_WORDS } from "./quick-look.ts";
import { QUIET_LINES_BINARY } from "./quiet-lines-binary.ts";

/** What `quietLines` found: a run of whole lines that hold no failure word. */
export interface QuietRun {
  end: number;
  breaks: number;
  /** Some byte of it, or soon after it, is not ASCII. */
  wide: boolean;
}

/**
 * The run of whole lines from `start` on, which begins a line, up to `to`: none holds a failure word (unless `seeks` is
 * false: then it is not looked for), none is longer than `longest`. The same without WebAssembly, but slower.
 */
export function quietLines(bytes: Uint8Array, start: number, to: number, seeks: boolean, longest: number): QuietRun {
  native ??= loadNative();
  return native === null
    ? slowly(bytes, start, to, seeks, longest)
    : natively(native, bytes, start, to, seeks, longest);
}

/** The run of whole lines of a span from `start` on, which begins line `line`, that end within `most` bytes. */
export function passedLines(span: Span, start: number, line: number, most: number, longest: number): QuietRun {
  const { bytes, chars } = span;
  // Its breaks were counted before, so nothing need be read.
  if (most >= bytes.length - start && span.breaks !== -1 && hasShortLines(bytes, start, longest)) {
    const breaks = span.breaks - (line - span.line);
    return { end: breaks === 0 ? start : bytes.lastIndexOf(10) + 1, breaks, wide: chars !== bytes.length };
  }
  return quietLines(bytes, start, Math.min(bytes.length, start + most), false, longest);
}

/** True if a few looks tell that no line is longer than `longest`. */
function hasShortLines(bytes: Uint8Array, start: number, longest: number): boolean {
  const step = longest >> 1;
  for (let at = start; at + step <= bytes.length; at += step) {
    const next = bytes.indexOf(10, at);
    if (next === -1 || next >= at + step) return false;
  }
  return true;
}

function slowly(bytes: Uint8Array, start: number, to: number, seeks: boolean, longest: number): QuietRun {
  const run = { end: start, breaks: 0, wide: true };
  while (run.end < to) {
    const next = bytes.indexOf(10, run.end);
    if (next === -1 || next >= to || next + 1 - run.end > longest) break;
    if (seeks && mayTell(bytes, run.end, next)) break;
    run.end = next + 1;
    run.breaks++;
  }
  return run;
}

function natively(
  { memory, result, pass }: Native,
  bytes: Uint8Array,
  start: number,
  to: number,
  seeks: boolean,
  longest: number,
): QuietRun {
  const run = { end: start, breaks: 0, wide: false };
  for (let window = FIRST_WINDOW_BYTES; run.end < to; window = Math.min(2 * window, WINDOW_BYTES)) {
    const windowTo = Math.min(to, run.end + window);
    memory.set(bytes.subarray(run.end, windowTo), DATA_AT);
    const shift = run.end - DATA_AT;
    const last = windowTo - shift;
    const from = run.end;
    let at = DATA_AT;
    for (;;) {
      at = pass(at, last, run.end - shift, seeks ? 1 : 0, longest);
      run.end = (result[0] as number) + shift;
      run.breaks += result[1] as number;
      if (result[2] !== 0) run.wide = true;
      if (at >= last) break;
      if (result[3] !== 0 || isQuickWord(bytes, at + shift)) return run;
      at++;
    }
    // A line that does not end in the window is nobody's yet.
    if (run.end === from || windowTo === to) return run;
  }
  return run;
}

interface Native {
  memory: Uint8Array;
  /** What `pass` leaves. */
  result: Int32Array;
  pass(at: number, to: number, line: number, seeks: number, longest: number): number;
}

const RESULT_AT = 128;
const DATA_AT = 160;
const WINDOW_BYTES = 131_072;
/** Where words are close together, copying far ahead would cost more than looking for them. Holds any line that may be passed. */
const FIRST_WINDOW_BYTES = 8192;

let native: Native | null | undefined;

/** Null where WebAssembly or its SIMD is not to be had (some edge runtimes). */
function loadNative(): Native | null {
  try {
    const binary = Uint8Array.from(atob(QUIET_LINES_BINARY), (char) => char.charCodeAt(0));
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(binary));
    const { buffer } = exports.memory as WebAssembly.Memory;
    const memory = new Uint8Array(buffer);
    for (const [index, word] of QUICK_WORDS.entries()) {
      for (let place = 0; place < 4; place++) {
        const byte = word.charCodeAt(place);
        // Bytes are looked up with the bit of lower case set.
        const [low, high] = [32 * place + (byte & 15), 32 * place + 16 + (byte >> 4)];
        memory[low] = (memory[low] as number) | (1 << (index & 7));
        memory[high] = (memory[high] as number) | (1 << (index & 7));
      }
    }
    return { memory, result: new Int32Array(buffer, RESULT_AT, 4), pass: exports.pass as Native["pass"] };
  } catch {
    return null;
  }
}

/** For tests: takes native code away or gives it back; false if there is none. */
export function useNativeQuietLines(wanted: boolean): boolean {
  native = wanted ? loadNative() : null;
  return native !== null;
}
