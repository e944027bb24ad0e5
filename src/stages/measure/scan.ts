import { splitsPair } from "./encode-text.ts";
import { SCAN_BINARY } from "./scan-binary.ts";
import { CLASSES, CONTROLS, STEPS } from "./scan-table.ts";

/** Counts of bytes scanned so far; `state` says how far into a character they end. */
export interface Scan {
  bytes: number;
  breaks: number;
  /** UTF-16 units complete so far; call `scannedChars` for those of a text that ends here. */
  chars: number;
  state: number;
  /** Bytes above 127: none means ASCII. */
  high: number;
  /** The last byte was a line break, or there was none. */
  atLineStart: boolean;
}

/** A scan of nothing yet. */
export function newScan(): Scan {
  return { bytes: 0, breaks: 0, chars: 0, state: 0, high: 0, atLineStart: true };
}

/** Lines of a text that ends here: a trailing break adds none. */
export function scannedLines(scan: Scan): number {
  return scan.breaks + (scan.atLineStart ? 0 : 1);
}

/** UTF-16 units of a text that ends here: a character cut off counts as one U+FFFD. */
export function scannedChars(scan: Scan): number {
  return scan.chars + (scan.state === 0 ? 0 : 1);
}

/** Adds bytes to a scan. Ten times the speed of a loop in JavaScript, so that counting never holds a pipe up. */
export function scanBytes(scan: Scan, bytes: Uint8Array): void {
  if (bytes.length === 0) return;
  const loaded = bytes.length < SMALL ? null : nativeFor(bytes.length);
  if (loaded === null) scanInScript(scan, bytes);
  else scanInNative(scan, bytes, loaded);
  scan.bytes += bytes.length;
  scan.atLineStart = bytes[bytes.length - 1] === 10;
}

/** Below this the copy into WebAssembly's memory costs more than it saves. */
const SMALL = 48;

function scanInScript(scan: Scan, bytes: Uint8Array): void {
  let { breaks, chars, state, high } = scan;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === 10) breaks++;
    high += byte >> 7;
    const step = STEPS[(state << 4) | (CLASSES[byte] as number)] as number;
    chars += (step >> 4) & 3;
    state = step & 15;
  }
  scan.breaks = breaks;
  scan.chars = chars;
  scan.state = state;
  scan.high = high;
}

/** How much of an output's start decides whether it is text. */
export const SAMPLE_BYTES = 8192;

/** Bytes of an output's start that no text has: control characters and what is not UTF-8. */
export function strangeBytes(sample: Uint8Array): number {
  const loaded = nativeFor(sample.length);
  if (loaded !== null && sample.length <= loaded.memory.length - DATA_AT) {
    loaded.memory.set(sample, DATA_AT);
    return loaded.strange(DATA_AT, DATA_AT + sample.length);
  }
  let count = 0;
  let state = 0;
  for (let at = 0; at < sample.length; at++) {
    const byte = sample[at] as number;
    const step = STEPS[(state << 4) | (CLASSES[byte] as number)] as number;
    count += (step >> 6) + (CONTROLS[byte] ?? 0);
    state = step & 15;
  }
  return count;
}

interface Native {
  memory: Uint8Array;
  /** Where bytes to count are put. */
  data: Uint8Array;
  /** Breaks, chars, state, high and whether there was a control character that texts rarely have. */
  results: Int32Array;
  scan(at: number, end: number, state: number): void;
  strange(at: number, end: number): number;
}

let native: Native | null | undefined;

const DATA_AT = 1024;

/** Compiling it takes as long as counting this much without it. */
const WORTH_LOADING_BYTES = 16_384;

let askedBytes = 0;

function nativeFor(bytes: number): Native | null {
  if (native !== undefined) return native;
  askedBytes += bytes;
  if (askedBytes >= WORTH_LOADING_BYTES) native = loadNative();
  return native ?? null;
}

function takeResults(scan: Scan, results: Int32Array): void {
  scan.breaks += results[0] as number;
  scan.chars += results[1] as number;
  scan.state = results[2] as number;
  scan.high += results[3] as number;
}

function scanInNative(scan: Scan, bytes: Uint8Array, native: Native): void {
  const { memory } = native;
  const room = memory.length - DATA_AT;
  for (let at = 0; at < bytes.length; at += room) {
    const slice = bytes.length <= room ? bytes : bytes.subarray(at, at + room);
    memory.set(slice, DATA_AT);
    native.scan(DATA_AT, DATA_AT + slice.length, scan.state);
    takeResults(scan, native.results);
  }
}

/**
 * Adds a whole text to a scan: encoded where it is counted, so that nothing is copied. Returns the strange bytes at its
 * start, as `strangeBytes` counts them; null, having done nothing, where native code is not to be had or not worth it.
 */
export function scanText(scan: Scan, text: string): number | null {
  const native = nativeFor(text.length);
  if (native === null) return null;
  const { memory } = native;
  let strange = 0;
  const mostChars = Math.floor((memory.length - DATA_AT) / 3);
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + mostChars, text.length);
    if (end < text.length && splitsPair(text, end)) end--;
    const part = at === 0 && end === text.length ? text : text.slice(at, end);
    const { written } = encoder.encodeInto(part, native.data);
    native.scan(DATA_AT, DATA_AT + written, scan.state);
    scan.bytes += written;
    takeResults(scan, native.results);
    // A text is valid UTF-8 once encoded: only control characters can be strange.
    if (at === 0 && native.results[4] !== 0)
      strange = native.strange(DATA_AT, DATA_AT + Math.min(written, SAMPLE_BYTES));
    scan.atLineStart = memory[DATA_AT + written - 1] === 10;
    at = end;
  }
  return strange;
}

const encoder = new TextEncoder();

/** Null where WebAssembly or its SIMD is not to be had (some edge runtimes): the loop gives the same counts. */
function loadNative(): Native | null {
  try {
    const binary = Uint8Array.from(atob(SCAN_BINARY), (char) => char.charCodeAt(0));
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(binary));
    const memory = new Uint8Array((exports.memory as WebAssembly.Memory).buffer);
    memory.set(CLASSES, 0);
    memory.set(STEPS, 256);
    memory.set(CONTROLS, 416);
    const data = memory.subarray(DATA_AT);
    const results = new Int32Array(memory.buffer, 448, 5);
    return {
      memory,
      data,
      results,
      scan: exports.scan as Native["scan"],
      strange: exports.strange as Native["strange"],
    };
  } catch {
    return null;
  }
}

/** For tests: forces one way of counting, or undoes that. */
export function useNativeScan(wanted: boolean): boolean {
  native = wanted ? loadNative() : null;
  return native !== null;
}
