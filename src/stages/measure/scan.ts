import { SCAN_BINARY } from "./scan-binary.ts";
import { CLASSES, STEPS } from "./scan-table.ts";

/** Counts of bytes scanned so far; `state` says how far into a character they end. */
export interface Scan {
  bytes: number;
  breaks: number;
  /** UTF-16 units complete so far; call `scannedChars` for those of a text that ends here. */
  chars: number;
  state: number;
  /** The last byte was a line break, or there was none. */
  atLineStart: boolean;
}

/** A scan of nothing yet. */
export function newScan(): Scan {
  return { bytes: 0, breaks: 0, chars: 0, state: 0, atLineStart: true };
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
  if (native === undefined) native = loadNative();
  if (native === null || bytes.length < SMALL) scanInScript(scan, bytes);
  else scanInNative(scan, bytes, native);
  scan.bytes += bytes.length;
  scan.atLineStart = bytes[bytes.length - 1] === 10;
}

/** Below this the copy into WebAssembly's memory costs more than it saves. */
const SMALL = 48;

function scanInScript(scan: Scan, bytes: Uint8Array): void {
  let { breaks, chars, state } = scan;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === 10) breaks++;
    const step = STEPS[(state << 4) | (CLASSES[byte] as number)] as number;
    chars += step >> 4;
    state = step & 15;
  }
  scan.breaks = breaks;
  scan.chars = chars;
  scan.state = state;
}

interface Native {
  memory: Uint8Array;
  scan(at: number, end: number, state: number): [breaks: number, chars: number, state: number];
}

let native: Native | null | undefined;

const DATA_AT = 1024;

function scanInNative(scan: Scan, bytes: Uint8Array, { memory, scan: count }: Native): void {
  const room = memory.length - DATA_AT;
  for (let at = 0; at < bytes.length; at += room) {
    const slice = bytes.length <= room ? bytes : bytes.subarray(at, at + room);
    memory.set(slice, DATA_AT);
    const [breaks, chars, state] = count(DATA_AT, DATA_AT + slice.length, scan.state);
    scan.breaks += breaks;
    scan.chars += chars;
    scan.state = state;
  }
}

/** Null where WebAssembly or its SIMD is not to be had (some edge runtimes): the loop gives the same counts. */
function loadNative(): Native | null {
  try {
    const binary = Uint8Array.from(atob(SCAN_BINARY), (char) => char.charCodeAt(0));
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(binary));
    const memory = new Uint8Array((exports.memory as WebAssembly.Memory).buffer);
    memory.set(CLASSES, 0);
    memory.set(STEPS, 256);
    return { memory, scan: exports.scan as Native["scan"] };
  } catch {
    return null;
  }
}

/** For tests: forces one way of counting, or undoes that. */
export function useNativeScan(wanted: boolean): boolean {
  native = wanted ? loadNative() : null;
  return native !== null;
}
